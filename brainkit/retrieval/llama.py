"""LlamaIndex over a brain: a retriever of chunks, and a postprocessor that turns chunks into whole documents."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

from brainkit.retrieval.recall import Recall, RecalledChunk

Contents = Callable[[Sequence[UUID]], dict[UUID, str]]


class HybridRetriever(BaseRetriever):
    """Chunks of a brain as LlamaIndex nodes, best first; made by ``Brain.as_retriever``.

    A node's id is the chunk's, which stays while the document's text does; ``ref_doc_id`` is the document's id, the
    score that of the fusion, and the metadata tell path, title, heading, cosine, ranks and channel.
    """

    def __init__(self, recall: Callable[[str], Recall], documents: Contents) -> None:
        self._recall = recall
        self._documents = documents
        super().__init__()

    def full_documents(self, max_documents: int = 2) -> FullDocumentPostprocessor:
        """A postprocessor that replaces the chunks of this retriever by their whole documents."""
        return FullDocumentPostprocessor(documents=self._documents, max_documents=max_documents)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(chunk) for chunk in self._recall(query_bundle.query_str).chunks]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class FullDocumentPostprocessor(BaseNodePostprocessor):
    """Whole documents in place of chunks: each document once, by its first chunk, never truncated.

    Nodes of documents that this brain does not hold are left out.

    Args:
        documents: gives whole texts by document id.
        max_documents: how many documents to give at most.
    """

    max_documents: int = Field(default=2, ge=1)
    _documents: Contents = PrivateAttr()

    def __init__(self, documents: Contents, max_documents: int = 2, **kwargs: Any) -> None:
        super().__init__(max_documents=max_documents, **kwargs)
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
        best: dict[UUID, NodeWithScore] = {}
        for node in nodes:
            with contextlib.suppress(ValueError):
                best.setdefault(UUID(node.node.ref_doc_id or ""), node)
        chosen = dict(list(best.items())[: self.max_documents])
        texts = self._documents(list(chosen))
        return [
            NodeWithScore(
                node=TextNode(id_=str(key), text=texts[key], metadata=_document_metadata(node.node.metadata)),
                score=node.score,
            )
            for key, node in chosen.items()
            if key in texts
        ]


def _document_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    return {name: metadata[name] for name in ("source", "path", "title") if name in metadata}


def _node(chunk: RecalledChunk) -> NodeWithScore:
    metadata = {
        "source": chunk.source,
        "path": chunk.document_path,
        "title": chunk.title,
        "heading": chunk.heading,
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
