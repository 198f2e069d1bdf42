"""From a question to its Recall: embed, search, group by document, measure the evidence."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

import numpy as np
from psycopg import sql

from brainkit.embedding import Embedder
from brainkit.errors import DimensionMismatchError, EmbeddingError
from brainkit.memory.links import LinkStore
from brainkit.retrieval.evidence import Evidence, absolute_score, measure
from brainkit.retrieval.expand import expanded
from brainkit.retrieval.filters import Filters
from brainkit.retrieval.hybrid import MOST_TERMS, Candidates, search
from brainkit.retrieval.late import CHUNKS, measure_late
from brainkit.retrieval.maxsim import MaxSim
from brainkit.retrieval.recall import Recall, RecalledChunk, RecalledDocument
from brainkit.retrieval.rerank import Asked, Endpoint, Mmr, Recency, Reranker
from brainkit.retrieval.settings import RetrievalSettings
from brainkit.retrieval.sweep import Pool, deepest
from brainkit.store import Database, DocumentStore, Term, VectorStore, question_terms
from brainkit.store.hnsw import index_state
from brainkit.store.nearby import Form, near_forms

REMEMBERED = 1024
"""Questions whose embedding is kept: the gate, the suggestions and an evaluation ask the same ones again."""
INDEX_SECONDS = 60.0
"""So often is looked whether the vectors have an index now."""
MOST_CHARS = 4_000
"""Characters of a question that are looked at: a pasted book is not a question."""
log = logging.getLogger(__name__)


class Searcher:
    """Answers questions with recalls, from one database with one embedder.

    Args:
        database: the brain's database.
        embedder: what embeds questions.
        vectors: the vectors of its model.
        documents: gives whole texts.
        rerank_url: address of a server for ``+rerank(...)``, "" for none.
        rerank_key: its bearer token, "" for none.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        vectors: VectorStore,
        documents: DocumentStore,
        *,
        rerank_url: str = "",
        rerank_key: str = "",
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._vectors = vectors
        self._documents = documents
        self._links = LinkStore(database)
        self._maxsim = MaxSim(embedder)
        self._rerank_server = (rerank_url, rerank_key)
        self._embedded: dict[str, np.ndarray] = {}
        self._lock = threading.Lock()
        self._index_width, self._look_again = 0, 0.0

    def recall(
        self,
        question: str,
        settings: RetrievalSettings,
        *,
        k: int,
        exclude: Collection[UUID] = (),
        vector: np.ndarray | None = None,
        filters: Filters | None = None,
    ) -> Recall:
        """Recall of one question.

        Args:
            question: any string; control characters count as spaces.
            settings: how to search.
            k: number of chunks to give.
            exclude: ids of documents treated as absent.
            vector: the question's embedding, if it is known already.
            filters: the only documents to look at.

        Raises:
            RetrievalSettingsError: a reranker of the settings cannot be had here.
            DatabaseError: the database does not answer.
        """
        started = time.perf_counter()
        text, vector, degraded = self._understood(question, vector)
        terms = question_terms(text)[:MOST_TERMS]
        look = partial(self._look, terms, vector, exclude=exclude, filters=filters)
        found = look(settings)
        if settings.mode != "dense":
            found = self._with_near_forms(terms, found, partial(look, settings))
        asked = _asked(text, terms, found, vector)
        return self._recalled(question, asked, found, found.chunks, settings, k, degraded, started, exclude, filters)

    def recall_each(self, question: str, settings: Sequence[RetrievalSettings], *, k: int) -> list[Recall]:
        """Recalls of one question under many settings, each as ``recall`` gives it, for little more than one search.

        ``latency_ms`` is a setting's own share, after what all share.

        Raises:
            RetrievalSettingsError: a reranker of the settings cannot be had here.
            DatabaseError: the database does not answer.
        """
        text, vector, degraded = self._understood(question, None)
        terms = question_terms(text)[:MOST_TERMS]
        look = partial(self._look, terms, vector)
        recalls: dict[int, Recall] = {}
        for widest, places in deepest(settings, indexed=self._width() > 0).items():
            plain = look(widest)
            near = self._with_near_forms(terms, plain, partial(look, widest))
            pools = {
                by_words: (found, Pool(found.chunks, embedded=vector is not None), _asked(text, terms, found, vector))
                for by_words, found in ((False, plain), (True, near))
            }
            for place in places:
                started, one = time.perf_counter(), settings[place]
                found, pool, asked = pools[one.mode != "dense"]
                recalls[place] = self._recalled(
                    question, asked, found, pool.fused(one), one, k, degraded, started
                )  # fmt: skip
        return [recalls[place] for place in range(len(settings))]

    def _understood(self, question: str, vector: np.ndarray | None) -> tuple[str, np.ndarray | None, str]:
        """The cleaned question, its embedding, and why it has none."""
        text, degraded = clean_question(question), ""
        if vector is None and text:
            try:
                vector = self._embed(text)
            except DimensionMismatchError:
                raise
            except EmbeddingError as error:
                degraded = f"searched by words only: {error}"
                log.warning("%s", degraded)
        return text, vector, degraded

    def _look(
        self,
        terms: list[Term],
        vector: np.ndarray | None,
        settings: RetrievalSettings,
        *,
        exclude: Collection[UUID] = (),
        filters: Filters | None = None,
        others: Mapping[int, Sequence[Form]] = {},
    ) -> Candidates:
        table, width = self._vectors.table, self._width()
        return search(self._database, terms, vector, table, settings, exclude, filters, others, width)

    def _with_near_forms(self, terms: list[Term], found: Candidates, look: Callable[..., Candidates]) -> Candidates:
        """Searched again with words that are near those of the question which no chunk holds, if there are any."""
        if not found.unknown:
            return found
        others = near_forms(self._database, {number: terms[number] for number in found.unknown})
        return look(others=others)._replace(unknown=found.unknown) if others else found

    def _recalled(
        self,
        question: str,
        asked: Asked,
        found: Candidates,
        chunks: list[RecalledChunk],
        settings: RetrievalSettings,
        k: int,
        degraded: str,
        started: float,
        exclude: Collection[UUID] = (),
        filters: Filters | None = None,
    ) -> Recall:
        """Reranked, grouped by document, with what measures the evidence."""
        for reranker in self.rerankers(settings):
            try:
                chunks = reranker(asked, chunks)
            except (ConnectionError, NotImplementedError) as error:
                degraded = "; ".join(filter(None, (degraded, f"not reranked: {error}")))
                log.warning("%s", degraded)
        documents = self._group(chunks, settings.top)
        if settings.expand and not filters:  # what a filter leaves out must not come back by a link
            documents = expanded(documents, self._links.linked, settings.expand, exclude)
        return Recall(
            question=question,
            chunks=tuple(chunks[:k]),
            documents=tuple(documents),
            measured=partial(self._measure, asked, chunks, found.idf, len(found.unknown)),
            settings=str(settings),
            weights=asked.weights,
            degraded=degraded,
            latency_ms=1000 * (time.perf_counter() - started),
        )

    def rerank(self, question: str, rerankers: str, chunks: Sequence[RecalledChunk]) -> list[RecalledChunk]:
        """Chunks in the order that the rerankers of a retrieval string give them, such as ``maxsim(10)+mmr(0.7)``.

        Raises:
            RetrievalSettingsError: the string does not parse, or a reranker cannot be had here.
            ConnectionError: the rerank server does not answer.
        """
        settings = RetrievalSettings.parse(f"lexical+{rerankers}")
        text = clean_question(question)
        terms = question_terms(text)[:MOST_TERMS]
        idf = search(self._database, terms, None, self._vectors.table, settings).idf
        asked = Asked(text, {term.text: idf.get(number, 0.0) for number, term in enumerate(terms)}, self._embed(text))
        found = list(chunks)
        for reranker in self.rerankers(settings):
            found = reranker(asked, found)
        return found

    def rerankers(self, settings: RetrievalSettings) -> list[Reranker]:
        """The rerankers that settings name, in the order in which they act.

        Raises:
            RetrievalSettingsError: one of them cannot be had here.
        """
        chosen: list[Reranker] = []
        if settings.maxsim:
            chosen.append(partial(self._late, first=settings.maxsim, weight=settings.maxsim_weight))
        if settings.rerank:
            url, key = self._rerank_server
            chosen.append(Endpoint(url, settings.rerank, settings.rerank_model, key))
        if settings.recency:
            chosen.append(Recency(settings.recency))
        if settings.mmr < 1:
            chosen.append(Mmr(settings.mmr, self._vectors_of))
        return chosen

    def _measure(
        self, asked: Asked, chunks: Sequence[RecalledChunk], idf: Mapping[int, float], unknown: int
    ) -> Evidence:
        """Evidence of all chunks, and the late evidence of the first if the embedder gives token vectors."""
        evidence, first = measure(chunks, idf, unknown), chunks[:CHUNKS]
        tokens = self._maxsim.question(asked.text) if first and asked.vector is not None else None
        if tokens is None:
            return evidence
        scores = [absolute_score(chunk.cosine, chunk.lexical_share) for chunk in first]
        late = measure_late(
            asked.text, tokens.texts, tokens.vectors, asked.weights, self._maxsim.vectors(first), scores
        )
        return replace(evidence, **late._asdict())

    def _width(self) -> int:
        """How wide to search the approximate index; it may be built at any time, by this process or another."""
        if time.monotonic() >= self._look_again:
            self._index_width = index_state(self._database, self._vectors).width
            self._look_again = time.monotonic() + INDEX_SECONDS
        return self._index_width

    def _late(
        self, asked: Asked, chunks: Sequence[RecalledChunk], /, *, first: int, weight: float
    ) -> list[RecalledChunk]:
        if asked.vector is None:  # the embedder is down
            return list(chunks)
        return self._maxsim.rerank(asked.text, asked.weights, chunks, first, weight)

    def _vectors_of(self, chunk_ids: Sequence[int]) -> dict[int, np.ndarray]:
        query = sql.SQL("select chunk_id, embedding from {} where chunk_id = any(%s)").format(self._vectors.table)
        with self._database.connection() as connection:
            rows = connection.execute(
                query, (list(chunk_ids),), binary=True
            )  # as text they take longer than the search
            return {key: vector.to_numpy() for key, vector in rows}

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

    def _group(self, chunks: list[RecalledChunk], top: int) -> list[RecalledDocument]:
        """Documents in order of the sum of their ``top`` best chunks; scores below zero count as zero beside others."""
        if top == 1:
            first: dict[UUID, RecalledChunk] = {}
            for chunk in chunks:
                first.setdefault(chunk.document_id, chunk)
            return [
                RecalledDocument(c.document_id, c.source, c.document_path, c.title, c.score, self._load)
                for c in first.values()
            ]
        best: dict[UUID, list[RecalledChunk]] = {}
        for chunk in chunks:
            best.setdefault(chunk.document_id, []).append(chunk)
        documents = [
            RecalledDocument(
                c.document_id,
                c.source,
                c.document_path,
                c.title,
                c.score + sum(max(other.score, 0.0) for other in more[: top - 1]),
                self._load,
            )
            for c, *more in best.values()
        ]
        return sorted(documents, key=lambda document: -document.score)

    def _load(self, key: UUID) -> str:
        return self._documents.contents([key]).get(key, "")


def _asked(text: str, terms: Sequence[Term], found: Candidates, vector: np.ndarray | None) -> Asked:
    return Asked(text, {term.text: found.idf.get(number, 0.0) for number, term in enumerate(terms)}, vector)


def clean_question(question: str) -> str:
    """A question as PostgreSQL and embedders can take it: no NUL, no lone surrogate, no other control character."""
    text = question[:MOST_CHARS].encode("utf-8", "replace").decode("utf-8")
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
