"""bm25s alone: BM25 in memory, with English stop words and stemming; no vectors, nothing on disk."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import bm25s
import numpy as np
import Stemmer

from eval.benchmarks.common import Size
from eval.benchmarks.corpus import Piece
from eval.benchmarks.peers import POOL, Place, Way, documents

logging.getLogger("bm25s").setLevel(logging.WARNING)


class Bm25sPeer:
    """The lexical yardstick."""

    ways = (Way("bm25s"),)

    def __init__(self, place: Place) -> None:
        self._folder = place.folder
        self._stemmer = Stemmer.Stemmer("english")

    def load(self, pieces: Sequence[Piece], vectors: np.ndarray) -> None:  # noqa: ARG002 - words only
        """Index all texts at once."""
        self._documents = [piece.document for piece in pieces]
        tokens = bm25s.tokenize(
            [piece.text for piece in pieces], stopwords="en", stemmer=self._stemmer, show_progress=False
        )
        self._index = bm25s.BM25()
        self._index.index(tokens, show_progress=False)

    def use(self, way: Way) -> None:
        """There is one way only."""

    def search(self, question: str, vector: np.ndarray, k: int) -> list[str]:  # noqa: ARG002 - words only
        """The first chunks with a score above zero."""
        tokens = bm25s.tokenize([question], stopwords="en", stemmer=self._stemmer, show_progress=False)
        wanted = min(POOL, len(self._documents))
        found, scores = self._index.retrieve(tokens, k=wanted, show_progress=False)
        hits = [self._documents[n] for n, score in zip(found[0], scores[0], strict=True) if score > 0]
        return documents(hits, k)

    def size(self) -> Size:
        """Bytes of the index when it is saved."""
        self._index.save(str(self._folder / "index"))
        files = (self._folder / "index").rglob("*")
        return Size(sum(path.stat().st_size for path in files if path.is_file()) / 1e6, None)

    def close(self) -> None:
        """Nothing is open."""


PEER = Bm25sPeer
