"""Haystack with pgvector-haystack: embedding and keyword retriever, joined by reciprocal rank fusion."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

import numpy as np

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # before it is imported: it would report its use
from haystack import Document
from haystack.components.joiners import DocumentJoiner
from haystack.utils import Secret
from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever, PgvectorKeywordRetriever
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

from eval.benchmarks.common import Size, database_size
from eval.benchmarks.corpus import Piece
from eval.benchmarks.peers import POOL, Place, Way, documents

_BATCH = 1000
_EXACT = Way("Haystack, RRF")
_HNSW = Way("Haystack, RRF, HNSW", quality=False)


class HaystackPeer:
    """Both retrievers of pgvector-haystack; its HNSW index is built after the load, which is to its favour."""

    ways = (_EXACT, _HNSW)

    def __init__(self, place: Place) -> None:
        self._place = place

    def _open(self, strategy: Literal["exact_nearest_neighbor", "hnsw"]) -> PgvectorDocumentStore:
        return PgvectorDocumentStore(
            connection_string=Secret.from_token(self._place.conninfo),
            embedding_dimension=self._dimensions,
            search_strategy=strategy,
        )

    def load(self, pieces: Sequence[Piece], vectors: np.ndarray) -> None:
        """Write documents with their embeddings in batches."""
        self._dimensions = vectors.shape[1]
        store = self._open("exact_nearest_neighbor")
        for start in range(0, len(pieces), _BATCH):
            store.write_documents(
                [
                    Document(str(n), content=piece.text, embedding=vectors[n].tolist(), meta={"of": piece.document})
                    for n, piece in enumerate(pieces[start : start + _BATCH], start)
                ]
            )

    def use(self, way: Way) -> None:
        """Make the components, and the HNSW index if it is wanted."""
        store = self._open("hnsw" if way == _HNSW else "exact_nearest_neighbor")
        store.count_documents()  # makes the connection, and with it the index
        self._dense = PgvectorEmbeddingRetriever(document_store=store, top_k=POOL)
        self._sparse = PgvectorKeywordRetriever(document_store=store, top_k=POOL)
        self._joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion")

    def search(self, question: str, vector: np.ndarray, k: int) -> list[str]:
        """Both retrievers, then the joiner."""
        dense = self._dense.run(query_embedding=vector.tolist())["documents"]
        sparse = self._sparse.run(query=question)["documents"]
        joined = self._joiner.run(documents=[dense, sparse])["documents"]
        return documents([document.meta["of"] for document in joined], k)

    def size(self) -> Size:
        """Tables and indexes."""
        return database_size(self._place.conninfo)

    def close(self) -> None:
        """Its connections close with its objects."""


PEER = HaystackPeer
