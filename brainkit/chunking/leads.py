"""What a piece of a long table, fence, list or block scalar needs in front of it to be understood by itself."""

from __future__ import annotations

import re
from typing import NamedTuple

from brainkit.chunking.outline import BLOCK_SCALAR

MAX_LEAD_CHARS = 300
MAX_ITEM_CHARS = 100
MAX_MARKER_CHARS = 200  # how far into a line its markers are looked for
MARGIN = r"[ \t>]*"
MARKS = frozenset("-*+0123456789`~#")
ITEM = re.compile(rf"{MARGIN}(?:[-*+]|\d{{1,9}}[.)])[ \t]+(?=\S)")
FENCE = re.compile(rf"{MARGIN}(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]+)*(`{{3,}}(?![^\n]*`)|~{{3,}})")
ORG_FENCE = re.compile(rf"{MARGIN}#\+begin_(\w+)", re.IGNORECASE)
MARKED_UP = frozenset({"markdown", "rst", "org"})
LISTED = re.compile(r"\n[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")
TO_TEXT = re.compile(r"[|>][-+\d]{0,2}[ \t\r]*(?:#.*)?$", re.MULTILINE)


class Lead(NamedTuple):
    """A line that those below it are to be read with: its text, and how far indented it is."""

    line: str
    indent: int


def leads_of(text: str, start: int, end: int, format: str) -> Leads | None:  # noqa: A002 - as in chunk()
    """The leads of the section between two offsets, or None where there cannot be any."""
    if format == "yaml":
        led = TO_TEXT.search(text, start, end) is not None
    elif format in MARKED_UP:
        led = any(text.find(mark, start, end) >= 0 for mark in ("|", "```", "~~~", "#+")) or (
            LISTED.search(text, max(0, start - 1), end) is not None
        )
    else:
        led = False
    return Leads(text, start, format) if led else None


class Leads:
    """Reads a section's lines once, forward, and says which of them a piece that starts at an offset is under.

    These are the opening line of the fence or YAML block scalar it is in, the header and separator rows of the table,
    and the list items that it is nested in; of the last the first words when they are long.
    """

    def __init__(self, text: str, start: int, format: str) -> None:  # noqa: A002 - as in chunk()
        self._text = text
        self._format = format
        self._start = self._end = start  # of the line that was entered last
        self._items: list[Lead] = []
        self._block: Lead | None = None  # an open fence or block scalar
        self._closing = ""
        self._table: list[str] = []
        self._line = ""
        self._indent = 0
        self._mark = ""  # the first character of the line that was entered last

    def behind_closing(self, offset: int) -> int:
        """The end of the line at an offset when all it does is to close a fence, else the offset."""
        self._read(offset)
        closes = self._block is not None and bool(self._closing) and self._closes(self._line)
        return self._end if closes and self._start == offset else offset

    def at(self, offset: int, room: int) -> str:
        """The lines to repeat, each with its line break, in at most ``room`` characters."""
        self._read(offset)
        inner = self._table if self._block is None else [self._block.line]
        fitting: list[str] = []
        for line in inner:  # a separator row is left out before a header row
            kept = line[: room - 1].rstrip() if not fitting else line
            if kept and len(kept) < room:
                fitting.append(kept)
                room -= len(kept) + 1
        above: list[str] = []
        for item in reversed(self._items):
            if len(item.line) >= room:
                break
            above.append(item.line)
            room -= len(item.line) + 1
        return "".join(line + "\n" for line in [*reversed(above), *fitting])

    def _read(self, offset: int) -> None:
        """Go on to the line an offset is in; offsets never go back."""
        while self._end <= offset < len(self._text):
            self._leave()
            self._start, self._end = self._end, _line_end(self._text, self._end)
            self._enter()

    def _enter(self) -> None:
        """What the line ends, or is the second of."""
        before, self._line = self._line, self._text[self._start : self._end].rstrip()
        line = self._line
        if not line:
            self._table = []
            return
        bare = line.lstrip(" \t>")
        self._mark = bare[:1]
        margin = line[: len(line) - len(bare)]
        self._indent = len(margin.expandtabs(4) if "\t" in margin else margin)
        if self._block is not None:
            if not self._closing and self._indent <= self._block.indent:
                self._block = None
            else:
                return
        if self._format == "yaml":
            return
        while self._items and self._items[-1].indent >= self._indent:
            self._items.pop()
        if "|" not in line:
            self._table = []
        elif not self._table and "|" in before and _is_separator(line):
            self._table = [before]

    def _leave(self) -> None:
        """What the line opens for those below it."""
        line = self._line
        if not line:
            return
        if self._block is not None:
            self._block = None if self._closing and self._closes(line) else self._block
        elif self._format == "yaml":
            if line[-1] in "|>+-0123456789" or "#" in line:
                self._open(BLOCK_SCALAR.search(line.lstrip()[-MAX_MARKER_CHARS:]), "")
        elif len(self._table) == 1:
            self._table.append(line)
        elif self._mark in MARKS:
            marked = line[:MAX_MARKER_CHARS]
            if ITEM.match(marked):
                self._items.append(Lead(_first_words(line), self._indent))
            fence = (ORG_FENCE if self._format == "org" else FENCE).match(marked)
            self._open(fence, fence[1] if fence else "")

    def _open(self, found: re.Match[str] | None, closing: str) -> None:
        if found:
            self._block, self._closing = Lead(self._line, self._indent), closing
            if self._items and self._items[-1].indent == self._indent:
                self._items.pop()  # an item that is the fence's opening line too

    def _closes(self, line: str) -> bool:
        if self._format == "org":
            return line.strip(" \t>").lower() == f"#+end_{self._closing.lower()}"
        bare = line.lstrip(" \t>")
        return len(bare) >= len(self._closing) and not bare.strip(self._closing[0])


def _line_end(text: str, start: int) -> int:
    return text.find("\n", start) + 1 or len(text)


def _is_separator(line: str) -> bool:
    return "-" in line and not line.strip(" \t|:+->")


def _first_words(line: str) -> str:
    if len(line) <= MAX_ITEM_CHARS:
        return line
    return line[: max(line.rfind(" ", MAX_ITEM_CHARS // 2, MAX_ITEM_CHARS), 0) or MAX_ITEM_CHARS]
