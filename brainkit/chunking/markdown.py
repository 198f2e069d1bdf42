"""Markdown by headings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainkit.chunking.section import Section
from brainkit.readers import blocks, front_matter_end

if TYPE_CHECKING:
    from collections.abc import Iterator


def markdown_sections(text: str) -> Iterator[Section]:
    """The front matter, what precedes the first heading, then one section for each heading with its text."""
    start = front_matter_end(text)
    if start:
        yield Section(0, start, ())
    open_headings: list[tuple[int, str]] = []
    path: tuple[str, ...] = ()
    for block in blocks(text):
        if not block.title:
            continue
        if block.start > start:
            yield Section(start, block.start, path)
        start = block.start
        while open_headings and open_headings[-1][0] >= block.level:
            open_headings.pop()
        open_headings.append((block.level, block.title))
        path = tuple(title for _, title in open_headings)
    if start < len(text):
        yield Section(start, len(text), path)
