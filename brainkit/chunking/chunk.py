"""One function for all formats: a document's text in, chunks out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainkit.chunking.json import json_sections, pretty_json
from brainkit.chunking.markdown import markdown_sections
from brainkit.chunking.pieces import merged, pieces
from brainkit.chunking.python import python_sections
from brainkit.chunking.section import Section, heading_of
from brainkit.chunking.yaml import yaml_sections
from brainkit.settings import CHUNK_CAP_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Chunk:
    """A stretch of a document.

    Attributes:
        position: 0, 1, 2 ... in the document's order.
        heading: the headings, keys or definitions it stands under, outermost first, such as "Backups > Restore";
            at most 200 characters; empty when there are none.
        content: the text, word for word; at most ``CHUNK_CAP_CHARS`` characters.
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

    Each is a verbatim stretch of ``content`` (of JSON: of its pretty-printed text), and every character that is not
    blank is in one. ``format`` is markdown, yaml, json or python; all else, and what cannot be parsed, is text.
    Sections aim at ``target`` characters; the pieces of a longer one share up to ``overlap``. The time it takes is
    linear in the length.

    Example:
        >>> chunk("# DNS\n\nThe resolver is eule.\n", "markdown")
        [Chunk(position=0, heading='DNS', content='# DNS\n\nThe resolver is eule.')]
    """
    target = max(1, min(target, CHUNK_CAP_CHARS))
    text = content
    sections: Iterable[Section] = (Section(0, len(text), ()),)
    if format == "markdown":
        sections = markdown_sections(text)
    elif format == "yaml":
        sections = yaml_sections(text, target)
    elif format == "python":
        sections = python_sections(text, target)
    elif format == "json" and (pretty := pretty_json(content)) is not None:
        text, sections = pretty, json_sections(pretty, target)
    found = merged(pieces(text, sections, target, max(0, overlap)), target)
    return [Chunk(n, heading_of(part.path), text[part.start : part.end]) for n, part in enumerate(found)]
