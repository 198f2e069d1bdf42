"""A question -> a Recall: hybrid search in one statement, whole documents, settings that print as one string."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainkit.retrieval.context import ContextDocument, context_documents
from brainkit.retrieval.evidence import Evidence, absolute_score
from brainkit.retrieval.filters import Filters
from brainkit.retrieval.recall import Recall, RecalledChunk, RecalledDocument
from brainkit.retrieval.searcher import Searcher
from brainkit.retrieval.settings import RetrievalSettings

if TYPE_CHECKING:
    from brainkit.retrieval.llama import ChunkReranker, FullDocumentPostprocessor, HybridRetriever

__all__ = [
    "ChunkReranker",
    "ContextDocument",
    "Evidence",
    "Filters",
    "FullDocumentPostprocessor",
    "HybridRetriever",
    "Recall",
    "RecalledChunk",
    "RecalledDocument",
    "RetrievalSettings",
    "Searcher",
    "absolute_score",
    "context_documents",
]


def __getattr__(name: str) -> Any:
    if name in {"ChunkReranker", "FullDocumentPostprocessor", "HybridRetriever"}:  # LlamaIndex takes a second to import
        from brainkit.retrieval import llama

        return getattr(llama, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
