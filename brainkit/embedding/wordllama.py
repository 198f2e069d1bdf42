"""The fast embedder: WordLlama's static token vectors, averaged; no neural network runs.

Weights: the package wordllama (MIT), https://github.com/dleemiller/WordLlama. Its own loader looks for the tokenizer
in a folder that does not exist and then asks the network, so the two files are read here.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from llama_index.core.bridge.pydantic import Field
from numpy.typing import NDArray
from tokenizers import Tokenizer

from brainkit.embedding.packaged import packaged_file, verified
from brainkit.embedding.text import BLANK, clean, normalised
from brainkit.embedding.threaded import ThreadedEmbedding

NAME = "wordllama-l2-supercat-256"
DIMENSIONS = 256
WEIGHTS_SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
TOKENIZER_SHA256 = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
RECIPE = {"model": WEIGHTS_SHA256, "tokenizer": TOKENIZER_SHA256, "pooling": "mean", "blank": BLANK}
"""All that shapes the vectors, for the fingerprint."""


class _Engine(NamedTuple):
    table: NDArray[np.float32]
    tokenizer: Tokenizer


_LOADING = threading.Lock()


@lru_cache(maxsize=1)
def _load() -> _Engine:
    from safetensors.numpy import load

    weights = verified(packaged_file("wordllama", "weights/l2_supercat_256.safetensors"), WEIGHTS_SHA256)
    config = verified(packaged_file("wordllama", "tokenizers/l2_supercat_tokenizer_config.json"), TOKENIZER_SHA256)
    return _Engine(load(weights)["embedding.weight"].astype(np.float32), Tokenizer.from_str(config.decode()))


class WordLlamaEmbedding(ThreadedEmbedding):
    """WordLlama as a LlamaIndex embedding: 256 dimensions, L2-normalised, texts of any length, many hundreds a second.

    Raises:
        EmbeddingError: at the first text, when a file of the package is missing or its sha256 is wrong.

    Example:
        >>> WordLlamaEmbedding().embed(["hello"]).shape
        (1, 256)
    """

    model_name: str = Field(default=NAME)

    @classmethod
    def class_name(cls) -> str:
        """Name LlamaIndex serialises the class by."""
        return "WordLlamaEmbedding"

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        """L2-normalised vectors, ``[len(texts), 256]``."""
        with _LOADING:
            table, tokenizer = _load()
        encodings = tokenizer.encode_batch([clean(text) for text in texts], add_special_tokens=False)
        means = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, encoding in enumerate(encodings):
            means[row] = table[encoding.ids].mean(axis=0)
        return normalised(means)
