"""One function for all formats: a document's text in, chunks out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainkit.chunking.headed import HEADINGS, headed_sections
from brainkit.chunking.json import json_sections, pretty_json
from brainkit.chunking.pieces import merged, pieces
from brainkit.chunking.python import python_sections
from brainkit.chunking.section import Section, heading_of
from brainkit.chunking.yaml import yaml_sections
from brainkit.settings import CHUNK_CAP_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterable

WRITTEN_AS_MARKDOWN = frozenset({"csv", "html", "ipynb", "transcript"})
"""Formats that the readers convert to Markdown."""


@dataclass(frozen=True)
class Chunk:
    """A stretch of a document.

    Attributes:
        position: 0, 1, 2 ... in the document's order.
        heading: the headings, keys or definitions it stands under, outermost first, such as "Backups > Restore";
            at most 200 characters; empty when there are none.
        content: the text, word for word; at most ``CHUNK_CAP_CHARS`` characters. Where the beginning of a table, fence,
            block scalar or nested list is in an earlier chunk, the lines that say what it is (header and separator row,
            opening line, items above) are repeated in front.
    """

    position: int
    heading: str
    content: str


def chunk(
    content: str,
    format: str,  # noqa: A002 - the name of the field it comes from
    *,
    target: int = 1000,
    overlap: int = 200,
) -> list[Chunk]:
    r"""The chunks of a document, in order; none for a blank one.

    Each is a verbatim stretch of ``content`` (of JSON: of its pretty-printed text), behind the lines it repeats, and
    every character that is not blank is in one. ``format`` is one of ``brainkit.readers.Format``; what is unknown or
    cannot be parsed is text. Sections aim at ``target`` characters; the pieces of a longer one share up to
    ``overlap``. The time it takes is linear in the length.

    Example:
        >>> chunk("# DNS\n\nThe resolver is eule.\n", "markdown")
        [Chunk(position=0, heading='DNS', content='# DNS\n\nThe resolver is eule.')]
    """
    target = max(1, min(target, CHUNK_CAP_CHARS))
    text = content
    sections: Iterable[Section] = (Section(0, len(text), ()),)
    kind = "markdown" if format in WRITTEN_AS_MARKDOWN else format
    if kind in HEADINGS:
        sections = headed_sections(text, kind)
    elif kind == "yaml":
        sections = yaml_sections(text, target)
    elif kind == "python":
        sections = python_sections(text, target)
    elif kind == "json" and (pretty := pretty_json(content)) is not None:
        text, sections = pretty, json_sections(pretty, target)
    found = merged(pieces(text, sections, target, max(0, overlap), kind), target)
    return [Chunk(n, heading_of(p.path), p.lead + text[p.start : p.end]) for n, p in enumerate(found)]
