"""The way to PostgreSQL: the embedded server or BOR_DATABASE_URL, its version, its schema, a pool of connections."""

from __future__ import annotations

import contextlib
import logging
import shutil
from collections.abc import Iterator
from typing import Any, Self

import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import DiskFull
from psycopg_pool import ConnectionPool, PoolTimeout

from brainkit.errors import DatabaseError, ServerTooOldError, SettingsError
from brainkit.settings import Settings
from brainkit.store import migrations
from brainkit.store.server import EmbeddedServer

POSTGRES_NEEDED = 17
PGVECTOR_NEEDED = (0, 8)
POOL_SIZE = 8
CONNECT_SECONDS = 30.0
PATIENCE_SECONDS = 3.0
"""After so long without a connection it is found out whether the pool is busy or the server gone."""
FULL_BYTES = 16 << 20
"""Less space than one segment of the write-ahead log takes: PostgreSQL then stops."""

Connection = psycopg.Connection[tuple[Any, ...]]
log = logging.getLogger(__name__)


class Database:
    """An open, migrated database; close it, or use it in a ``with`` statement.

    Raises:
        ServerStartError: the embedded server does not start.
        SettingsError: BOR_DATABASE_URL is no address.
        DatabaseError: BOR_DATABASE_URL does not answer.
        ServerTooOldError: PostgreSQL < 17 or pgvector < 0.8.
        SchemaError: the tables were made by a newer brainkit.
    """

    def __init__(self, settings: Settings) -> None:
        self.server: EmbeddedServer | None = None
        if settings.database_url is None:
            self.server = EmbeddedServer(settings.home, bin_dir=settings.pg_bin, os_user=settings.pg_osuser)
            self.server.start()
            self._conninfo = self.server.conninfo()
        else:
            self._conninfo = settings.database_url.get_secret_value()
            _parts(self._conninfo)
        try:
            self._prepare()
            self._pool = ConnectionPool(
                self._conninfo,
                min_size=1,
                max_size=POOL_SIZE,
                timeout=CONNECT_SECONDS,
                reconnect_timeout=PATIENCE_SECONDS,  # then the next question tries anew, and need not wait its turn
                configure=_configure,
                check=self._check,
                kwargs={"autocommit": True},
                open=True,
            )
            self._fill_pool()
        except BaseException:
            self._release_server()
            raise

    @property
    def address(self) -> str:
        """Where the database is, without user or password."""
        if self.server is not None:
            return f"embedded, {self.server.data_dir}"
        parts = _parts(self._conninfo)
        return f"{parts.get('host') or 'local socket'}:{parts.get('port') or 5432}/{parts.get('dbname') or ''}"

    @property
    def parameters(self) -> dict[str, Any]:
        """How to connect: libpq's parameters, the password among them."""
        return _parts(self._conninfo)

    @contextlib.contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection in autocommit mode; use ``connection.transaction()`` for more than one statement.

        Raises:
            DatabaseError: no connection is to be had, or the server went away; the next call tries anew.
        """
        if self._pool.closed:
            raise DatabaseError(f"the database ({self.address}) was closed: open the brain again")
        try:
            with contextlib.ExitStack() as stack:
                try:
                    connection = stack.enter_context(self._pool.connection(PATIENCE_SECONDS))
                except PoolTimeout:
                    psycopg.connect(self._conninfo, connect_timeout=int(PATIENCE_SECONDS)).close()
                    connection = stack.enter_context(self._pool.connection())
                yield connection
        except (PoolTimeout, psycopg.OperationalError, psycopg.InterfaceError) as error:
            if self.server is not None:
                with contextlib.suppress(DatabaseError):
                    self.server.start()
            if full := self._full_disk(error):
                raise DatabaseError(f"{full}. Nothing stored is lost: make space, then run it again") from error
            raise DatabaseError(
                f"the database ({self.address}) does not answer: {_first_line(error)}. "
                "Try again; `brainkit doctor` tells more"
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

    def _full_disk(self, error: Exception) -> str:
        """Which disk is full, if that is why; a server that cannot write its log any more just goes away."""
        if self.server is not None:
            with contextlib.suppress(OSError):
                free = shutil.disk_usage(self.server.data_dir).free
                if free < FULL_BYTES or isinstance(error, DiskFull):
                    return f"the disk that holds {self.server.data_dir} is full ({free / 1e6:.0f} MB free)"
        return f"the disk of the database ({self.address}) is full" if isinstance(error, DiskFull) else ""

    def _release_server(self) -> None:
        if self.server is not None:
            self.server.release()

    def _fill_pool(self) -> None:
        """Without a first connection a server that dies now would only be missed when the pool gives up."""
        try:
            self._pool.wait(CONNECT_SECONDS)
        except PoolTimeout as error:
            self._pool.close()
            raise DatabaseError(f"the database ({self.address}) gives no connection: {_first_line(error)}") from error

    def _check(self, connection: Connection) -> None:
        """Before a connection is lent: a broken one is replaced, once the embedded server runs again."""
        try:
            ConnectionPool.check_connection(connection)
        except psycopg.OperationalError:
            if self.server is not None:
                with contextlib.suppress(DatabaseError):
                    self.server.start()
            raise

    def _prepare(self) -> None:
        try:
            with (
                psycopg.connect(self._conninfo, autocommit=True, connect_timeout=int(CONNECT_SECONDS)) as connection,
                migrations.locked(connection),
            ):
                check_versions(connection)
                migrations.upgrade(connection, self._conninfo)
        except psycopg.OperationalError as error:
            raise DatabaseError(
                f"no connection to the database ({self.address}): {_first_line(error)}. "
                "Check BOR_DATABASE_URL, or unset it to use the embedded server"
            ) from error
        except psycopg.Error as error:
            raise DatabaseError(
                f"the database ({self.address}) cannot be prepared: {_first_line(error)}. "
                "The user of BOR_DATABASE_URL must be allowed to make tables and the extension vector"
            ) from error


def _parts(address: str) -> dict[str, Any]:
    """Host, port, database and so on of an address; an error shows none of it, since a password may stand anywhere.

    Raises:
        SettingsError: it is no address, or a character of its password cuts it at the wrong place.
    """
    try:
        parts = conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        parts = {"port": "?"}
    if "@" in str(parts.get("host", "")) or not all(
        p.isdigit() for p in str(parts.get("port") or 5432).split(",") if p
    ):
        raise SettingsError(
            "BOR_DATABASE_URL is not allowed: an address such as postgresql://user:password@host:5432/database, "
            "in whose password @ is written %40, / %2F, : %3A, ? %3F, # %23 and % %25"
        )
    return parts


def check_versions(connection: Connection) -> None:
    """Make pgvector available in a database of a server that is new enough.

    Raises:
        ServerTooOldError: PostgreSQL < 17, or no pgvector >= 0.8.
    """
    server = connection.info.server_version // 10_000
    if server < POSTGRES_NEEDED:
        raise ServerTooOldError(f"PostgreSQL {server} at BOR_DATABASE_URL: brainkit needs {POSTGRES_NEEDED} or newer")
    offered = connection.execute("select 1 from pg_available_extensions where name = 'vector'").fetchone()
    if offered is None:
        raise ServerTooOldError("the server has no pgvector: install pgvector 0.8 or newer there")
    connection.execute("create extension if not exists vector")
    row = connection.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
    version = str(row[0]) if row else "0"
    if tuple(int(part) for part in version.split(".")[:2]) < PGVECTOR_NEEDED:
        raise ServerTooOldError(f"pgvector {version}: brainkit needs 0.8 or newer; run ALTER EXTENSION vector UPDATE")


def _configure(connection: Connection) -> None:
    register_vector(connection)
    connection.execute("set timezone = 'UTC'")
    connection.execute("set jit = off")
    # The search statement takes longer to plan than to run, and its plan does not depend on the question.
    connection.execute("set plan_cache_mode = force_generic_plan")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
