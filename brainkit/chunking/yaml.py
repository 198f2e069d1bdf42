"""YAML by documents and keys; templated and invalid YAML too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from brainkit.chunking.outline import outline, outline_sections
from brainkit.chunking.section import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brainkit.chunking.outline import Line

ANCHOR_OR_TAG = re.compile(r"^[&!]\S+\s+")
DOCUMENT_START = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)


def yaml_sections(text: str, target: int) -> Iterator[Section]:
    """One section for each top-level key of each document, under ``kind/name`` where a document has them."""
    starts = sorted({0, *(match.start() for match in DOCUMENT_START.finditer(text))})
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        lines = outline(text, start, end)
        if lines and DOCUMENT_START.match(text, lines[0].start):
            lines = lines[1:]
        label = _label(text, lines)
        yield from outline_sections(text, lines, Section(start, end, (label,) if label else ()), target)


def _label(text: str, lines: list[Line]) -> str:
    """Such as ``Deployment/paperless``: what a Kubernetes object calls itself."""
    kind = name = ""
    inside: int | None = None  # indentation of metadata's own keys; 0 until the first of them
    for line in lines:
        if line.kind == "key" and line.indent == 0:
            inside = 0 if line.name == "metadata" else None
            kind = _value(text, line) if line.name == "kind" else kind
        elif line.kind == "key" and inside is not None:
            inside = inside or line.indent
            if line.name == "name" and line.indent == inside:
                name = name or _value(text, line)
    return f"{kind}/{name}" if kind and name else kind


def _value(text: str, line: Line) -> str:
    value = text[line.start : line.end].partition(":")[2].partition(" #")[0]
    return ANCHOR_OR_TAG.sub("", value.strip()).strip("\"'")[:100]
