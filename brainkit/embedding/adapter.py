"""A checked embedder as a LlamaIndex embedding, for indexes and query engines built with LlamaIndex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from llama_index.core.bridge.pydantic import PrivateAttr
from numpy.typing import NDArray

from brainkit.embedding.threaded import ThreadedEmbedding
from brainkit.errors import EmbeddingError

if TYPE_CHECKING:
    from brainkit.embedding.embedder import Embedder


class EmbedderEmbedding(ThreadedEmbedding):
    """The vectors of an :class:`Embedder`; made by its ``base``."""

    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(model_name=embedder.name)
        self._embedder = embedder

    @classmethod
    def class_name(cls) -> str:
        """Name LlamaIndex serialises the class by."""
        return "EmbedderEmbedding"

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        """Vectors of documents.

        Raises:
            EmbeddingError: a text cannot be embedded; LlamaIndex has no place for a missing vector.
        """
        vectors, failures = self._embedder.embed_documents(texts)
        for index, reason in failures.items():
            raise EmbeddingError(f"Text {index} of {len(texts)} cannot be embedded: {reason}.")
        return vectors

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Vector of a question."""
        return self._embedder.embed_query(text)
