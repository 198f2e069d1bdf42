"""Vectors, one narrow table per embedding model, and which chunks still wait for theirs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from pgvector import HalfVector
from psycopg import sql

from brainkit.embedding import ModelIdentity
from brainkit.errors import DimensionMismatchError
from brainkit.store.database import Database
from brainkit.store.models import count_vectors, register, table_of

MAX_ATTEMPTS = 3


class PendingChunk(NamedTuple):
    """A text without a vector and the chunks that hold it."""

    text: str
    chunk_ids: list[int]


def embedding_text(title: str, heading: str, content: str) -> str:
    """What of a chunk is embedded and indexed: its title and headings take part, unless the text says them itself."""
    lead = [part for part in (title, heading) if part and part not in content]
    if len(lead) == 2 and lead[0] in lead[1]:
        lead = lead[1:]
    return "\n".join((*lead, content))


def text_hash(text: str) -> str:
    """sha256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


class VectorStore:
    """The vectors of one embedding model; made on first use.

    Args:
        database: the brain.
        identity: the model; None while its server is down and was never seen: no chunk has a vector then.
        recipe: settings that make its embedder again.

    Raises:
        DimensionMismatchError: the model was stored with another dimension.
    """

    def __init__(
        self, database: Database, identity: ModelIdentity | None, recipe: Mapping[str, Any] | None = None
    ) -> None:
        self._database = database
        self.identity = identity
        self.model_id = 0
        if identity is not None:
            with database.connection() as connection, connection.transaction():
                self.model_id, dimensions = register(connection, identity, recipe or {})
            if dimensions != identity.dimensions:
                raise DimensionMismatchError(
                    f"{identity.name} gives {identity.dimensions} dimensions, this brain holds {dimensions} for it"
                )
        self.table = table_of(self.model_id)

    def pending(self, limit: int, *, after: int = 0, retry: bool = False) -> list[PendingChunk]:
        """Texts still without a vector, each once with all its chunks; those that failed too often only with ``retry``.

        Args:
            limit: most texts to give, oldest first.
            after: only texts whose oldest pending chunk has a greater id, which is the first of ``chunk_ids``.
            retry: also those that failed ``MAX_ATTEMPTS`` times.
        """
        waits = sql.SQL("not exists (select from {0} v where v.chunk_id = {1}.id)")
        query = sql.SQL(
            """select d.title, c.heading, c.content,
                      array(select o.id from chunks o where o.content_hash = c.content_hash and {o_waits} order by o.id)
               from chunks c join documents d on d.id = c.document_id
               where c.id > %(after)s and {c_waits}
                 and (%(retry)s or not exists (select from embedding_failures f where f.chunk_id = c.id
                      and f.model_id = %(model)s and f.attempts >= %(attempts)s))
                 and not exists (select from chunks e
                                 where e.content_hash = c.content_hash and e.id < c.id and {e_waits})
               order by c.id limit %(limit)s"""
        ).format(**{f"{x}_waits": waits.format(self.table, sql.SQL(x)) for x in "oce"})
        given = {"after": after, "retry": retry, "model": self.model_id, "attempts": MAX_ATTEMPTS, "limit": limit}
        with self._database.connection() as connection:
            return [PendingChunk(embedding_text(*row[:3]), row[3]) for row in connection.execute(query, given)]

    def pending_count(self) -> int:
        """Number of chunks without a vector of this model."""
        without = sql.SQL(" where not exists (select from {0} v where v.chunk_id = c.id)").format(self.table)
        query = sql.SQL("select count(*) from chunks c") + (without if self.model_id else sql.SQL(""))
        with self._database.connection() as connection:
            row = connection.execute(query).fetchone()
            return int(row[0]) if row else 0

    def put(self, chunks: Sequence[PendingChunk], vectors: np.ndarray, failures: Mapping[int, str]) -> None:
        """Store vectors [n, d] of n pending texts; a failed one is recorded instead, by its index.

        A chunk that was removed in the meantime is passed over.
        """
        good = [i for i in range(len(chunks)) if i not in failures]
        # In the order of their ids, so that two who store the same ones never wait for each other.
        pairs = sorted(((chunk_id, i) for i in good for chunk_id in chunks[i].chunk_ids), key=lambda pair: pair[0])
        bad = [(chunk_id, _storable(error)) for i, error in failures.items() for chunk_id in chunks[i].chunk_ids]
        with self._database.connection() as connection, connection.transaction():
            if pairs:
                connection.execute(
                    sql.SQL(
                        """with given as (select * from unnest(%s::bigint[], %s::halfvec[]) n (id, embedding)),
                                done as (delete from embedding_failures f using given g
                                         where f.chunk_id = g.id and f.model_id = %s)
                           insert into {0} (chunk_id, embedding) select g.id, g.embedding from given g
                           where exists (select from chunks c where c.id = g.id for key share) on conflict do nothing"""
                    ).format(self.table),
                    ([pair[0] for pair in pairs], [HalfVector(vectors[i]) for _, i in pairs], self.model_id),
                )
            for chunk_id, error in bad:
                connection.execute(
                    """insert into embedding_failures (chunk_id, model_id, error)
                       select %s, %s, %s where exists (select from chunks where id = %s for key share)
                       on conflict (chunk_id, model_id) do update
                       set attempts = embedding_failures.attempts + 1, error = excluded.error""",
                    (chunk_id, self.model_id, error, chunk_id),
                )

    def count(self) -> int:
        """Number of vectors."""
        with self._database.connection() as connection:
            return count_vectors(connection, self.model_id) if self.model_id else 0


def _storable(error: str) -> str:
    """What a server said, without NUL and lone surrogates, which PostgreSQL does not take."""
    return error.replace("\0", "").encode("utf-8", "replace").decode()[:500]
