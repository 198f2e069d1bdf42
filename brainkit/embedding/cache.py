"""Vectors kept by content hash in one file, so that no text is embedded twice for the brains of one home."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from brainkit.settings import Settings

logger = logging.getLogger(__name__)

MAX_VECTORS = 1_000_000
MAX_BYTES = 1 << 30
KEEP_SHARE = 0.9
"""Part of a full cache that stays: removing a tenth at once is not needed again soon."""
ROW_BYTES = 100
"""A row's key, date, index entry and headers."""
PAGE_SLACK = 1.45
"""Pages of a table that is filled in the order of hashes are about 69 % full."""
BUSY_SECONDS = 2.0
USED_SECONDS = 86_400
"""Vectors used today are not marked again, so that a run of hits writes next to nothing."""
_LOOKUPS = 500  # hashes in one statement; SQLite's oldest limit is 999 parameters

_SCHEMA = """
create table if not exists vectors (key blob primary key, vector blob not null, used integer not null) without rowid;
create index if not exists vectors_used on vectors (used);
"""


def cache_file(settings: Settings) -> Path | None:
    """Where BOR_VECTOR_CACHE puts the file; None when it is off."""
    if settings.vector_cache == "off":
        return None
    return settings.vector_cache or settings.home / "cache" / "vectors.sqlite"


class VectorCache:
    """Vectors of one model as float16, which is what a brain's database keeps of them too.

    A key is the SHA-256 of the model's fingerprint and the text; of the text itself nothing is kept. Several processes
    may use the file at once. It is a convenience and no more: locked, full, read-only or damaged it counts as empty,
    a damaged one is renamed to ``*.damaged`` and begun anew, and nothing is ever raised.

    Args:
        path: The file; it and its folder are made when needed, readable by their owner only.
        fingerprint: Of the model; one file serves many models.
        max_vectors: Beyond this many the longest unused ones go.
        max_bytes: And beyond this size.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     cache = VectorCache(Path(folder) / "vectors.sqlite", "a-model")
        ...     cache.put(["hello"], np.array([[0.6, 0.8]], np.float32))
        ...     {index: vector.round(2).tolist() for index, vector in cache.get(["new", "hello"]).items()}
        {1: [0.6000000238418579, 0.800000011920929]}
    """

    def __init__(
        self, path: Path, fingerprint: str, *, max_vectors: int = MAX_VECTORS, max_bytes: int = MAX_BYTES
    ) -> None:
        self._path = path
        self._fingerprint = fingerprint.encode()
        self._max_vectors = max_vectors
        self._max_bytes = max_bytes
        self._usable = True

    def get(self, texts: Sequence[str]) -> dict[int, NDArray[np.float32]]:
        """The vectors that are known, by the index of their text; each was rounded to float16."""
        keys = [self._key(text) for text in texts]
        known: dict[bytes, NDArray[np.float32]] = {}
        if not keys or not self._path.exists():
            return {}

        def look_up(connection: sqlite3.Connection) -> None:
            now = int(time.time())
            unmarked = []
            for start in range(0, len(keys), _LOOKUPS):
                part = keys[start : start + _LOOKUPS]
                query = f"select key, vector, used from vectors where key in ({','.join('?' * len(part))})"  # noqa: S608
                for key, stored, used in connection.execute(query, part):
                    vector = _unpacked(stored)
                    if vector is not None:
                        known[key] = vector
                        if used < now - USED_SECONDS:
                            unmarked.append((now, key))
            connection.executemany("update vectors set used = ? where key = ?", unmarked)

        self._transact(look_up)
        return {index: known[key] for index, key in enumerate(keys) if key in known}

    def put(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep the vectors ``[len(texts), dimensions]``; rows that are not finite are passed over."""
        now = int(time.time())
        rows = [
            (self._key(text), _packed(vector), now)
            for text, vector in zip(texts, vectors, strict=True)
            if np.isfinite(vector).all()
        ]
        if not rows:
            return

        def keep(connection: sqlite3.Connection) -> None:
            connection.executemany("insert or replace into vectors values (?, ?, ?)", rows)
            self._shrink(connection)

        self._transact(keep)

    def clear(self) -> None:
        """Forget every vector, of all models."""

        def forget(connection: sqlite3.Connection) -> None:
            connection.execute("delete from vectors")
            connection.commit()
            connection.execute("vacuum")

        if self._path.exists():
            self._transact(forget)

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(self._fingerprint + b"\0" + text.encode(errors="surrogatepass")).digest()

    def _shrink(self, connection: sqlite3.Connection) -> None:
        count = connection.execute("select count(*) from vectors").fetchone()[0]
        # Keys are hashes, so that the first rows are a fair sample of all.
        (length,) = connection.execute(
            "select avg(length(vector)) from (select vector from vectors limit 1000)"
        ).fetchone()
        fits = min(self._max_vectors, int(self._max_bytes / (PAGE_SLACK * (length + ROW_BYTES))))
        if count > fits:
            connection.execute(
                "delete from vectors where key in (select key from vectors order by used, key limit ?)",
                (count - int(fits * KEEP_SHARE),),
            )

    def _transact(self, action: Callable[[sqlite3.Connection], None]) -> None:
        """One transaction on a connection opened for it alone, so that neither threads nor forks share one."""
        if not self._usable:
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite gives its side files the same mode
            with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS)) as connection, connection:
                connection.execute("pragma journal_mode = wal")
                # A power cut may cost the cache, never a kill; each vector has a checksum.
                connection.execute("pragma synchronous = off")
                connection.executescript(_SCHEMA)
                action(connection)
        except sqlite3.OperationalError as error:  # locked, full, read-only; waiting for it once is enough
            self._usable = False
            logger.info("the cache of vectors %s is passed over: %s", self._path, error)
        except sqlite3.DatabaseError as error:
            logger.warning("the cache of vectors %s is damaged and begun anew: %s", self._path, error)
            self._set_aside()
        except OSError as error:
            self._usable = False
            logger.info("the cache of vectors %s cannot be used: %s", self._path, error.strerror)

    def _set_aside(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            side = Path(f"{self._path}{suffix}")
            try:
                if suffix:
                    side.unlink(missing_ok=True)
                else:
                    side.replace(f"{side}.damaged")
            except OSError as error:
                logger.info("%s cannot be set aside: %s", side, error.strerror)


def _packed(vector: NDArray[np.float32]) -> bytes:
    """Little-endian float16 numbers with their checksum: a page lost in a power cut must not become one."""
    numbers = vector.astype("<f2").tobytes()
    return numbers + zlib.crc32(numbers).to_bytes(4, "little")


def _unpacked(stored: bytes) -> NDArray[np.float32] | None:
    numbers, checksum = stored[:-4], stored[-4:]
    if zlib.crc32(numbers).to_bytes(4, "little") != checksum:
        return None
    return np.frombuffer(numbers, "<f2").astype(np.float32)
