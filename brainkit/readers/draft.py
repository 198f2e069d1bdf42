"""What a converter makes of a file: text still to be scrubbed once more, and what it says about itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from brainkit.readers.model import Format, Link

    Clean = Callable[[str], str]
    """Scrubs a text; for what is shortened, since of a secret that is cut off the rest is not recognised any more."""

MAX_CELL_CHARS = 200


class Draft(NamedTuple):
    """One document of a file; what is left empty is filled from the file's name, place and time.

    Attributes:
        part: which of several documents of one file it is, such as a session; '' when it is the whole file.
    """

    content: str
    format: Format
    title: str = ""
    tags: tuple[str, ...] = ()
    ts: datetime | None = None
    note: str = ""
    aliases: tuple[str, ...] = ()
    language: str = ""
    edges: tuple[Link, ...] = ()
    project: str = ""
    ref: str = ""
    part: str = ""


def fenced(code: str, language: str = "") -> str:
    """A Markdown fence around code, longer than any run of backticks in it."""
    longest = max(map(len, re.findall(r"`{3,}", code)), default=2)
    marks = "`" * (longest + 1)
    body = code.rstrip("\n")
    return f"{marks}{language}\n{body}\n{marks}"


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; long cells are shortened, short rows filled up."""
    lines = [_row(header), "|" + " --- |" * len(header)]
    lines += [_row((row + [""] * len(header))[: len(header)]) for row in rows]
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(shortened(cell, MAX_CELL_CHARS).replace("|", "\\|") for cell in cells) + " |"


def shortened(text: str, limit: int) -> str:
    r"""The text on one line, cut to ``limit`` characters with an ellipsis at the end.

    Example:
        >>> shortened("one two\nthree", 8)
        'one two…'
    """
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def sized(text: str) -> str:
    """How much a text is, for the place of one that is left out: ``1,200 characters in 30 lines``."""
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"{len(text):,} characters in {lines:,} line{'s' if lines > 1 else ''}"
