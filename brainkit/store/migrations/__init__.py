"""The schema's history (Alembic); ``upgrade`` brings a database to the newest version."""

from __future__ import annotations

from pathlib import Path

import psycopg

from brainkit.errors import SchemaError

HEAD = "0001"
_HERE = Path(__file__).parent


def current(connection: psycopg.Connection) -> str | None:
    """Schema version of a database, or None where brainkit has made no table yet."""
    row = connection.execute("select to_regclass('alembic_version') is not null").fetchone()
    if row is None or not row[0]:
        return None
    found = connection.execute("select version_num from alembic_version").fetchone()
    return None if found is None else str(found[0])


def upgrade(connection: psycopg.Connection, url: str) -> None:
    """Migrate to ``HEAD``; one process at a time, nothing done when the database is there already.

    Raises:
        SchemaError: the database was made by a newer brainkit.
    """
    if current(connection) == HEAD:
        return
    connection.execute("select pg_advisory_lock(hashtextextended('brainkit migrations', 0))")
    try:
        version = current(connection)
        known = {path.name.split("_")[0] for path in (_HERE / "versions").glob("[0-9]*.py")}
        if version is not None and version not in known:
            raise SchemaError(
                f"the database has schema version {version}, this brainkit knows {HEAD} at most: update brainkit"
            )
        if version != HEAD:
            _run_alembic(url)
    finally:
        connection.execute("select pg_advisory_unlock(hashtextextended('brainkit migrations', 0))")


def _run_alembic(url: str) -> None:
    from alembic import command  # half a second to import, needed once in a brain's life
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_HERE).replace("%", "%%"))
    config.attributes["url"] = url
    command.upgrade(config, "head")
