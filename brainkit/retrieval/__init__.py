"""A question -> a Recall: hybrid search in one statement, whole documents, settings that print as one string."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainkit.retrieval.evidence import Evidence, absolute_score
from brainkit.retrieval.recall import Recall, RecalledChunk, RecalledDocument
from brainkit.retrieval.searcher import Searcher
from brainkit.retrieval.settings import RetrievalSettings

if TYPE_CHECKING:
    from brainkit.retrieval.llama import FullDocumentPostprocessor, HybridRetriever

__all__ = [
    "Evidence",
    "FullDocumentPostprocessor",
    "HybridRetriever",
    "Recall",
    "RecalledChunk",
    "RecalledDocument",
    "RetrievalSettings",
    "Searcher",
    "absolute_score",
]


def __getattr__(name: str) -> Any:
    if name in {"FullDocumentPostprocessor", "HybridRetriever"}:  # LlamaIndex takes a second to import
        from brainkit.retrieval import llama

        return getattr(llama, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
