"""Python source by its top-level definitions."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from brainkit.chunking.section import Section
from brainkit.readers import parse_python

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NEWLINE = re.compile(r"\r\n?|\n")  # what Python itself counts as the end of a line

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class _Span(NamedTuple):
    """Lines [start, end), counted from 0, and the definition they hold."""

    start: int
    end: int
    node: Definition


def python_sections(text: str, target: int) -> list[Section]:
    """The module's preamble, its definitions, and what stands between them; long classes method by method.

    Decorators and the comment lines right above a definition belong to it. What is not Python is one section.
    """
    tree = parse_python(text)
    if tree is None:
        return [Section(0, len(text), ())]
    starts = [0, *(match.end() for match in NEWLINE.finditer(text))]
    if starts[-1] != len(text):
        starts.append(len(text))
    lines = [text[a:b] for a, b in pairwise(starts)]
    return list(_split(tree.body, (0, len(lines)), (), (starts, lines, target)))


def _split(
    body: Sequence[ast.stmt],
    span: tuple[int, int],
    path: tuple[str, ...],
    source: tuple[list[int], list[str], int],
) -> Iterator[Section]:
    starts, lines, target = source
    at, last = span
    for found in _definitions(body, at, lines):
        if found.start > at:
            yield Section(starts[at], starts[found.start], path)
        at = found.end
        node, inner = found.node, (*path, _name(found.node))
        if isinstance(node, ast.ClassDef) and starts[found.end] - starts[found.start] > target and len(inner) < 5:
            yield from _split(node.body, (found.start, found.end), inner, source)
        else:
            yield Section(starts[found.start], starts[found.end], inner)
    if at < last:
        yield Section(starts[at], starts[last], path)


def _definitions(body: Sequence[ast.stmt], at: int, lines: list[str]) -> Iterator[_Span]:
    for node in body:
        if isinstance(node, Definition):
            start = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
            if start >= at:
                while start > at and lines[start - 1].lstrip().startswith("#"):
                    start -= 1
                at = node.end_lineno or node.lineno
                yield _Span(start, at, node)
        else:
            at = max(at, node.end_lineno or node.lineno)


def _name(node: Definition) -> str:
    return f"class {node.name}" if isinstance(node, ast.ClassDef) else f"def {node.name}"
