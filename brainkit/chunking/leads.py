"""What a piece of a long table, fence, list or block scalar needs in front of it to be understood by itself."""

from __future__ import annotations

import re
from typing import NamedTuple

LED = frozenset({"markdown", "yaml", "rst", "org"})
"""The formats whose pieces are looked at."""
MAX_LEAD_CHARS = 300
MAX_ITEM_CHARS = 100
MAX_MARKER_CHARS = 200  # how far into a line its markers are looked for
MARGIN = r"[ \t>]*"
ITEM = re.compile(rf"{MARGIN}(?:[-*+]|\d{{1,9}}[.)])[ \t]+(?=\S)")
FENCE = re.compile(rf"{MARGIN}(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]+)*(`{{3,}}(?![^\n]*`)|~{{3,}})")
ORG_FENCE = re.compile(rf"{MARGIN}#\+begin_(\w+)", re.IGNORECASE)
SCALAR = re.compile(r"(?:.*:|[ \t]*-)[ \t]+(?:[!&]\S+[ \t]+)?[|>][-+\d]{0,2}[ \t]*(?:#.*)?$")


class Lead(NamedTuple):
    """A line that those below it are to be read with: its text, and how far indented it is."""

    line: str
    indent: int


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

    def at(self, offset: int, room: int) -> str:
        """The lines to repeat, each with its line break, in at most ``room`` characters; offsets never go back."""
        while self._end <= offset < len(self._text):
            self._leave()
            self._start, self._end = self._end, _line_end(self._text, self._end)
            self._enter()
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

    def _enter(self) -> None:
        """What the line ends, or is the second of."""
        before, self._line = self._line, self._text[self._start : self._end].rstrip()
        line = self._line
        if not line:
            self._table = []
            return
        self._indent = _indent(line)
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
                self._open(SCALAR.match(line[-MAX_MARKER_CHARS:]), "")
        elif len(self._table) == 1:
            self._table.append(line)
        else:
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


def _indent(line: str) -> int:
    bare = line.lstrip(" \t>")
    margin = len(line) - len(bare)
    return margin if "\t" not in line[:margin] else len(line[:margin].expandtabs(4))


def _is_separator(line: str) -> bool:
    return "-" in line and not line.strip(" \t|:+->")


def _first_words(line: str) -> str:
    if len(line) <= MAX_ITEM_CHARS:
        return line
    return line[: max(line.rfind(" ", MAX_ITEM_CHARS // 2, MAX_ITEM_CHARS), 0) or MAX_ITEM_CHARS]
