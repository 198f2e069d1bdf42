"""The embedding models a brain holds vectors of; one of them serves questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from psycopg import sql
from psycopg.types.json import Jsonb

from brainkit.embedding import ModelIdentity
from brainkit.store.database import Connection, Database
from brainkit.store.view import make_view

_FITS_PAGE = 4000


class StoredModel(NamedTuple):
    """A model with a table of vectors.

    Attributes:
        id: number of its table.
        identity: what its vectors may be compared with.
        recipe: settings that make its embedder again.
        serving: whether questions are embedded with it.
        vectors: number of its vectors.
    """

    id: int
    identity: ModelIdentity
    recipe: Mapping[str, Any]
    serving: bool
    vectors: int


def stored_models(database: Database) -> list[StoredModel]:
    """Every model of a brain, the oldest first."""
    with database.connection() as connection:
        rows = connection.execute(
            "select id, name, dimensions, fingerprint, recipe, serving from embedding_models order by id"
        ).fetchall()
        return [
            StoredModel(key, ModelIdentity(name, size, fingerprint), recipe, serving, count_vectors(connection, key))
            for key, name, size, fingerprint, recipe, serving in rows
        ]


def register(connection: Connection, identity: ModelIdentity, recipe: Mapping[str, Any]) -> tuple[int, int]:
    """Number and dimension of a model; its table is made if it has none. The first model of a brain serves at once."""
    connection.execute("select pg_advisory_xact_lock(hashtextextended('brainkit models', 0))")
    find = "select id, dimensions from embedding_models where fingerprint = %s"
    row = connection.execute(find, (identity.fingerprint,)).fetchone()
    if row is None:
        connection.execute(
            """insert into embedding_models (name, dimensions, fingerprint, recipe, serving)
               values (%s, %s, %s, %s, not exists (select from embedding_models))""",
            (identity.name, identity.dimensions, identity.fingerprint, Jsonb(dict(recipe))),
        )
        row = connection.execute(find, (identity.fingerprint,)).fetchone()
        assert row is not None
        connection.execute(
            sql.SQL(
                """create table {} (chunk_id bigint primary key references chunks (id) on delete cascade,
                                    embedding halfvec({}) storage {} not null)"""
            ).format(
                table_of(row[0]),
                sql.Literal(identity.dimensions),
                # In the row itself a vector is read fastest, but a row must fit a page of 8 kB.
                sql.SQL("plain" if identity.dimensions <= _FITS_PAGE else "external"),
            )
        )
        if connection.execute("select serving from embedding_models where id = %s", (row[0],)).fetchone() == (True,):
            make_view(connection, table_of(row[0]))
    elif recipe:
        connection.execute("update embedding_models set recipe = %s where id = %s", (Jsonb(dict(recipe)), row[0]))
    return int(row[0]), int(row[1])


def serve_with(database: Database, model_id: int) -> None:
    """Let questions be answered with another model from now on; the vectors of the former one stay."""
    with database.connection() as connection, connection.transaction():
        connection.execute("update embedding_models set serving = false where serving and id <> %s", (model_id,))
        connection.execute("update embedding_models set serving = true where not serving and id = %s", (model_id,))
        make_view(connection, table_of(model_id))


def table_of(model_id: int) -> sql.Identifier:
    """The table of a model's vectors."""
    return sql.Identifier(f"vectors_{model_id}")


def count_vectors(connection: Connection, model_id: int) -> int:
    """Number of vectors of a model."""
    row = connection.execute(sql.SQL("select count(*) from {}").format(table_of(model_id))).fetchone()
    return int(row[0]) if row else 0
