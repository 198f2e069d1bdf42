"""Rerankers: what may change the order of the found chunks, one after the other, as the retrieval string says.

Each takes chunks best first and gives them best first again; scores fall from first to last, so that documents can be
ranked by their chunks afterwards.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from brainkit.errors import RetrievalSettingsError
from brainkit.retrieval.recall import RecalledChunk
from brainkit.store.vectors import embedding_text

RERANK_SECONDS: Final = 30.0
"""A rerank server that has not answered after so long is done without."""
MOST_REPLY: Final = 16 * 2**20
MMR_FIRST: Final = 100
"""Chunks that are compared with each other at most; those behind them keep their places."""
_DAY: Final = 86_400.0


class Asked(NamedTuple):
    """A question as rerankers see it.

    Attributes:
        text: the cleaned question.
        weights: idf of its words.
        vector: its embedding [d]; None while the embedder is down.
    """

    text: str
    weights: Mapping[str, float]
    vector: np.ndarray | None


class Reranker(Protocol):
    """Changes the order of chunks."""

    def __call__(self, asked: Asked, chunks: Sequence[RecalledChunk], /) -> list[RecalledChunk]:
        """Chunks best first, none missing, their scores falling."""


class Recency:
    """Newer notes count more: a score is multiplied by (1 + 2^(-age / days)) / 2, so by 1 down to 1/2.

    Age counts from the newest of the found chunks, not from today: the same notes give the same order tomorrow.
    A document without a time counts as an old one.
    """

    def __init__(self, days: int) -> None:
        self._days = days

    def __call__(self, asked: Asked, chunks: Sequence[RecalledChunk]) -> list[RecalledChunk]:  # noqa: ARG002
        """Chunks by their scores with age; a score below zero is taken as it is."""
        times = [chunk.ts.timestamp() if chunk.ts else None for chunk in chunks]
        newest = max((time for time in times if time is not None), default=0.0)
        aged = []
        for chunk, time in zip(chunks, times, strict=True):
            fresh = 0.0 if time is None else 2.0 ** (-(newest - time) / _DAY / self._days)
            aged.append(replace(chunk, score=chunk.score * (1 + fresh) / 2 if chunk.score > 0 else chunk.score))
        return _ordered(aged)


class Mmr:
    """Maximal marginal relevance (Carbonell and Goldstein 1998): what resembles a chunk before it moves down.

    Relevance is the score stretched to 0..1 over the chunks, likeness the cosine of two chunks.

    Args:
        share: of relevance, 0..1.
        vectors: gives the vectors of chunks by id; chunks without one resemble nothing.
    """

    def __init__(self, share: float, vectors: Callable[[Sequence[int]], Mapping[int, np.ndarray]]) -> None:
        self._share = share
        self._vectors = vectors

    def __call__(self, asked: Asked, chunks: Sequence[RecalledChunk]) -> list[RecalledChunk]:  # noqa: ARG002
        """Chunks in the order in which they are chosen, with the value they were chosen for."""
        first, rest = list(chunks[:MMR_FIRST]), chunks[MMR_FIRST:]
        if len(first) < 2:
            return list(chunks)
        found = self._vectors([chunk.chunk_id for chunk in first])
        size = len(next(iter(found.values()), ()))
        rows = np.array([found.get(chunk.chunk_id, np.zeros(size)) for chunk in first], np.float32)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        scores = np.array([chunk.score for chunk in first])
        spread = float(np.ptp(scores))
        relevance = (scores - scores.min()) / spread if spread else np.ones(len(first))
        likeness = rows @ rows.T
        nearest = np.full(len(first), 0.0)
        left, chosen = list(range(len(first))), []
        while left:
            values = self._share * relevance[left] - (1 - self._share) * nearest[left]
            place = int(np.argmax(np.round(values, 9)))
            best = left.pop(place)
            chosen.append(replace(first[best], score=float(values[place])))
            nearest = np.maximum(nearest, likeness[best])
        return chosen + _below(chosen, rest)


class Endpoint:
    """The model of a server with a ``/v1/rerank`` interface, as Jina, Cohere, vLLM and llama.cpp have it.

    Args:
        url: BOR_RERANK_URL, such as ``http://127.0.0.1:8080/v1/rerank``; ``/v1/rerank`` is added to a bare address.
        first: chunks to send.
        model: name to send, "" for none.
        key: bearer token, "" for none.

    Raises:
        RetrievalSettingsError: there is no such address.
    """

    def __init__(self, url: str, first: int, model: str = "", key: str = "") -> None:
        if not url.startswith(("http://", "https://")):
            raise RetrievalSettingsError(
                "rerank needs a server: set BOR_RERANK_URL, such as http://127.0.0.1:8080/v1/rerank, or do without"
            )
        bare = url.rstrip("/")
        self._url = bare if bare.endswith("rerank") else f"{bare.removesuffix('/v1')}/v1/rerank"
        self._first, self._model, self._key = first, model, key

    def __call__(self, asked: Asked, chunks: Sequence[RecalledChunk]) -> list[RecalledChunk]:
        """Chunks by the server's relevance; those that were not sent come after them.

        Raises:
            ConnectionError: the server does not answer, or not for every chunk.
        """
        top, rest = list(chunks[: self._first]), chunks[self._first :]
        if not top or not asked.text:
            return list(chunks)
        texts = [embedding_text(chunk.title, chunk.heading, chunk.text) for chunk in top]
        body = {"query": asked.text, "documents": texts, "top_n": len(texts)}
        relevance = _relevance(self._post(body | ({"model": self._model} if self._model else {})), len(texts))
        ranked = _ordered([replace(chunk, score=value) for chunk, value in zip(top, relevance, strict=True)])
        return ranked + _below(ranked, rest)

    def _post(self, body: Mapping[str, Any]) -> object:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, json.dumps(body).encode(), headers)  # noqa: S310 - http(s), see above
        try:
            with urllib.request.urlopen(request, timeout=RERANK_SECONDS) as reply:  # noqa: S310
                return json.loads(reply.read(MOST_REPLY))
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise ConnectionError(f"the server at BOR_RERANK_URL does not answer as it should: {reason}") from error


def _relevance(reply: object, count: int) -> list[float]:
    """Relevance of each text, in the order in which they were sent."""
    results = reply.get("results") if isinstance(reply, dict) else None
    found: dict[int, float] = {}
    for item in results if isinstance(results, list) else []:
        index, value = (item.get("index"), item.get("relevance_score")) if isinstance(item, dict) else (None, None)
        if isinstance(index, int) and isinstance(value, int | float) and np.isfinite(value):
            found[index] = float(value)
    if not set(range(count)) <= set(found):
        raise ConnectionError(f"the server at BOR_RERANK_URL scored {len(found)} of {count} texts")
    return [found[number] for number in range(count)]


def _ordered(chunks: Sequence[RecalledChunk]) -> list[RecalledChunk]:
    return sorted(chunks, key=lambda chunk: (-chunk.score, chunk.chunk_id))


def _below(ranked: Sequence[RecalledChunk], rest: Sequence[RecalledChunk]) -> list[RecalledChunk]:
    """The rest in its order, its scores moved below those of the ranked."""
    if not ranked or not rest:
        return list(rest)
    shift = min(0.0, ranked[-1].score - rest[0].score)
    return [replace(chunk, score=chunk.score + shift) for chunk in rest]
