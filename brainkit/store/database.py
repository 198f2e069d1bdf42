"""The way to PostgreSQL: the embedded server or BOR_DATABASE_URL, its version, its schema, a pool of connections."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any, Self
from urllib.parse import urlsplit

import psycopg
from pgvector.psycopg import register_vector
from psycopg_pool import ConnectionPool, PoolTimeout

from brainkit.errors import DatabaseError, ServerTooOldError
from brainkit.settings import Settings
from brainkit.store import migrations
from brainkit.store.server import EmbeddedServer

POSTGRES_NEEDED = 17
PGVECTOR_NEEDED = (0, 8)
POOL_SIZE = 8
CONNECT_SECONDS = 30.0

Connection = psycopg.Connection[tuple[Any, ...]]
log = logging.getLogger(__name__)


class Database:
    """An open, migrated database; close it, or use it in a ``with`` statement.

    Raises:
        ServerStartError: the embedded server does not start.
        DatabaseError: BOR_DATABASE_URL does not answer.
        ServerTooOldError: PostgreSQL < 17 or pgvector < 0.8.
        SchemaError: the tables were made by a newer brainkit.
    """

    def __init__(self, settings: Settings) -> None:
        self.server: EmbeddedServer | None = None
        if settings.database_url is None:
            self.server = EmbeddedServer(settings.home, bin_dir=settings.pg_bin, os_user=settings.pg_osuser)
            self.server.start()
            self._conninfo, url = self.server.conninfo(), self.server.url()
        else:
            self._conninfo = settings.database_url.get_secret_value()
            url = "postgresql+psycopg://" + self._conninfo.split("://", 1)[1]
        try:
            self._prepare(url)
            self._pool = ConnectionPool(
                self._conninfo,
                min_size=1,
                max_size=POOL_SIZE,
                timeout=CONNECT_SECONDS,
                configure=_configure,
                check=ConnectionPool.check_connection,
                kwargs={"autocommit": True},
                open=True,
            )
        except BaseException:
            self._release_server()
            raise

    @property
    def address(self) -> str:
        """Where the database is, without user or password."""
        if self.server is not None:
            return f"embedded, {self.server.data_dir}"
        parts = urlsplit(self._conninfo)
        return f"{parts.hostname or 'local socket'}:{parts.port or 5432}{parts.path}"

    @contextlib.contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection in autocommit mode; use ``connection.transaction()`` for more than one statement.

        Raises:
            DatabaseError: no connection is to be had, or the server went away; the next call tries anew.
        """
        try:
            with self._pool.connection() as connection:
                yield connection
        except (PoolTimeout, psycopg.OperationalError, psycopg.InterfaceError) as error:
            if self.server is not None:
                with contextlib.suppress(DatabaseError):
                    self.server.start()
            raise DatabaseError(
                f"the database ({self.address}) does not answer: {_first_line(error)}. Try again; `brainkit doctor` tells more"
            ) from error

    def versions(self) -> dict[str, str]:
        """PostgreSQL's, pgvector's and the schema's version."""
        with self.connection() as connection:
            vector = connection.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
            return {
                "postgresql": str(connection.info.parameter_status("server_version")),
                "pgvector": str(vector[0]) if vector else "",
                "schema": migrations.current(connection) or "",
            }

    def close(self) -> None:
        """Give back the connections and the server; twice does no harm."""
        self._pool.close()
        self._release_server()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _release_server(self) -> None:
        if self.server is not None:
            self.server.release()

    def _prepare(self, url: str) -> None:
        try:
            with psycopg.connect(self._conninfo, autocommit=True, connect_timeout=int(CONNECT_SECONDS)) as connection:
                _check_versions(connection)
                migrations.upgrade(connection, url)
        except psycopg.OperationalError as error:
            raise DatabaseError(
                f"no connection to the database of BOR_DATABASE_URL ({self.address}): {_first_line(error)}. "
                "Check the address, or unset it to use the embedded server"
            ) from error


def _check_versions(connection: Connection) -> None:
    server = connection.info.server_version // 10_000
    if server < POSTGRES_NEEDED:
        raise ServerTooOldError(f"PostgreSQL {server} at BOR_DATABASE_URL: brainkit needs {POSTGRES_NEEDED} or newer")
    offered = connection.execute("select default_version from pg_available_extensions where name='vector'").fetchone()
    if offered is None:
        raise ServerTooOldError("the server has no pgvector: install pgvector 0.8 or newer there")
    connection.execute("create extension if not exists vector")
    row = connection.execute("select extversion from pg_extension where extname='vector'").fetchone()
    found = tuple(int(part) for part in str(row[0] if row else "0").split(".")[:2])
    if found < PGVECTOR_NEEDED:
        raise ServerTooOldError(
            f"pgvector {found[0]}.{found[1]}: brainkit needs 0.8; run ALTER EXTENSION vector UPDATE"
        )


def _configure(connection: Connection) -> None:
    register_vector(connection)
    connection.execute("set timezone = 'UTC'")
    connection.execute("set jit = off")
    # The search statement takes longer to plan than to run, and its plan does not depend on the question.
    connection.execute("set plan_cache_mode = force_generic_plan")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
