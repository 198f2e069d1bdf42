"""The programs that are compared, one a file, behind one protocol; each is imported only when it is measured."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import numpy as np

from brainkit.store.server import EmbeddedServer
from eval.benchmarks.common import Size
from eval.benchmarks.corpus import Piece

POOL: Final = 30
"""Chunks that each channel of each peer contributes, as in brainkit's default."""


class Way(NamedTuple):
    """One way in which a peer searches what it was loaded with; where it is measured."""

    name: str
    quality: bool = True
    scale: bool = True


@dataclass(frozen=True)
class Place:
    """Where a peer may keep its data: a database of its own on the server that all share, and a folder.

    Attributes:
        server: the database server.
        conninfo: the peer's database, for psycopg.
        database: its name.
        folder: an empty folder.
        embedder: name of the embedder that made the vectors.
    """

    server: EmbeddedServer = field(repr=False)
    conninfo: str
    database: str
    folder: Path
    embedder: str


class Peer(Protocol):
    """A program that finds documents; made anew for each set or size, in an empty place."""

    ways: Sequence[Way]

    def __init__(self, place: Place) -> None:
        """Make it ready to be loaded."""

    def load(self, pieces: Sequence[Piece], vectors: np.ndarray) -> None:
        """Store chunks with their vectors [n, d]."""

    def use(self, way: Way) -> None:
        """Search that way from now on; what it needs beyond the load, such as an index, is built here."""

    def search(self, question: str, vector: np.ndarray, k: int) -> list[str]:
        """Ids of the first k documents, best first, each once: a document stands where its best chunk does."""

    def size(self) -> Size:
        """What it stored."""

    def close(self) -> None:
        """Let go of connections."""


PEERS: Final = {
    "brainkit": "eval.benchmarks.peers.brainkit",
    "llamaindex": "eval.benchmarks.peers.llamaindex",
    "haystack": "eval.benchmarks.peers.haystack",
    "sqlite": "eval.benchmarks.peers.sqlite",
    "bm25s": "eval.benchmarks.peers.bm25s",
}


def peer(name: str) -> type[Peer]:
    """The class of a peer.

    Raises:
        ImportError: its program is not installed.
    """
    found: type[Peer] = importlib.import_module(PEERS[name]).PEER
    return found


def documents(found: Sequence[str], k: int) -> list[str]:
    """The first k distinct ids.

    Example:
        >>> documents(["a", "b", "a", "c"], 2)
        ['a', 'b']
    """
    return list(dict.fromkeys(found))[:k]


def reciprocal_ranks(*rankings: Sequence[int], k: int = 60) -> list[int]:
    """Reciprocal rank fusion (Cormack et al. 2009): the sum of 1 / (k + rank) over the rankings, ties by id.

    Example:
        >>> reciprocal_ranks([1, 2], [2, 3])
        [2, 1, 3]
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return sorted(scores, key=lambda item: (-scores[item], item))
