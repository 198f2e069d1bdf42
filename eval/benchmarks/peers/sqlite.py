"""A brain in a single SQLite file: sqlite-vec for vectors, FTS5 for words, reciprocal rank fusion in Python."""

from __future__ import annotations

import re
from collections.abc import Sequence

import apsw
import numpy as np
import sqlite_vec

from eval.benchmarks.common import Size
from eval.benchmarks.corpus import Piece
from eval.benchmarks.peers import POOL, Place, Way, documents, reciprocal_ranks

_BATCH = 5000
_WORD = re.compile(r"\w+")
_LEXICAL = "select rowid from words where words match ? order by rank, rowid limit ?"
_DENSE = "select rowid from vectors where embedding match ? and k = ? order by distance"


class SqlitePeer:
    """Chunks, a vec0 table by cosine distance and an FTS5 index that holds no second copy of the text."""

    ways = (Way("SQLite, sqlite-vec + FTS5, RRF"),)

    def __init__(self, place: Place) -> None:
        self._path = place.folder / "brain.db"
        self._connection = apsw.Connection(str(self._path))
        self._connection.enable_load_extension(True)
        self._connection.load_extension(sqlite_vec.loadable_path())
        self._connection.enable_load_extension(False)

    def load(self, pieces: Sequence[Piece], vectors: np.ndarray) -> None:
        """Insert everything in transactions of thousands."""
        db = self._connection
        db.execute("pragma journal_mode = wal")
        db.execute("create table chunks (id integer primary key, document text not null, text not null)")
        db.execute(
            f"create virtual table vectors using vec0 (embedding float[{vectors.shape[1]}] distance_metric=cosine)"
        )
        db.execute("create virtual table words using fts5 (text, content = 'chunks', content_rowid = 'id')")
        rows = list(enumerate(pieces, 1))
        for start in range(0, len(rows), _BATCH):
            part = rows[start : start + _BATCH]
            with db:
                db.executemany("insert into chunks values (?, ?, ?)", [(n, *piece) for n, piece in part])
                db.executemany("insert into words (rowid, text) values (?, ?)", [(n, piece.text) for n, piece in part])
                db.executemany(
                    "insert into vectors (rowid, embedding) values (?, ?)",
                    [(n, vectors[n - 1].astype(np.float32).tobytes()) for n, _ in part],
                )
        db.execute("pragma wal_checkpoint(truncate)")

    def use(self, way: Way) -> None:
        """There is one way only."""

    def search(self, question: str, vector: np.ndarray, k: int) -> list[str]:
        """Both channels, fused by rank, then the documents of the chunks."""
        db = self._connection
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(question))
        lexical = [row[0] for row in db.execute(_LEXICAL, (words, POOL))] if words else []
        dense = [row[0] for row in db.execute(_DENSE, (vector.astype(np.float32).tobytes(), POOL))]
        fused = reciprocal_ranks(dense, lexical)
        marks = ",".join("?" * len(fused))
        of = dict(db.execute(f"select id, document from chunks where id in ({marks})", fused))  # noqa: S608
        return documents([of[number] for number in fused], k)

    def size(self) -> Size:
        """Bytes of the file."""
        return Size(self._path.stat().st_size / 1e6, None)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


PEER = SqlitePeer
