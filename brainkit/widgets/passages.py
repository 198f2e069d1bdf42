"""Where passages stand in a document: its text in pieces, those marked that a reader came to see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

LEAST_CHARS: Final = 12
"""Of a line that is looked for on its own: shorter ones stand anywhere."""


def segments(text: str, passages: Sequence[str]) -> list[tuple[str, bool]]:
    r"""The text cut into (piece, marked); joined they give it again.

    A passage that does not stand there as a whole (a chunk has its heading before it, a notebook's cell is shown
    otherwise) is looked for line by line.

    Example:
        >>> segments("# UPS\nBattery: RBC7\nHost: amsel\n", ["Battery: RBC7"])
        [('# UPS\n', False), ('Battery: RBC7', True), ('\nHost: amsel\n', False)]
    """
    spans: list[tuple[int, int]] = []
    for passage in passages:
        wanted = passage.strip()
        place = text.find(wanted) if wanted else -1
        if place >= 0:
            spans.append((place, place + len(wanted)))
        else:
            spans += _lines(text, wanted.splitlines())
    edges = sorted({0, len(text), *(edge for span in spans for edge in span)})
    pieces = [(text[a:b], any(first <= a and b <= last for first, last in spans)) for a, b in pairwise(edges)]
    joined: list[tuple[str, bool]] = []
    for piece, marked in pieces:
        if joined and joined[-1][1] == marked:
            joined[-1] = joined[-1][0] + piece, marked
        else:
            joined.append((piece, marked))
    return joined


def _lines(text: str, lines: Iterable[str]) -> list[tuple[int, int]]:
    found, after = [], 0
    for line in map(str.strip, lines):
        place = text.find(line, after) if len(line) >= LEAST_CHARS else -1
        if place >= 0:
            after = place + len(line)
            found.append((place, after))
    return found
