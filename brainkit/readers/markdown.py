"""The outline of a markdown text: front matter, headings, and the lines that are prose (CommonMark and Obsidian)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from brainkit.readers.model import Link

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SETEXT_CHARS = 200
"""A longer paragraph above a ruler is a paragraph above a ruler, not a heading."""

LINE = re.compile(r"[^\n]+\n?|\n+")  # empty lines in a row count as one
ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t\r\n]|$)")
SETEXT = re.compile(r" {0,3}(=+|-+)[ \t\r]*\n?$")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
RAW_HTML = re.compile(r" {0,3}<(?:(!--)|(script|pre|style|textarea)(?=[\s>]))", re.IGNORECASE)
INDENTED = re.compile(r" {4}| {0,3}\t")
CONTAINER = re.compile(r" {0,3}(?:[>|]|[-*+][ \t\r\n]|\d{1,9}[.)][ \t])")
CODE_SPAN = re.compile(r"(?<!`)(`{1,3})(?!`)[^`\n]+\1(?!`)")
WIKILINK = re.compile(r"(!?)\[\[([^\[\]|#\n]{1,300})((?:[|#][^\[\]\n]{0,300})?)\]\]")
MARKDOWN_LINK = re.compile(
    r"(?<!!)\[([^\[\]\n]{0,500})\]\(<?([^()<>\s]{1,500})>?(?:\s{1,9}[\"'][^\n\"']{0,200}[\"'])?\)"
)
LINK = re.compile(f"{WIKILINK.pattern}|{MARKDOWN_LINK.pattern}")
ALIAS_WITH_HEADING = re.compile(r"(.*\w)#(\w.*)")
NOT_RELATIVE = re.compile(r"[a-z][a-z0-9+.-]*:|#|/", re.IGNORECASE)
TAG = re.compile(r"(?<![^\s(\[,;])#([\w-][\w/-]{0,99})")
COLOUR = re.compile(r"(?=[a-f]*\d)(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)
MAX_FOUND = 500


class Block(NamedTuple):
    """One line, or a setext heading of several: ``text[start:end]``; level 1-6 for a heading, else 0."""

    start: int
    end: int
    level: int
    title: str
    prose: bool


class _Raw(NamedTuple):
    """An open fence (``end`` is its marker) or raw HTML block (``end`` is what closes it)."""

    end: str
    fence: bool

    def is_closed_by(self, line: str) -> bool:
        if not self.fence:
            return self.end in line.lower()
        bare = line.strip()
        return len(bare) >= len(self.end) and not bare.strip(self.end[0]) and not INDENTED.match(line)


def front_matter_end(text: str) -> int:
    """Offset behind the closing line of a YAML front matter; 0 when there is none."""
    if not re.match(r"---[ \t\r]*\n", text):
        return 0
    closing = re.compile(r"^(?:---|\.\.\.)[ \t\r]*(?:\n|\Z)", re.MULTILINE).search(text, text.index("\n") + 1)
    return closing.end() if closing else 0


def blocks(text: str) -> Iterator[Block]:
    r"""The lines behind the front matter in order, with what each is.

    A ``#`` in a fence, an indented block, an HTML comment or a ``<pre>`` is no heading and no prose. What is never
    closed runs to the end, as CommonMark has it. A setext heading starts where its paragraph does, whose lines have
    come before it.

    Example:
        >>> [(b.level, b.title) for b in blocks("# A #\n~~~\n# b\n~~~\nC\n===\n") if b.level]
        [(1, 'A'), (1, 'C')]
    """
    raw: _Raw | None = None
    paragraph = -1  # where the paragraph began that a line of === or --- would turn into a heading
    in_container = False  # a list item, quote or table: its lines run on until a blank one
    for match in LINE.finditer(text, front_matter_end(text)):
        start, end, line = match.start(), match.end(), match.group()
        if raw is not None:
            raw = None if raw.is_closed_by(line) else raw
            yield Block(start, end, 0, "", prose=False)
        elif paragraph >= 0 and start - paragraph <= MAX_SETEXT_CHARS and SETEXT.match(line):
            title = " ".join(text[paragraph:start].split())
            yield Block(paragraph, end, 1 if "=" in line else 2, title, prose=True)
            paragraph = -1
        elif (first := line.lstrip(" ")[:1]) == "#" and (heading := ATX.match(line)):
            yield Block(start, end, len(heading[1]), _atx_title(line[heading.end() :]), prose=True)
            paragraph, in_container = -1, False
        elif first in "`~<" and (raw := _opened_by(line)):
            raw = None if not raw.fence and raw.is_closed_by(line) else raw
            yield Block(start, end, 0, "", prose=False)
            paragraph, in_container = -1, False
        else:
            blank, code = line.isspace(), paragraph < 0 and not in_container and INDENTED.match(line) is not None
            in_container = not blank and (in_container or CONTAINER.match(line) is not None)
            if blank or code or in_container or _is_ruler(line):
                paragraph = -1
            elif paragraph < 0:
                paragraph = start
            yield Block(start, end, 0, "", prose=not code)


def _opened_by(line: str) -> _Raw | None:
    fence = FENCE.match(line)
    if fence and not (fence[1][0] == "`" and "`" in fence[2]):
        return _Raw(fence[1], fence=True)
    html = RAW_HTML.match(line)
    return _Raw("-->" if html[1] else f"</{html[2].lower()}>", fence=False) if html else None


def _is_ruler(line: str) -> bool:
    bare = line.replace(" ", "").replace("\t", "").strip()
    return len(bare) >= 3 and bare[0] in "-*_" and not bare.strip(bare[0])


def _atx_title(rest: str) -> str:
    title = rest.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if bare != title and (not bare or bare[-1] in " \t") else title


def prose(text: str) -> str:
    """The lines that are neither code nor comment, without their code spans."""
    return CODE_SPAN.sub(" ", "".join(text[b.start : b.end] for b in blocks(text) if b.prose))


def edges(text: str) -> tuple[Link, ...]:
    """Wikilinks, embeds and relative markdown links in prose and headings, each once, in order.

    Both ``[[note#heading|alias]]`` and ``[[note|alias#heading]]`` are read. A link within the note is none.

    Example:
        >>> edges("see [[DNS#Records|the note]], not [web](https://x.example)")
        (Link(target='DNS', heading='Records', alias='the note', kind='wikilink'),)
        >>> [(link.target, link.kind) for link in edges("![[rack.png]] and [mail](../mail.md#imap)")]
        [('rack.png', 'embed'), ('../mail.md', 'markdown')]
    """
    found: dict[Link, None] = {}
    for embed, wiki, rest, shown, href in LINK.findall(text):
        if wiki:
            link = _wikilink(wiki, rest, "embed" if embed else "wikilink")
        elif not NOT_RELATIVE.match(href):
            target, _, heading = unquote(href).partition("#")
            link = Link(target, heading, shown, "markdown")
        else:
            continue
        if all(part.isprintable() for part in link) and link.target.strip():
            found[Link(*(part.strip() for part in link))] = None
    return tuple(found)[:MAX_FOUND]


def _wikilink(target: str, rest: str, kind: str) -> Link:
    rest = rest.replace("\\|", "|")  # in a table the bar is escaped
    heading, _, alias = rest.partition("|")
    heading = heading.lstrip("#")
    if not heading and (both := ALIAS_WITH_HEADING.fullmatch(alias)):
        alias, heading = both[1], both[2]
    return Link(target.removesuffix("\\"), heading, alias, kind)


def tags(text: str) -> tuple[str, ...]:
    """Inline ``#tags`` as Obsidian reads them (at least one letter; ``#12`` is none), each once, in order.

    Example:
        >>> tags("fix #dns/home and #12 (#wlan), not a#b nor #00ff00")
        ('dns/home', 'wlan')
    """
    found = [name.rstrip("/-") for name in TAG.findall(text)]
    return tuple(dict.fromkeys(n for n in found if re.search(r"[^\W\d_]", n) and not COLOUR.fullmatch(n)))[:MAX_FOUND]


def closing(text: str) -> str:
    """The line that closes a fence or raw HTML left open at the end of a text; '' when nothing is open."""
    raw: _Raw | None = None
    for match in LINE.finditer(text):
        line = match.group()
        if raw is None:
            raw = _opened_by(line)
            raw = None if raw and not raw.fence and raw.is_closed_by(line) else raw
        elif raw.is_closed_by(line):
            raw = None
    return raw.end if raw else ""
