"""Texts by the lines that begin a part and name it: headings, tables of a configuration, blocks, build stages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from brainkit.chunking.section import Section
from brainkit.readers import blocks, front_matter_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TABLE = re.compile(r"^[ \t]*\[\[?([^\[\]=,\n]{1,200})\]\]?[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
INI_SECTION = re.compile(r"^[ \t]*\[([^\]\n]{1,200})\]", re.MULTILINE)
STAGE = re.compile(r"^[ \t]*(FROM[ \t][^\n]{1,200})", re.MULTILINE | re.IGNORECASE)
BLOCK = re.compile(
    r'^(\w[\w-]{0,99}(?:[ \t]{1,20}(?:"[^"\n]{0,100}"|[\w.-]{1,100})){0,4})[ \t]{0,20}(?:=[ \t]{0,20})?\{', re.MULTILINE
)
STARS = re.compile(r"^(\*{1,200})[ \t]+(?:(?:TODO|DONE)[ \t]+)?(\S[^\n]{0,200})", re.MULTILINE)
ORG_TAGS = re.compile(r"[ \t]:[\w@#%:]+:[ \t]*$")
RULE = r"(([!-/:-@\[-`{-~])\%d{2,199})[ \t]{0,20}"
UNDERLINED = re.compile(rf"^(?:{RULE % 2}\n[ \t]{{0,20}})?(\S[^\n]{{0,199}})\n{RULE % 5}$", re.MULTILINE)
NO_TITLE = re.compile(RULE % 2)


class Heading(NamedTuple):
    """Where a part begins, how deep it is (1 is outermost), and its name."""

    start: int
    level: int
    name: str


def headed_sections(text: str, format: str) -> Iterator[Section]:  # noqa: A002 - as in chunk()
    """The front matter, what precedes the first heading, then one section for each heading with its text."""
    start = front_matter_end(text) if format == "markdown" else 0
    if start:
        yield Section(0, start, ())
    open_headings: list[Heading] = []
    path: tuple[str, ...] = ()
    for heading in HEADINGS[format](text):
        if heading.start > start:
            yield Section(start, heading.start, path)
        start = heading.start
        while open_headings and open_headings[-1].level >= heading.level:
            open_headings.pop()
        open_headings.append(heading)
        path = tuple(one.name for one in open_headings)
    if start < len(text):
        yield Section(start, len(text), path)


def _markdown(text: str) -> Iterator[Heading]:
    return (Heading(block.start, block.level, block.title) for block in blocks(text) if block.title)


def _org(text: str) -> Iterator[Heading]:
    return (Heading(m.start(), len(m[1]), ORG_TAGS.sub("", m[2]).strip()) for m in STARS.finditer(text))


def _restructured(text: str) -> Iterator[Heading]:
    """Lines underlined, or framed, by punctuation as long as they are; the styles' levels are in order of appearance.

    https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html#sections
    """
    levels: dict[tuple[str, bool], int] = {}
    for match in UNDERLINED.finditer(text):
        over, _, title, under, style = match.groups()
        title = title.rstrip()
        at_paragraph = text[max(0, match.start() - 2) : match.start()] in ("", "\n", "\n\n")
        if at_paragraph and len(under) >= len(title) and over in (None, under) and not NO_TITLE.fullmatch(title):
            level = levels.setdefault((style, over is not None), len(levels) + 1)
            yield Heading(match.start(), level, title)


def _parts(pattern: re.Pattern[str], comments: tuple[str, ...] = ("#", "//")) -> Callable[[str], Iterator[Heading]]:
    """Parts of one level; the comment lines right above one belong to it."""

    def found(text: str) -> Iterator[Heading]:
        least = 0  # the end of the line that named the part before
        for match in pattern.finditer(text):
            start = match.start()
            while start > least:
                above = max(least, text.rfind("\n", least, start - 1) + 1)
                if not text[above:start].lstrip().startswith(comments):
                    break
                start = above
            least = text.find("\n", match.end()) + 1 or len(text)
            yield Heading(start, 1, " ".join(match[1].split()))

    return found


HEADINGS: dict[str, Callable[[str], Iterator[Heading]]] = {
    "markdown": _markdown,
    "rst": _restructured,
    "org": _org,
    "toml": _parts(TABLE),
    "ini": _parts(INI_SECTION, ("#", ";")),
    "unit": _parts(INI_SECTION, ("#", ";")),
    "dockerfile": _parts(STAGE),
    "terraform": _parts(BLOCK),
}
"""How the headings of each such format are found."""
