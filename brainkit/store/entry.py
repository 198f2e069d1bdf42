"""A document made ready for the tables: its language found, its chunks turned into rows; needs no database."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final, NamedTuple, cast

from brainkit.chunking import Chunk
from brainkit.readers import Document
from brainkit.store.lexicon import tsvector_literal
from brainkit.store.terms import Language, detect_language, document_terms
from brainkit.store.vectors import embedding_text, text_hash

_PROSE: Final = frozenset({"markdown", "text", "html", "rst", "org", "transcript", "ipynb"})


class Entry(NamedTuple):
    """A document with what is indexed of it.

    Attributes:
        document: the document.
        language: the language its words are stemmed in.
        chunks: its chunks with their lexemes, as the JSON array that the store unpacks.
    """

    document: Document
    language: Language
    chunks: str


def make_entry(document: Document, chunks: Iterable[Chunk]) -> Entry:
    """The entry of a document; title and headings count for a chunk's words, as they do for its vector."""
    found = document.language or detect_language(document.content, prose=document.format in _PROSE)
    language = cast("Language", found)
    rows = []
    for chunk in chunks:
        text = embedding_text(document.title, chunk.heading, chunk.content)
        terms = document_terms(text, language)
        rows.append(
            {
                "position": chunk.position,
                "heading": chunk.heading,
                "content": chunk.content,
                "content_hash": text_hash(text),
                "length": len(terms),
                "tsv": tsvector_literal(terms),
            }
        )
    return Entry(document, language, json.dumps(rows, ensure_ascii=False))
