"""Documents into chunks: by headings, keys or definitions, word for word, none longer than the cap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainkit.chunking.chunk import Chunk, chunk

if TYPE_CHECKING:
    from brainkit.chunking.parsers import JsonChunker, MarkdownChunker, PythonChunker, TextChunker, YamlChunker

__all__ = ["Chunk", "JsonChunker", "MarkdownChunker", "PythonChunker", "TextChunker", "YamlChunker", "chunk"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # LlamaIndex takes a second to import: only for those who ask for a node parser
        from brainkit.chunking import parsers

        return getattr(parsers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
