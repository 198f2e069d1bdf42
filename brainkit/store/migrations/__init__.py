"""The schema's history (Alembic); ``upgrade`` brings a database to the newest version."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import psycopg

from brainkit.errors import SchemaError

HEAD: Final = "0006"
_HERE: Final = Path(__file__).parent
_ALEMBIC: Final = threading.Lock()  # its context is one for the whole process


def current(connection: psycopg.Connection[tuple[Any, ...]]) -> str | None:
    """Schema version of a database, or None where brainkit has made no table yet."""
    row = connection.execute("select to_regclass('alembic_version') is not null").fetchone()
    if row is None or not row[0]:
        return None
    found = connection.execute("select version_num from alembic_version").fetchone()
    return None if found is None else str(found[0])


@contextlib.contextmanager
def locked(connection: psycopg.Connection[tuple[Any, ...]]) -> Iterator[None]:
    """One process at a time prepares a database."""
    connection.execute("select pg_advisory_lock(hashtextextended('brainkit migrations', 0))")
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute("select pg_advisory_unlock(hashtextextended('brainkit migrations', 0))")


def upgrade(connection: psycopg.Connection[tuple[Any, ...]], conninfo: str) -> None:
    """Migrate to ``HEAD``, over a connection of its own; nothing is done when the database is there already.

    Raises:
        SchemaError: the database was made by a newer brainkit.
    """
    version = current(connection)
    if version == HEAD:
        return
    known = {path.name.split("_")[0] for path in (_HERE / "versions").glob("[0-9]*.py")}
    if version is not None and version not in known:
        raise SchemaError(
            f"the database has schema version {version}, this brainkit knows {HEAD} at most: update brainkit"
        )
    run("upgrade", "head", conninfo)


def run(command: Literal["upgrade", "downgrade"], revision: str, conninfo: str) -> None:
    """Let Alembic bring a database to a revision."""
    from alembic import command as alembic  # half a second to import, needed once in a brain's life
    from alembic.config import Config
    from sqlalchemy.exc import DBAPIError

    config = Config()
    config.set_main_option("script_location", str(_HERE).replace("%", "%%"))
    config.attributes["conninfo"] = conninfo
    try:
        with _ALEMBIC:
            getattr(alembic, command)(config, revision)
    except DBAPIError as error:
        raise error.orig or error from None
