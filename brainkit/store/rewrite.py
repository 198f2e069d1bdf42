"""Rewrite all tables and the write-ahead log, so that nothing which was deleted or replaced is left on disk."""

from __future__ import annotations

import psycopg

from brainkit.store.database import Database


def rewrite(database: Database) -> str:
    """Rewrite everything; returns "" or, where the server does not let us, what may be left.

    A deleted row stays in its table's file until that is rewritten (VACUUM FULL), a sample of its values until
    pg_statistic is, and a copy of it in the write-ahead log until the segment is removed, which a checkpoint does once
    another segment is in use (the embedded server is told not to keep segments for later use: ``wal_recycle``).
    """
    with database.connection() as connection:
        connection.execute("vacuum (full, analyze)")
        try:
            connection.execute("vacuum full pg_catalog.pg_statistic")
            for _ in range(2):  # the first checkpoint makes the older segments needless, the second removes them
                connection.execute("select pg_switch_wal()")
                connection.execute("checkpoint")
        except psycopg.errors.InsufficientPrivilege:
            return (
                "the tables were rewritten; the server's statistics and write-ahead log may hold older text until its"
                " owner runs VACUUM FULL pg_statistic and two checkpoints"
            )
    return ""
