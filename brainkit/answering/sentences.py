r"""Cut a document into the pieces an answer can quote: sentences, whole list items, table rows, lines of code.

A piece that says little by itself has a lead: the line that introduces its list, the head of its table, the key or
comment it stands below. Lines that only lead (``ports:``) or hold no word (``|---|``) are no pieces.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MAX_PIECE: Final = 600
"""Characters of a piece and its lead at most; a longer line is cut at spaces."""
_MAX_ITEM: Final = 300
_MAX_LEAD: Final = 160
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[A-ZÄÖÜ0-9\"'(\[`*_])")
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(])(?:\d{1,2}|[A-Za-z]|e\.g|i\.e|z\.\s?B|bzw|ca|nr|no|dr|st|vs|approx|incl|inkl|vgl|cf|etc|usw)\.$",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(r"^#{1,6}\s+(.*)")
_FENCE: Final = re.compile(r"^\s*(```|~~~)")
_ITEM: Final = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s")
_KEYED: Final = re.compile(r"^[\w.\"'-]+\s*[:=]")
_COMMENT: Final = re.compile(r"^(?:#|//|--\s|;)")
_LEADS: Final = re.compile(r":[*_`]*$")
_OPENS: Final = re.compile(r"(?:[:{\[(]|: ?[|>][-+]?|\b(?:then|do))$")
_EMPTY: Final = re.compile(r"[\W_]*+(?:\d+[.)])?[\W_]*+")


class Piece(NamedTuple):
    """A quotable piece of a document, verbatim but for line breaks within prose.

    Attributes:
        text: the piece itself, never empty.
        heading: the nearest heading above it ("" if none).
        lead: the line that a reader needs with it ("" if none).
    """

    text: str
    heading: str
    lead: str = ""


def pieces(content: str, *, prose: bool) -> list[Piece]:
    r"""Quotable pieces of a document in reading order.

    Args:
        content: the document's text.
        prose: whether to read Markdown or plain text; everything else is taken line by line.

    Example:
        >>> [p.text for p in pieces("# Pool\nScrubs run monthly. The next is in May.", prose=True)]
        ['Scrubs run monthly.', 'The next is in May.']
        >>> pieces("ports:\n  - 8080:80", prose=False)
        [Piece(text='- 8080:80', heading='', lead='ports:')]
    """
    cutter = _Cutter()
    for line in content.splitlines():
        if prose:
            cutter.prose(line)
        else:
            cutter.code(line)
    cutter.flush()
    return cutter.found


class _Cutter:
    """Reads a document line by line and keeps what later lines hang on."""

    def __init__(self) -> None:
        self.found: list[Piece] = []
        self._heading = ""
        self._open: list[str] = []  # lines of the paragraph or list item that is being read
        self._command: list[str] = []  # lines of a command that goes on in the next line
        self._item: int | None = None  # its indent, if it is a list item
        self._above: list[tuple[int, str]] = []  # list items or lines of code the next one may stand below
        self._comment = (0, "")  # the last comment, with its indent
        self._intro = self._last = self._table = ""
        self._fenced = False

    def prose(self, line: str) -> None:
        stripped = line.strip()
        if not stripped.startswith("|"):
            self._table = ""
        if _FENCE.match(line):
            self._turn_fence()
        elif self._fenced:
            self.code(line)
        elif not stripped or stripped == "---":
            self.flush()
        elif title := _HEADING.match(line):
            self.flush()
            self._heading = _closed(title.group(1).rstrip())
            self._intro, self._last, self._above = "", "", []
        elif stripped.startswith("|"):
            self.flush()
            if self._table:
                self._add(stripped, self._table)
            self._table = self._table or stripped
        elif stripped.startswith((">", "<!--")):
            self.flush()
            self._add(stripped, "")
        elif _ITEM.match(line):
            self.flush()
            self._item, self._open = _indent(line), [stripped]
        elif not self._open and not self._above and _indent(line) >= 4:
            self.code(line)
            self.flush()
        else:
            self._open.append(stripped)
            if line.endswith("  "):  # a line break that is meant
                self.flush()

    def _turn_fence(self) -> None:
        self.flush()
        self._fenced, self._above, self._comment = not self._fenced, [], (0, "")
        self._intro = (self._intro or self._last) if self._fenced else ""  # what was said before leads the code

    def code(self, line: str) -> None:
        self._command.append(line.rstrip())
        if not self._command[-1].endswith("\\"):
            self._end_command()

    def _end_command(self) -> None:
        lines, self._command = self._command, []
        text = "\n".join(lines).strip()
        if not text:
            self._comment = (0, "")
        elif text in {"---", "..."}:
            self._above, self._comment = [], (0, "")
        else:
            self._line(text, _indent(lines[0]))

    def _line(self, text: str, indent: int) -> None:
        while self._above and self._above[-1][0] >= indent:
            self._above.pop()
        lead = self._above[-1][1] if self._above else self._intro
        if _COMMENT.match(text):
            self._comment = (indent, text)
            self._add(text, lead)
            return
        if not _OPENS.search(text):
            self._add(text, self._comment[1] if self._comment[0] == indent and self._comment[1] else lead)
        self._above.append((indent, text))

    def flush(self) -> None:
        """End what is being read."""
        self._end_command()
        lines, self._open = self._open, []
        indent, self._item = self._item, None
        if not lines:
            return
        text = " ".join(lines)
        if self._fenced or indent is None:
            self._above = []
        if indent is not None:
            while self._above and self._above[-1][0] >= indent:
                self._above.pop()
            lead = self._above[-1][1] if self._above else self._intro
            for part in [text] if len(text) <= _MAX_ITEM else _sentences(text):
                self._add(part, lead)
            self._above.append((indent, text))
            return
        parts = lines if len(lines) > 1 and all(_KEYED.match(line) for line in lines) else _sentences(text)
        for part in parts:
            self._add(part, "")
        self._last = parts[-1]
        self._intro = self._last if _LEADS.search(self._last) else ""

    def _add(self, text: str, lead: str) -> None:
        if _EMPTY.fullmatch(text) or _LEADS.search(text) or text.startswith("<!--"):
            return
        if len(lead) > _MAX_LEAD or lead == text or _EMPTY.fullmatch(lead):
            lead = ""
        for part in _cut(text):
            self.found.append(Piece(part, self._heading, lead if len(part) + len(lead) <= MAX_PIECE else ""))


def _closed(heading: str) -> str:
    """Without the ``#`` that may close a heading, but ``C#`` stays."""
    bare = heading.rstrip("#")
    return bare.rstrip() if bare[-1:].isspace() else heading


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _sentences(text: str) -> list[str]:
    parts, start = [], 0
    for end in _SENTENCE_END.finditer(text):
        if not _ABBREVIATION.search(text[max(start, end.start() - 16) : end.start()]):
            parts.append(text[start : end.end()].strip())
            start = end.end()
    return [*parts, text[start:].strip()] if text[start:].strip() else parts


def _cut(text: str) -> list[str]:
    """Parts of at most MAX_PIECE characters, cut at spaces where there are any."""
    parts, start = [], 0
    while len(text) - start > MAX_PIECE:
        cut = text.rfind(" ", start + MAX_PIECE // 2, start + MAX_PIECE)
        end = cut if cut > 0 else start + MAX_PIECE
        parts.append(text[start:end].strip())
        start = end
    return [part for part in (*parts, text[start:].strip()) if part]
