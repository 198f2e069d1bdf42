"""Indented texts (YAML, pretty JSON) by their keys, read line by line: templates and faults are no obstacle."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from brainkit.chunking.section import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 8
LINE = re.compile(r"[^\n]+\n?|\n+")
KEY = re.compile(
    r"""(?:"([^"\n]{1,200})"|'([^'\n]{1,200})'|([^\s"'#:{}\[\],&*!|>%@`-][^:\n]{0,200}?))[ \t]{0,20}:(?=\s|$)"""
)
ITEM_NAME = re.compile(r"-[ \t]+name:[ \t]+(\S[^\n]{0,200})")
ITEM = re.compile(r"-(?=\s|$)")
OPENING_TEMPLATE = re.compile(r"\{[{%]-?\s*(?!-?\s*(?:end|else|elif))")
BLOCK_SCALAR = re.compile(r":\s+[|>][-+\d]{0,2}\s*(?:#.*)?$")


class Line(NamedTuple):
    """A line that is not blank: where it is, how far indented, what it is, and the key it holds."""

    start: int
    end: int
    indent: int
    kind: str  # key, item, open (a bracket), close, comment, text
    name: str


def outline(text: str, start: int = 0, end: int | None = None) -> list[Line]:
    """The lines between two offsets that are not blank."""
    lines = []
    for match in LINE.finditer(text, start, len(text) if end is None else end):
        bare = match.group().strip()
        if bare:
            indent = len(match.group()) - len(match.group().lstrip())
            lines.append(Line(match.start(), match.end(), indent, *_kind(bare[:500])))
    return lines


def _kind(bare: str) -> tuple[str, str]:
    if bare[0] == "#" or OPENING_TEMPLATE.match(bare):
        return "comment", ""
    if bare[0] in "}]":
        return "close", ""
    if ITEM.match(bare):
        name = ITEM_NAME.match(bare)
        return "item", name[1].strip().strip("\"'") if name else ""
    key = KEY.match(bare)
    if key:
        return "key", (key[1] or key[2] or key[3]).strip()
    return ("open" if bare[0] in "{[" else "text"), ""


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
        head = next(n for n, line in enumerate(inside) if line.kind != "comment")
        name = inside[head].name
        path = (*whole.path, name) if name else whole.path
        scalar = BLOCK_SCALAR.search(text[inside[head].start : inside[head].end].rstrip()[-300:])
        if end - at > target and depth < MAX_DEPTH and not scalar and len(inside) > head + 1:
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
    base = min(line.indent for line in solid)
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
