"""Indented texts (YAML, pretty JSON) by their keys, read line by line: templates and faults are no obstacle."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from brainkit.chunking.section import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 8
ENTRY = re.compile(
    r"""^([^\S\n]*)(?:
      (\#|\{[{%]-?[^\S\n]*(?!-?[^\S\n]*(?:end|else|elif)))     # 2: a comment, or a template that opens a block
    | ([}\]])                                                  # 3
    | (-)(?=\s|\Z)(?:[ \t]+name:[ \t]+(\S[^\n]{0,200}))?       # 4, 5: an item and its name
    | (?:"([^"\n]{1,200})"|'([^'\n]{1,200})'|([^\s"'\#:{}\[\],&*!|>%@`-][^:\n]{0,200}?))
      [ \t]{0,20}:(?=\s|\Z)                                     # 6-8: a key
    | ([{\[])                                                  # 9
    | \S)[^\n]*\n?""",
    re.MULTILINE | re.VERBOSE,
)
KINDS = ("", "text", "comment", "close", "item", "item", "key", "key", "key", "open")
BLOCK_SCALAR = re.compile(r"(?::|^-)\s+(?:[!&]\S+\s+)?[|>][-+\d]{0,2}\s*(?:#.*)?$")


class Line(NamedTuple):
    """A line that is not blank: where it is, how far indented, what it is, and the key it holds."""

    start: int
    end: int
    indent: int
    kind: str  # key, item, open (a bracket), close, comment, text
    name: str


def outline(text: str, start: int = 0, end: int | None = None) -> list[Line]:
    """The lines that are not blank from the beginning of one to another offset."""
    lines = []
    for match in ENTRY.finditer(text, start, len(text) if end is None else end):
        number = match.lastindex or 1
        name = match[number].strip() if 5 <= number < 9 else ""
        if number == 5:
            name = name.strip("\"'")
        lines.append(Line(match.start(), match.end(), match.end(1) - match.start(), KINDS[number], name))
    return lines


def outline_sections(text: str, lines: list[Line], whole: Section, target: int, depth: int = 0) -> Iterator[Section]:
    """``whole``, whose lines are ``lines``, by its outermost keys; those longer than ``target`` by their own keys."""
    entries = _entries(lines)
    at = whole.start
    if entries and lines[entries[0]].start > at:
        at = lines[entries[0]].start
        yield Section(whole.start, at, whole.path)
    for first, behind in pairwise([*entries, len(lines)]):
        end = lines[behind].start if behind < len(lines) else whole.end
        inside = lines[first:behind]
        head = 0
        while inside[head].kind == "comment":
            head += 1
        name = inside[head].name
        path = (*whole.path, name) if name else whole.path
        long = end - at > target and depth < MAX_DEPTH and len(inside) > head + 1
        if long and not BLOCK_SCALAR.search(text[inside[head].start : inside[head].end].strip()[-300:]):
            body = inside[head + 1].start
            yield Section(at, body, path)
            yield from outline_sections(text, inside[head + 1 :], Section(body, end, path), target, depth + 1)
        else:
            yield Section(at, end, path)
        at = end
    if at < whole.end:
        yield Section(at, whole.end, whole.path)


def _entries(lines: list[Line]) -> list[int]:
    """Which lines begin an entry at the outermost level; the comments right above an entry are its beginning."""
    solid = [line for line in lines if line.kind not in ("close", "comment")]
    if not solid:
        return []
    base = min([line.indent for line in solid])
    kind = next(line.kind for line in solid if line.indent == base)
    if kind == "text":
        return []
    found: list[int] = []
    for number, line in enumerate(lines):
        if line.indent == base and line.kind == kind:
            first = number
            while first > 0 and _belongs_below(lines[first - 1], lines[first], base):
                first -= 1
            found.append(first)
    return found


def _belongs_below(comment: Line, line: Line, base: int) -> bool:
    return comment.kind == "comment" and comment.end == line.start and comment.indent <= base
