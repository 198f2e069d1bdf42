"""From a question to its Recall: embed, search, group by document, measure the evidence."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection
from uuid import UUID

import numpy as np

from brainkit.embedding import Embedder
from brainkit.errors import DimensionMismatchError, EmbeddingError
from brainkit.retrieval.evidence import measure
from brainkit.retrieval.hybrid import search
from brainkit.retrieval.maxsim import MaxSim
from brainkit.retrieval.recall import Recall, RecalledChunk, RecalledDocument
from brainkit.retrieval.settings import RetrievalSettings
from brainkit.store import Database, DocumentStore, VectorStore, question_terms

REMEMBERED = 1024
"""Questions whose embedding is kept: the gate, the suggestions and an evaluation ask the same ones again."""
MOST_CHARS = 20_000
"""Characters of a question that are looked at: a pasted book is not a question."""
log = logging.getLogger(__name__)


class Searcher:
    """Answers questions with recalls, from one database with one embedder."""

    def __init__(self, database: Database, embedder: Embedder, vectors: VectorStore, documents: DocumentStore) -> None:
        self._database = database
        self._embedder = embedder
        self._vectors = vectors
        self._documents = documents
        self._maxsim = MaxSim(embedder)
        self._embedded: dict[str, np.ndarray] = {}
        self._lock = threading.Lock()

    def recall(
        self,
        question: str,
        settings: RetrievalSettings,
        *,
        k: int,
        exclude: Collection[UUID] = (),
        vector: np.ndarray | None = None,
    ) -> Recall:
        """Recall of one question.

        Args:
            question: any string; control characters count as spaces.
            settings: how to search.
            k: number of chunks to give.
            exclude: ids of documents treated as absent.
            vector: the question's embedding, if it is known already.
        """
        started = time.perf_counter()
        text = clean_question(question)
        degraded = ""
        if vector is None and text:
            try:
                vector = self._embed(text)
            except DimensionMismatchError:
                raise
            except EmbeddingError as error:
                degraded = f"searched by words only: {error}"
                log.warning("%s", degraded)
        terms = question_terms(text)
        found = search(self._database, terms, vector, self._vectors.table, settings, exclude)
        weights = {term.text: found.idf.get(number, 0.0) for number, term in enumerate(terms)}
        chunks = found.chunks
        if settings.maxsim and vector is not None:
            chunks = self._maxsim.rerank(text, weights, chunks, settings.maxsim, settings.maxsim_weight)
        return Recall(
            question=question,
            chunks=tuple(chunks[:k]),
            documents=tuple(self._group(chunks)),
            evidence=measure(found.chunks, found.idf, found.unknown),
            settings=str(settings),
            weights=weights,
            degraded=degraded,
            latency_ms=1000 * (time.perf_counter() - started),
        )

    def _embed(self, text: str) -> np.ndarray:
        """The question's embedding; asked again within the next hundreds of questions, it is not computed again."""
        vector = self._embedded.get(text)
        if vector is None:
            vector = self._embedder.embed_query(text)
            with self._lock:
                while len(self._embedded) >= REMEMBERED:
                    del self._embedded[next(iter(self._embedded))]
                self._embedded[text] = vector
        return vector

    def _group(self, chunks: list[RecalledChunk]) -> list[RecalledDocument]:
        """Documents by their best chunk, in order."""
        best: dict[UUID, RecalledChunk] = {}
        for chunk in chunks:
            best.setdefault(chunk.document_id, chunk)
        return [
            RecalledDocument(c.document_id, c.source, c.document_path, c.title, c.score, self._load)
            for c in best.values()
        ]

    def _load(self, key: UUID) -> str:
        return self._documents.contents([key]).get(key, "")


def clean_question(question: str) -> str:
    """A question as PostgreSQL and embedders can take it: no NUL, no lone surrogate, no other control character."""
    text = question[:MOST_CHARS].encode("utf-8", "replace").decode("utf-8")
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
