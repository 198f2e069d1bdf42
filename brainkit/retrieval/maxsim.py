"""Late interaction: rerank the first chunks token by token, with the embedder's own token vectors (ColBERT's MaxSim).

Source: Khattab and Zaharia 2020, arXiv:2004.12832. Here the tokens are weighted by inverse document frequency, and
what matches close together counts beside what matches anywhere in the chunk: a long chunk has a match for every word.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from brainkit.retrieval.late import fold
from brainkit.retrieval.recall import RecalledChunk
from brainkit.store.vectors import embedding_text

if TYPE_CHECKING:  # LlamaIndex takes a second to import
    from brainkit.embedding import Embedder, TokenVectors

FUNCTION_WORD: Final = 0.05
"""idf of a question's token that is no term: stop words and punctuation hardly count."""
ANYWHERE: Final = 1 / 3
CLOSE: Final = 1 / 2
SPAN: Final = 1 / 6
"""Shares of the three parts of a late interaction."""
CLOSE_TOKENS: Final = 16
SPAN_TOKENS: Final = 8
CACHE_BYTES: Final = 192 * 2**20
"""Memory for token vectors, about 1,000 chunks of MiniLM."""


class Tokens(NamedTuple):
    """Wordpieces of a question (of a chunk they are not kept) and the vectors of a text [tokens, d]."""

    texts: list[str]
    vectors: np.ndarray


class MaxSim:
    """Reranks chunks; keeps the token vectors of what it saw last. Safe to use from several threads."""

    def __init__(self, embedder: Embedder, cache_bytes: int = CACHE_BYTES) -> None:
        self._embedder = embedder
        self._most = cache_bytes
        self._held = 0
        self._cache: OrderedDict[int | str, Tokens] = OrderedDict()
        self._lock = threading.Lock()

    def rerank(
        self, question: str, weights: Mapping[str, float], chunks: Sequence[RecalledChunk], first: int, weight: float
    ) -> list[RecalledChunk]:
        """Chunks in their new order: each of the first gets ``weight`` times its late interaction added to its score.

        Args:
            question: what was asked.
            weights: idf of the question's words.
            chunks: best first.
            first: how many of them to look at.
            weight: of the late interaction, which is -1..1.

        Raises:
            NotImplementedError: the embedder has no token vectors.
        """
        top = list(chunks[:first])
        asked = self.question(question)
        if asked is None:
            raise NotImplementedError(f"maxsim needs token vectors, which {self._embedder.name} does not give")
        if not top or not asked.texts:
            return list(chunks)
        importance = _token_weights(asked.texts, weights)
        late = [late_interaction(asked.vectors, vectors, importance) for vectors in self.vectors(top)]
        scored = [
            replace(chunk, score=chunk.score + weight * value, late=value)
            for chunk, value in zip(top, late, strict=True)
        ]
        return sorted([*scored, *chunks[first:]], key=lambda chunk: (-chunk.score, chunk.chunk_id))

    def question(self, text: str) -> Tokens | None:
        """A question's wordpieces and their vectors; None if the embedder does not give any."""
        with self._lock:
            if known := self._known(text):
                return known
        found = self._embedder.token_vectors([text])
        if found is None:
            return None
        tokens = Tokens(found[0].tokens, found[0].vectors)
        self._keep({text: tokens})
        return tokens

    def vectors(self, chunks: Sequence[RecalledChunk]) -> list[np.ndarray]:
        """Token vectors [t, d] of each chunk, float16; of an embedder that gives them."""
        with self._lock:
            known = {c.chunk_id: tokens for c in chunks if (tokens := self._known(c.chunk_id))}
        missing = [c for c in chunks if c.chunk_id not in known]
        if missing:
            texts = [embedding_text(c.title, c.heading, c.text) for c in missing]
            found: list[TokenVectors] = self._embedder.token_vectors(texts) or []
            new = {c.chunk_id: Tokens([], f.vectors.astype(np.float16)) for c, f in zip(missing, found, strict=True)}
            known |= new
            self._keep(new)
        return [known[c.chunk_id].vectors for c in chunks]

    def _known(self, key: int | str) -> Tokens | None:
        if key in self._cache:
            self._cache.move_to_end(key)
        return self._cache.get(key)

    def _keep(self, new: Mapping[Any, Tokens]) -> None:
        with self._lock:
            for key, tokens in new.items():
                if key not in self._cache:
                    self._cache[key] = tokens
                    self._held += tokens.vectors.nbytes
            while self._held > self._most and self._cache:
                self._held -= self._cache.popitem(last=False)[1].vectors.nbytes


def late_interaction(question: np.ndarray, chunk: np.ndarray, importance: np.ndarray) -> float:
    """How well a chunk answers token by token, -1..1; 0 for an empty chunk.

    A weighted sum of: the mean over the question's tokens of their best match anywhere in the chunk; the same within
    the best stretch of 16 tokens; the cosine of the whole question, its mean vector, with the best stretch of 8.

    Args:
        question: token vectors [n, d] of length 1, n > 0.
        chunk: the chunk's [t, d].
        importance: weight of each token of the question [n], above zero.
    """
    if not len(chunk):
        return 0.0
    vectors = chunk.astype(np.float32)
    matches = np.einsum("qd,td->qt", question, vectors)  # "@" wakes all cores, which costs far more than this
    share = importance / importance.sum()
    anywhere = share @ matches.max(axis=1)
    close = (share @ _stretches(np.maximum, matches.T, CLOSE_TOKENS).T).max()
    spans, whole = _stretches(np.add, vectors, SPAN_TOKENS), question.mean(axis=0)
    lengths = np.linalg.norm(spans, axis=1) * np.linalg.norm(whole)
    span = (np.einsum("sd,d->s", spans, whole) / np.maximum(lengths, 1e-9)).max()
    return float(ANYWHERE * anywhere + CLOSE * close + SPAN * span)


def _stretches(combine: np.ufunc, rows: np.ndarray, size: int) -> np.ndarray:
    """Rows combined over stretches of ``size``, each beginning half a stretch after the one before."""
    halves: np.ndarray = combine.reduceat(rows, np.arange(0, len(rows), size // 2), axis=0)
    return halves if len(halves) == 1 else np.asarray(combine(halves[:-1], halves[1:]))


def _token_weights(tokens: Sequence[str], weights: Mapping[str, float]) -> np.ndarray:
    """Weight of each wordpiece [n]: the root of its word's idf, or little for a function word."""
    words: list[str] = []
    owner: list[int] = []
    for token in tokens:
        if token.startswith("##") and words:
            words[-1] += token[2:]
        else:
            words.append(token)
        owner.append(len(words) - 1)
    plain = {fold(word): value for word, value in weights.items()}
    known = (plain.get(fold(words[number]), 0.0) for number in owner)
    return np.sqrt([max(FUNCTION_WORD, weight) for weight in known])
