"""Rewrite all tables and the write-ahead log, so that nothing which was deleted or replaced is left on disk."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final, LiteralString

import psycopg
from psycopg.errors import DeadlockDetected

from brainkit.store.database import Connection, Database

_ATTEMPTS: Final = 5


def rewrite(database: Database) -> str:
    """Rewrite everything; returns "" or, where the server does not let us, what may be left.

    A deleted row stays in its table's file until that is rewritten (VACUUM FULL), a sample of its values until
    pg_statistic is, and a copy of it in the write-ahead log until the segment is removed, which a checkpoint does once
    another segment is in use (the embedded server is told not to keep segments for later use: ``wal_recycle``).
    """
    with database.connection() as connection, _alone(connection):
        _run(connection, "vacuum (full, analyze)")
        try:
            _run(connection, "vacuum full pg_catalog.pg_statistic")
            for _ in range(2):  # the first checkpoint makes the older segments needless, the second removes them
                connection.execute("select pg_switch_wal()")
                connection.execute("checkpoint")
        except psycopg.errors.InsufficientPrivilege:
            return (
                "the tables were rewritten; the server's statistics and write-ahead log may hold older text until its"
                " owner runs VACUUM FULL pg_statistic and two checkpoints"
            )
    return ""


@contextlib.contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """Wait for another rewrite: that of a process which was killed goes on in the server, and two would deadlock."""
    connection.execute("select pg_advisory_lock(hashtextextended('brainkit rewrite', 0))")
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute("select pg_advisory_unlock(hashtextextended('brainkit rewrite', 0))")


def _run(connection: Connection, statement: LiteralString) -> None:
    for attempts in reversed(range(_ATTEMPTS)):
        try:
            connection.execute(statement)
        except DeadlockDetected:  # with somebody who looks up tables in the catalog that is being rewritten
            if not attempts:
                raise
        else:
            return
