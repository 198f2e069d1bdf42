"""Moves the documents of one source into another in one transaction: chunks and vectors stay what they are."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Final, NamedTuple

from psycopg import sql

from brainkit.store.database import Connection, Database
from brainkit.store.texts import rename_documents

_NAMESPACE: Final = uuid.UUID("6f0a4f6e-3f2b-5c59-9d0a-0c7a7d2c5b11")
_GIVEN: Final = sql.SQL("unnest(%(old)s::uuid[], %(id)s::uuid[], %(path)s::text[]) n (old, id, path)")
_MOVE: Final = (
    """delete from documents d using {given}
       where d.id = n.old and n.old <> n.id and exists (select from documents there where there.id = n.id)""",
    "update lexemes l set document_id = n.id from {given} where l.document_id = n.old",
    "update documents d set id = n.id, source = %(into)s, path = n.path from {given} where d.id = n.old",
)
"""What the other source holds already is dropped; chunks follow their document by themselves."""


class Source(NamedTuple):
    """A folder that was imported.

    Attributes:
        name: what its documents are called by.
        root: the folder as it may be shown.
        tag: tells it from another folder that is shown by the same path; mostly ''.
    """

    name: str
    root: str
    tag: str


def document_id(source: str, path: str) -> uuid.UUID:
    """The id of a document: the same for the same source and path, in every brain."""
    return uuid.uuid5(_NAMESPACE, f"{source}\n{path}")


def all_sources(database: Database) -> list[Source]:
    """Every source, sorted by name."""
    with database.connection() as connection:
        rows = connection.execute("select name, root, tag from sources order by name").fetchall()
    return [Source(*row) for row in rows]


def adopt(database: Database, source: str, into: str, prefix: str) -> bool:
    """Make a source part of another one; labels and logged questions follow.

    A document that the other one holds already is dropped here. Whoever writes to the former source at this moment
    gets a ForeignKeyViolation.

    Args:
        database: an open brain.
        source: name of the source that ends.
        into: name of the one around it.
        prefix: place of the former in the latter, such as ``sub/folder``.

    Returns:
        Whether it was there.
    """
    with database.connection() as connection, connection.transaction():
        # Waits for those who write to the source just now; whoever comes later finds it gone.
        if connection.execute("select from sources where name = %s for update", (source,)).fetchone() is None:
            return False
        _move(connection, (source, into), {path: f"{prefix}/{path}" for path in _paths(connection, source)})
        connection.execute("delete from sources where name = %s", (source,))
    return True


def rename(database: Database, old: Source, new: Source) -> str:
    """Give a source another name and root; returns the name, made unique. Its documents get the ids that go with it."""
    with database.connection() as connection, connection.transaction():
        connection.execute("lock table sources in share row exclusive mode")
        taken = {row[0] for row in connection.execute("select name from sources where name <> %s", (old.name,))}
        name = unused(new.name, taken)
        connection.execute(
            "update sources set (name, root, tag) = (%s, %s, %s) where name = %s", (name, new.root, new.tag, old.name)
        )
        if name != old.name:
            _move(connection, (old.name, name), {path: path for path in _paths(connection, name)})
    return name


def unused(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found


def move(database: Database, source: str, path: str, new: str) -> None:
    """Give a document another path in its source, and the id that goes with it; labels and logged questions follow."""
    with database.connection() as connection, connection.transaction():
        _move(connection, (source, source), {path: new})


def _move(connection: Connection, sources: tuple[str, str], paths: Mapping[str, str]) -> None:
    """Give documents their new source, path and id.

    Args:
        connection: in a transaction.
        sources: what the documents' source was called before, and is called afterwards.
        paths: new paths by old ones.
    """
    former, into = sources
    moved = {
        "old": [document_id(former, path) for path in paths],
        "id": [document_id(into, path) for path in paths.values()],
        "path": list(paths.values()),
        "into": into,
    }
    for statement in _MOVE:
        connection.execute(sql.SQL(statement).format(given=_GIVEN), moved)
    others = connection.execute("select path from documents where source <> %s and path = any(%s)", (into, list(paths)))
    shared = {row[0] for row in others}
    # By its path alone a label names all documents of that path: those of other sources keep it.
    renamed = {old: new for old, new in paths.items() if old not in shared}
    rename_documents(connection, renamed | {f"{former}:{old}": f"{into}:{new}" for old, new in paths.items()})


def _paths(connection: Connection, source: str) -> list[str]:
    return [
        row[0] for row in connection.execute("select path from documents where source = %s order by path", (source,))
    ]
