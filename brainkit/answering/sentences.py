"""Cut a document into the pieces an answer can quote: sentences of prose, whole lines of code, tables and lists."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MAX_PIECE: Final = 300
_SENTENCE_END: Final = re.compile(r"(?<=[.!?:])[\"')\]]*\s+(?=[A-ZÄÖÜ0-9\"'(\[`*])")
_HEADING: Final = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_FENCE: Final = re.compile(r"^\s{0,3}(```|~~~)")
_LINEWISE: Final = re.compile(r"^\s*(?:[-*+]\s|\d+[.)]\s|\||>|<!--)|^(?: {4}|\t)|^\s*[\w.\"'-]+\s*[:=]")


class Piece(NamedTuple):
    """A quotable piece of a document: verbatim but for white space at line ends; ``heading`` is where it stands."""

    text: str
    heading: str


def pieces(content: str, format: str) -> list[Piece]:  # noqa: A002 - the data model's word
    """Quotable pieces of a document in reading order; none is empty.

    Args:
        content: the document's text.
        format: "markdown" and "text" are read as prose, everything else line by line.

    Example:
        >>> [p.text for p in pieces("# Pool\\nScrubs run monthly. The next is in May.", "markdown")]
        ['Scrubs run monthly.', 'The next is in May.']
    """
    found: list[Piece] = []
    paragraph: list[str] = []
    heading, fenced = "", False

    def flush() -> None:
        text = " ".join(paragraph)
        paragraph.clear()
        found.extend(Piece(part, heading) for part in _sentences(text))

    prose = format in {"markdown", "text"}
    for line in content.splitlines():
        stripped = line.strip()
        if prose and _FENCE.match(line):
            flush()
            fenced = not fenced
        elif not stripped or stripped == "---":
            flush()
        elif prose and not fenced and (title := _HEADING.match(line)):
            flush()
            heading = title.group(2)
        elif not prose or fenced or _LINEWISE.match(line):
            flush()
            found.extend(Piece(part, heading) for part in _cap(line.strip()))
        else:
            paragraph.append(stripped)
    flush()
    return found


def _sentences(text: str) -> list[str]:
    return [part for sentence in _SENTENCE_END.split(text) if sentence.strip() for part in _cap(sentence.strip())]


def _cap(text: str) -> list[str]:
    """Pieces of at most MAX_PIECE characters, cut at spaces where there are any."""
    parts = []
    while len(text) > MAX_PIECE:
        cut = text.rfind(" ", MAX_PIECE // 2, MAX_PIECE)
        cut = cut if cut > 0 else MAX_PIECE
        parts.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*parts, text] if text else parts
