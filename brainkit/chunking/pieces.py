"""Long sections are cut where it hurts least, and fragments too small to stand alone join a neighbour."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from brainkit.chunking.leads import MAX_LEAD_CHARS, leads_of
from brainkit.chunking.section import Section, common_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FRAGMENT_CHARS = 200
"""A chunk shorter than this says too little to be found by meaning."""

BOUNDS = (
    re.compile(r"\n[^\S\n]*\n\s*"),  # best first: paragraph, line, sentence, word
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?;:])\s+|[\u3002\uff01\uff1f]"),
    re.compile(r"\s+"),
)
NOT_BLANK = re.compile(r"\S")


def pieces(
    text: str,
    sections: Iterable[Section],
    target: int,
    overlap: int,
    format: str = "text",  # noqa: A002 - as in chunk()
) -> Iterator[Section]:
    """The sections without the blank space around them, none longer than ``target`` with the lines it repeats.

    Neighbouring pieces of one section share at most ``overlap`` characters, from a line's or word's beginning on where
    there is one. Every character that is not blank is in some piece. Linear in the length of the text.
    """
    for section in sections:
        end = section.start + len(text[section.start : section.end].rstrip())
        start = _trimmed_start(text, section.start, end, target)
        leads = leads_of(text, start, end, format) if end - start > target else None
        lead = ""
        while end - start > (limit := target - len(lead)):
            shared = min(overlap, limit * 3 // 4)
            cut = _cut(text, start + shared + (limit - shared) // 2, start + limit)
            yield Section(start, start + len(text[start:cut].rstrip()), section.path, lead)
            start = _trimmed_start(text, _overlap_start(text, cut, shared), end, target)
            if leads:
                behind = leads.behind_closing(start)
                if start < behind <= cut:  # the piece before holds it
                    start = _trimmed_start(text, behind, end, target)
                lead = leads.at(start, min(MAX_LEAD_CHARS, target // 3))
        if start < end:
            yield Section(start, end, section.path, lead)


def _trimmed_start(text: str, start: int, end: int, target: int) -> int:
    """The beginning of the first line that holds something: its indentation stays, unless it fills half a chunk."""
    if start < end and not text[start].isspace():
        return start
    found = NOT_BLANK.search(text, start, end)
    if found is None:
        return end
    line = max(start, text.rfind("\n", start, found.start()) + 1)
    return line if found.start() - line < target // 2 else found.start()


def _cut(text: str, low: int, high: int) -> int:
    """The last of the best bounds between two offsets; ``high`` itself when there is none."""
    for bound in BOUNDS:
        ends = [match.end() for match in bound.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return high


def _overlap_start(text: str, cut: int, overlap: int) -> int:
    """Where the piece behind a cut begins: at most ``overlap`` characters before it."""
    start = cut - overlap
    for bound in (BOUNDS[1], BOUNDS[3]):
        match = bound.search(text, start, cut - overlap // 2)
        if match:
            return match.end()
    return start


def merged(parts: Iterable[Section], target: int) -> Iterator[Section]:
    """Fragments joined to a neighbour wherever the result is not longer than ``target``.

    A bare heading goes with what stands below it, any other fragment with what is before it, else behind it.
    """
    group: Section | None = None
    for part in _with_their_headings(parts, target):
        if group is None:
            group = part
        elif min(_size(group), _size(part)) < FRAGMENT_CHARS and _reach(group, part) <= target:
            group = _join(group, part)
        else:
            yield group
            group = part
    if group is not None:
        yield group


def _with_their_headings(parts: Iterable[Section], target: int) -> Iterator[Section]:
    """Fragments joined to the section right behind them where that stands under the fragment's own heading."""
    heading: Section | None = None
    for part in parts:
        below = part
        if heading is not None:
            depth = len(heading.path)
            if part.path[:depth] == heading.path != part.path and _reach(heading, part) <= target:
                below = Section(heading.start, part.end, part.path, heading.lead)
            else:
                yield heading
        heading = below if _size(below) < FRAGMENT_CHARS else None
        if heading is None:
            yield below
    if heading is not None:
        yield heading


def _reach(left: Section, right: Section) -> int:
    """How long both are together; the lines that the right one repeats are in the left one, or repeated by it."""
    return len(left.lead) + max(left.end, right.end) - left.start


def _size(part: Section) -> int:
    return part.end - part.start


def _join(left: Section, right: Section) -> Section:
    """A fragment goes by the name of the section it joins; fragments among themselves by what their names share."""
    if _size(left) < FRAGMENT_CHARS <= _size(right):
        path = right.path
    elif _size(right) < FRAGMENT_CHARS <= _size(left):
        path = left.path
    else:
        path = common_path(left.path, right.path) or left.path
    return Section(left.start, max(left.end, right.end), path, left.lead)
