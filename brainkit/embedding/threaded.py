"""A LlamaIndex embedding that has one way to embed, a list of texts at once; async calls run it in a thread."""

from __future__ import annotations

import asyncio

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding, Embedding
from numpy.typing import NDArray


class ThreadedEmbedding(BaseEmbedding):
    """Base of brainkit's own LlamaIndex embeddings; subclasses write :meth:`embed`."""

    # Not marked abstract: LlamaIndex traces every overridden abstract method, and its two spans around this suffice.
    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        """L2-normalised vectors of texts, one row each."""
        raise NotImplementedError

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """L2-normalised vector of a question; that of a document unless a model tells the two apart."""
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector

    def _get_query_embedding(self, query: str) -> Embedding:
        return [float(x) for x in self.embed_question(query)]

    def _get_text_embedding(self, text: str) -> Embedding:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        rows: list[Embedding] = self.embed(texts).tolist()
        return rows

    async def _aget_query_embedding(self, query: str) -> Embedding:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> Embedding:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)
