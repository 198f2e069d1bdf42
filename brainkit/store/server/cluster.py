"""Makes the data directory, whole or not at all, and the brain's database in it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from brainkit.store.server import tuning

if TYPE_CHECKING:
    from pathlib import Path

    from brainkit.store.server.account import Account
    from brainkit.store.server.programs import Programs

DATABASE = "brainkit"
SUPERUSER = "brainkit"
EXTENSIONS = ("vector", "pg_trgm")

# Peer authentication only: the kernel says who is at the other end of the socket.
HBA = f"local all all peer map={SUPERUSER}\nlocal replication all peer map={SUPERUSER}\n"


def initialise(data: Path, programs: Programs, account: Account) -> None:
    """Make ``data`` unless it is there; the caller holds the lock.

    It is made beside its place and renamed last, so what an interrupted initdb left is never taken for data, and
    no directory with data is ever wiped.

    Raises:
        ServerStartError: initdb failed.
    """
    if data.exists():
        return
    unfinished = data.with_name(f"{data.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    if account.separate:
        os.chown(unfinished, account.uid, account.gid)
    account.run(
        programs.bin / "initdb",
        f"--pgdata={unfinished}",
        f"--username={SUPERUSER}",
        "--auth-local=peer",
        "--auth-host=reject",
        "--encoding=UTF8",
        # Sorting that does not depend on the operating system's locales, which change with its upgrades.
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--locale=C",
        "--data-checksums",
        "--no-instructions",
    )
    idents = "".join(f'{SUPERUSER} "{peer}" {SUPERUSER}\n' for peer in account.peers)
    _write(unfinished / "pg_hba.conf", HBA, account)
    _write(unfinished / "pg_ident.conf", idents, account)
    _write(unfinished / "postgresql.auto.conf", tuning.configuration(tuning.memory_bytes()), account)
    unfinished.rename(data)
    folder = os.open(data.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name is on disk before anything is committed below it
    finally:
        os.close(folder)


def ensure_database(conninfo_of: dict[str, str]) -> None:
    """Make the database ``brainkit`` and its extensions if they are missing.

    Args:
        conninfo_of: libpq conninfo by database name, for ``postgres`` and ``brainkit``.
    """
    with psycopg.connect(conninfo_of["postgres"], autocommit=True) as connection:
        known = connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).rowcount
        if not known:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
    with psycopg.connect(conninfo_of[DATABASE], autocommit=True) as connection:
        present = {name for (name,) in connection.execute("SELECT extname FROM pg_extension")}
        for name in EXTENSIONS:
            if name not in present and (name == "vector" or _available(connection, name)):
                connection.execute(sql.SQL("CREATE EXTENSION {}").format(sql.Identifier(name)))


def _available(connection: psycopg.Connection[tuple[object, ...]], name: str) -> bool:
    return bool(connection.execute("SELECT FROM pg_available_extensions WHERE name = %s", [name]).rowcount)


def _write(path: Path, text: str, account: Account) -> None:
    """Write a file of the account's; made anew, so that no link in its folder is followed, and on disk when done."""
    path.unlink(missing_ok=True)
    # Path.open takes no opener, and the file must be private from its first moment.
    with open(path, "x", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
        if account.separate:
            os.fchown(file.fileno(), account.uid, account.gid)
