"""LlamaIndex over a brain: a retriever of chunks, and postprocessors that rerank them or give whole documents."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import MetadataFilters

from brainkit.errors import UsageError
from brainkit.retrieval.context import collapse, sections
from brainkit.retrieval.filters import Filters
from brainkit.retrieval.metadata import filters_of
from brainkit.retrieval.recall import Recall, RecalledChunk

Contents = Callable[[Sequence[UUID]], dict[UUID, str]]
Rerank = Callable[[str, str, Sequence[RecalledChunk]], list[RecalledChunk]]
"""Question, rerankers as in a retrieval string, chunks -> chunks in their new order: ``Searcher.rerank``."""


class HybridRetriever(BaseRetriever):
    """Chunks of a brain as LlamaIndex nodes, best first; made by ``Brain.as_retriever``.

    A node's id is the chunk's, which stays while the document's text does; ``ref_doc_id`` is the document's id, the
    score that of the fusion, and the metadata tell path, title, heading, time, cosine, ranks and channel.

    Args:
        recall: gives the recall of a question; with filters it is called with ``filters=`` too.
        documents: gives whole texts by document id.
        rerank: reranks chunks; without it there is no ``reranker``.
        filters: the only documents to look at; LlamaIndex's own filters are translated.
    """

    def __init__(
        self,
        recall: Callable[..., Recall],
        documents: Contents,
        rerank: Rerank | None = None,
        filters: Filters | MetadataFilters | None = None,
    ) -> None:
        self._recall = recall
        self._documents = documents
        self._rerank = rerank
        self._filters = filters_of(filters) if isinstance(filters, MetadataFilters) else filters
        super().__init__()

    def full_documents(self, max_documents: int = 2, *, compress: bool = False) -> FullDocumentPostprocessor:
        """A postprocessor that replaces the chunks of this retriever by their whole documents."""
        return FullDocumentPostprocessor(self._documents, max_documents=max_documents, compress=compress)

    def reranker(self, rerankers: str) -> ChunkReranker:
        """A postprocessor that reranks chunks, by rerankers as in a retrieval string: ``maxsim(10)+recency(180d)``.

        Raises:
            UsageError: this retriever was made without a way to rerank.
        """
        if self._rerank is None:
            raise UsageError("this retriever cannot rerank: take that of Brain.as_retriever()")
        return ChunkReranker(self._rerank, rerankers=rerankers)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        more = {"filters": self._filters} if self._filters else {}
        return [chunk_node(chunk) for chunk in self._recall(query_bundle.query_str, **more).chunks]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class ChunkReranker(BaseNodePostprocessor):
    """The rerankers of a retrieval string as a postprocessor; it takes the nodes of a ``HybridRetriever`` only.

    Args:
        rerank: what reranks chunks.
        rerankers: such as ``maxsim(10)+recency(180d)``.
    """

    rerankers: str
    _rerank: Rerank = PrivateAttr()

    def __init__(self, rerank: Rerank, rerankers: str, **kwargs: Any) -> None:
        super().__init__(rerankers=rerankers, **kwargs)
        self._rerank = rerank

    @classmethod
    def class_name(cls) -> str:
        """Name in LlamaIndex's registry."""
        return "ChunkReranker"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise UsageError("reranking needs the question: call postprocess_nodes(nodes, query_str=...)")
        by_id = {node.node.node_id: node for node in nodes}
        found = self._rerank(query_bundle.query_str, self.rerankers, [_chunk(node) for node in nodes])
        return [NodeWithScore(node=by_id[str(chunk.chunk_id)].node, score=chunk.score) for chunk in found]


class FullDocumentPostprocessor(BaseNodePostprocessor):
    """Whole documents in place of chunks: each document once, by its first chunk, never truncated.

    Of documents that say almost the same the first is given, and ``also`` in its metadata names the others. Nodes of
    documents that this brain does not hold are left out.

    Args:
        documents: gives whole texts by document id.
        max_documents: how many documents to give at most.
        compress: give only the found sections of each document, for models with a small window; ``compressed`` in the
            metadata says so.
    """

    max_documents: int = Field(default=2, ge=1)
    compress: bool = Field(default=False)
    _documents: Contents = PrivateAttr()

    def __init__(self, documents: Contents, max_documents: int = 2, compress: bool = False, **kwargs: Any) -> None:
        super().__init__(max_documents=max_documents, compress=compress, **kwargs)
        self._documents = documents

    @classmethod
    def class_name(cls) -> str:
        """Name in LlamaIndex's registry."""
        return "FullDocumentPostprocessor"

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,  # noqa: ARG002 - LlamaIndex's signature
    ) -> list[NodeWithScore]:
        found: dict[UUID, list[NodeWithScore]] = {}
        for node in nodes:
            with contextlib.suppress(ValueError):
                found.setdefault(UUID(node.node.ref_doc_id or ""), []).append(node)
        texts = self._documents(list(found))
        held = [key for key in found if key in texts]
        given = collapse(held, texts.__getitem__, self.max_documents)
        return [self._document(key, found[key], texts[key], [found[other][0] for other in also]) for key, also in given]

    def _document(self, key: UUID, nodes: list[NodeWithScore], text: str, copies: list[NodeWithScore]) -> NodeWithScore:
        metadata = _document_metadata(nodes[0].node.metadata)
        if copies:
            metadata["also"] = [copy.node.metadata.get("path", "") for copy in copies]
        if self.compress:
            pieces = [(n.node.metadata.get("heading", ""), n.node.get_content()) for n in sorted(nodes, key=_place)]
            shorter = sections(pieces)
            if len(shorter) < len(text.strip()):
                text, metadata["compressed"] = shorter, True
        return NodeWithScore(node=TextNode(id_=str(key), text=text, metadata=metadata), score=nodes[0].score)


def _place(node: NodeWithScore) -> int:
    """Chunks of a document have ascending ids."""
    return int(node.node.node_id) if node.node.node_id.isdecimal() else 0


def _document_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    return {name: metadata[name] for name in ("source", "path", "title") if name in metadata}


def chunk_node(chunk: RecalledChunk) -> NodeWithScore:
    """A found chunk as LlamaIndex sees it."""
    metadata = {
        "source": chunk.source,
        "path": chunk.document_path,
        "title": chunk.title,
        "heading": chunk.heading,
        "ts": chunk.ts.isoformat() if chunk.ts else None,
        "cosine": chunk.cosine,
        "dense_rank": chunk.dense_rank,
        "lexical_rank": chunk.lexical_rank,
        "channel": chunk.channel,
    }
    hidden = [name for name in metadata if name not in {"path", "heading"}]
    node = TextNode(
        id_=str(chunk.chunk_id),
        text=chunk.text,
        metadata=metadata,
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=hidden,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=str(chunk.document_id))},
    )
    return NodeWithScore(node=node, score=chunk.score)


def _chunk(node: NodeWithScore) -> RecalledChunk:
    """The chunk a node was made of."""
    data = node.node.metadata
    try:
        return RecalledChunk(
            chunk_id=int(node.node.node_id),
            document_id=UUID(node.node.ref_doc_id or ""),
            source=data["source"],
            document_path=data["path"],
            title=data["title"],
            heading=data["heading"],
            text=node.node.get_content(),
            cosine=data["cosine"],
            dense_rank=data["dense_rank"],
            lexical_rank=data["lexical_rank"],
            lexical_share=0.0,
            score=node.score or 0.0,
            ts=datetime.fromisoformat(data["ts"]) if data["ts"] else None,
        )
    except (KeyError, ValueError):
        raise UsageError(f"node {node.node.node_id!r} is no chunk of a brain: rerank what its retriever gave") from None
