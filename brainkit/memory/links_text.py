"""Links as a note writes them: wikilinks, Markdown links, front matter, reStructuredText and Org."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote

from brainkit.readers import front_matter_end
from brainkit.readers.frontmatter import front_matter_values
from brainkit.readers.markdown import WIKILINK, prose

LINKS_VERSION: Final = 1
"""Goes up when the same text would give other links; all documents are then read anew."""
MOST: Final = 5_000
"""Links of one document that are kept."""
MOST_CHARS: Final = 300
KEYS: Final = ("related", "links", "parent", "up")
"""Keys of a front matter that name other notes."""
_MARKDOWN: Final = re.compile(
    r"(?<!!)\[[^\[\]\n]{0,500}\]\((?:<([^<>\n]{1,500})>|([^()<>\s]{1,500}(?:\([^()\s]{0,100}\)[^()<>\s]{0,200})?))"
    r"(?:\s{1,9}[\"'][^\n\"']{0,200}[\"'])?\)"
)
_DEFINITION: Final = re.compile(r"^ {0,3}\[([^\[\]^\n]{1,200})\]:[ \t]*<?([^<>\s]{1,500})>?", re.MULTILINE)
_LABEL: Final = re.compile(r"(?<!!)\[([^\[\]\n]{1,200})\](?!:)")
_ESCAPED: Final = re.compile(r"\\[\[\]]")
_ORG: Final = re.compile(r"\[\[(?:file:)?([^\[\]\n]{1,300})\](?:\[[^\[\]\n]{0,300}\])?\]")
_ORG_CODE: Final = re.compile(
    r"^[ \t]*#\+begin_(src|example)\b.*?^[ \t]*#\+end_\1\b",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_RST: Final = re.compile(
    r":(?:doc|download):`(?:[^`<>\n]{0,300}<)?([^`<>\n]{1,300})>?`|`[^`<>\n]{1,300}<([^`<>\n]{1,300})>`__?"
)
_ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
_NO_NOTE: Final = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|bmp|ico|avif|heic|pdf|mp[34]|m4[av]|wav|ogg|flac|mov|webm|mkv|zip|gz|tar|css|js|woff2?)$",
    re.IGNORECASE,
)


class Written(NamedTuple):
    """A link as it stands in a note.

    Attributes:
        kind: wikilink, embed, markdown, frontmatter, rst or org.
        target: the note it names, or a path relative to the note's folder (from the root with a leading ``/``).
        heading: heading or block in the target; '' for the whole.
    """

    kind: str
    target: str
    heading: str = ""


def written_links(content: str, kind: str) -> list[Written]:
    """Links to other notes in a document's text, each once, in order; those in code, to hosts and to media are none.

    Args:
        content: the whole text with its front matter.
        kind: its format.

    Example:
        >>> written_links("see [[DNS#Records|it]] and [mail](../my%20mail.md#imap), not `[[x]]`", "markdown")
        [Written(kind='wikilink', target='DNS', heading='Records'), \
Written(kind='markdown', target='../my mail.md', heading='imap')]
    """
    if kind == "org":
        found = _org(content)
    elif kind == "rst":
        found = _path_links("rst", (one or other for one, other in _RST.findall(content)))
    elif kind in {"markdown", "text", "html", "ipynb", "transcript"}:
        found = _all_of(content)
    else:
        return []
    kept: dict[Written, None] = {}
    for link in found:
        clean = Written(link.kind, link.target.strip(), link.heading.strip())
        fits = clean.target and len(clean.target) <= MOST_CHARS and len(clean.heading) <= MOST_CHARS
        if fits and (clean.target + clean.heading).isprintable() and not _NO_NOTE.search(clean.target):
            kept[clean] = None
        if len(kept) >= MOST:
            break
    return list(kept)


def _all_of(content: str) -> Iterator[Written]:
    end = front_matter_end(content)
    if end:
        values = front_matter_values(content[:end])
        for key in KEYS:
            for text in _texts(values.get(key)):
                inner = list(_inline(text))
                names = [] if inner else (part.strip() for part in text.split(","))
                yield from (Written("frontmatter", link.target, link.heading) for link in inner)
                yield from (Written("frontmatter", name) for name in names if not _ELSEWHERE.match(name))
    yield from _inline(_ESCAPED.sub(" ", prose(content)))


def _inline(text: str) -> Iterator[Written]:
    for embed, target, rest in WIKILINK.findall(text):
        # In a table the bar is escaped; both note#heading|alias and note|alias#heading are in use.
        heading = rest.replace("\\|", "|").partition("|")[0].lstrip("#")
        yield Written("embed" if embed else "wikilink", target.removesuffix("\\"), heading)
    yield from _path_links("markdown", (one or other for one, other in _MARKDOWN.findall(text)))
    defined = {label.casefold(): target for label, target in _DEFINITION.findall(text)}
    if defined:
        used = {label.casefold() for label in _LABEL.findall(text)}
        yield from _path_links("markdown", (target for label, target in defined.items() if label in used))


def _path_links(kind: str, targets: Iterator[str]) -> Iterator[Written]:
    for written in targets:
        if not _ELSEWHERE.match(written):
            target, _, heading = unquote(written).partition("#")
            yield Written(kind, target.partition("?")[0], heading)


def _org(content: str) -> Iterator[Written]:
    for written in _ORG.findall(_ORG_CODE.sub("", content)):
        if not re.match(r"[a-z][a-z0-9+-]*:|[#*]", written, re.IGNORECASE):
            target, _, heading = written.partition("::")
            yield Written("org", target, heading.lstrip("*#"))


def _texts(value: object) -> Iterator[str]:
    """Texts in a value; ``[[x]]`` without quotes is a list in a list to YAML."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
