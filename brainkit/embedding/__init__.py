"""Embedding: text becomes vectors, by a packaged model or by a server, always checked and always with a fingerprint.

Names are imported when first used: llama-index and ONNX Runtime cost a second, and a command that embeds nothing
should not pay it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brainkit.embedding.embedder import Embedder, EmbedResult
    from brainkit.embedding.factory import make_embedder
    from brainkit.embedding.identity import ModelIdentity
    from brainkit.embedding.minilm import MiniLMEmbedding, TokenVectors
    from brainkit.embedding.wordllama import WordLlamaEmbedding

__all__ = [
    "EmbedResult",
    "Embedder",
    "MiniLMEmbedding",
    "ModelIdentity",
    "TokenVectors",
    "WordLlamaEmbedding",
    "make_embedder",
]

_HOME = {
    "EmbedResult": "embedder",
    "Embedder": "embedder",
    "MiniLMEmbedding": "minilm",
    "ModelIdentity": "identity",
    "TokenVectors": "minilm",
    "WordLlamaEmbedding": "wordllama",
    "make_embedder": "factory",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return __all__
