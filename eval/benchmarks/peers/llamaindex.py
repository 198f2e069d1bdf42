"""LlamaIndex as it comes: PGVectorStore in hybrid mode, and QueryFusionRetriever over its dense and sparse modes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import BaseNode, NodeRelationship, QueryBundle, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import VectorStoreQueryMode
from llama_index.vector_stores.postgres import PGVectorStore

from eval.benchmarks.common import Size, database_size
from eval.benchmarks.corpus import Piece
from eval.benchmarks.peers import POOL, Place, Way, documents

_BATCH = 500
_HYBRID = Way("LlamaIndex, hybrid")
_FUSION = Way("LlamaIndex, fusion retriever")
_HYBRID_HNSW = Way("LlamaIndex, hybrid, HNSW", quality=False)
_FUSION_HNSW = Way("LlamaIndex, fusion retriever, HNSW", quality=False)
_HNSW = {"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 40, "hnsw_dist_method": "vector_cosine_ops"}


class LlamaIndexPeer:
    """The vector store of LlamaIndex on PostgreSQL; its HNSW index is built after the load, which is to its favour."""

    ways = (_HYBRID, _FUSION, _HYBRID_HNSW, _FUSION_HNSW)

    def __init__(self, place: Place) -> None:
        self._place = place
        self._store: PGVectorStore | None = None
        self._indexed = False

    def _open(self, dimensions: int, *, hnsw: bool) -> PGVectorStore:
        url = self._place.server.url(self._place.database)
        store = PGVectorStore.from_params(
            connection_string=url.replace("+psycopg:", "+psycopg2:"),  # its own choice; psycopg 3 fails with HNSW
            async_connection_string=url,
            table_name="notes",
            embed_dim=dimensions,
            hybrid_search=True,
            text_search_config="english",
            hnsw_kwargs=_HNSW if hnsw else None,
        )
        self._dimensions, self._indexed = dimensions, hnsw
        return store

    def load(self, pieces: Sequence[Piece], vectors: np.ndarray) -> None:
        """Add nodes with their embeddings in batches."""
        self._store = self._open(vectors.shape[1], hnsw=False)
        for start in range(0, len(pieces), _BATCH):
            nodes: list[BaseNode] = [
                TextNode(
                    id_=str(number),
                    text=piece.text,
                    embedding=vectors[number].tolist(),
                    relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=piece.document)},
                )
                for number, piece in enumerate(pieces[start : start + _BATCH], start)
            ]
            self._store.add(nodes)

    def use(self, way: Way) -> None:
        """Make the retriever, and the HNSW index if it is wanted."""
        assert self._store is not None
        if way in {_HYBRID_HNSW, _FUSION_HNSW} and not self._indexed:
            self._store = self._open(self._dimensions, hnsw=True)
            self._store._initialize()  # noqa: SLF001 - it would build the index at the first question
        index = VectorStoreIndex.from_vector_store(self._store, embed_model=MockEmbedding(self._dimensions))
        self._retriever: BaseRetriever
        if way in {_HYBRID, _HYBRID_HNSW}:
            self._retriever = index.as_retriever(
                vector_store_query_mode=VectorStoreQueryMode.HYBRID, similarity_top_k=POOL, sparse_top_k=POOL
            )
            return
        dense = index.as_retriever(similarity_top_k=POOL)
        sparse = index.as_retriever(vector_store_query_mode=VectorStoreQueryMode.SPARSE, similarity_top_k=POOL)
        self._retriever = QueryFusionRetriever(
            [dense, sparse],
            llm=MockLLM(),
            mode=FUSION_MODES.RECIPROCAL_RANK,
            num_queries=1,
            similarity_top_k=2 * POOL,
            use_async=False,
        )

    def search(self, question: str, vector: np.ndarray, k: int) -> list[str]:
        """Nodes in the order the retriever gives them."""
        nodes = self._retriever.retrieve(QueryBundle(question, embedding=vector.tolist()))
        return documents([str(node.node.ref_doc_id) for node in nodes], k)

    def size(self) -> Size:
        """Tables and indexes."""
        return database_size(self._place.conninfo)

    def close(self) -> None:
        """Dispose of the engines."""
        if self._store is not None:
            asyncio.run(self._store.close())


PEER = LlamaIndexPeer
