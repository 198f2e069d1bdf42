"""The way to PostgreSQL: addresses that are wrong, servers that are too old, connections that break."""

import concurrent.futures
import os
import re
import signal
import time
import types

import psutil
import psycopg
import pytest
from psycopg import errors

import brainkit.store.database
from brainkit import Settings
from brainkit.errors import DatabaseError, SchemaError, ServerTooOldError, SettingsError
from brainkit.store import Database, migrations
from brainkit.store.database import check_versions

SECRET = "Her" + "bst" + "-77!"


def tables(url):
    with psycopg.connect(url) as connection:
        rows = connection.execute("select tablename from pg_tables where schemaname = 'public' order by 1").fetchall()
    return {row[0] for row in rows}


@pytest.fixture
def empty_url(server):
    """Address of a database in which brainkit never was."""
    name = f"empty_{os.getpid()}_{time.monotonic_ns()}"
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(f"create database {name}")
    return server.url(name).replace("postgresql+psycopg://", "postgresql://")


def test_a_fresh_database_gets_its_tables_and_a_second_opening_changes_nothing(empty_url):
    with Database(Settings(database_url=empty_url)) as database:
        versions = database.versions()
    made = tables(empty_url)
    assert {"documents", "chunks", "lexemes", "embedding_models", "labels", "query_log", "alembic_version"} <= made
    assert versions["schema"] == migrations.HEAD
    assert int(versions["postgresql"].split(".")[0]) >= 17
    assert tuple(map(int, versions["pgvector"].split(".")))[:2] >= (0, 8)
    with Database(Settings(database_url=empty_url)):
        assert tables(empty_url) == made


def test_many_openings_of_a_fresh_database_at_once(empty_url):
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        opened = list(pool.map(lambda _: Database(Settings(database_url=empty_url)), range(6)))
    for database in opened:
        assert database.versions()["schema"] == migrations.HEAD
        database.close()


def test_down_and_up_again_with_vectors_in_it(empty_url, database):
    with Database(Settings(database_url=empty_url)) as opened, opened.connection() as connection:
        connection.execute("create table vectors_1 (chunk_id bigint primary key)")
        connection.execute("create table vectors_of_somebody_else (id int)")
    migrations.run("downgrade", "base", empty_url)
    assert tables(empty_url) == {"alembic_version", "vectors_of_somebody_else"}
    with Database(Settings(database_url=empty_url)):
        assert {"documents", "chunks", "lexicon"} <= tables(empty_url)
    with Database(Settings(database_url=empty_url)) as opened, opened.connection() as connection:
        assert connection.execute("select chunks, newest_chunk, mean_length from lexicon").fetchall() == [(0, 0, 0)]


def test_tables_of_a_newer_brainkit_are_refused(database, database_url):
    with database.connection() as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    with pytest.raises(SchemaError, match=rf"schema version 9999.*knows {migrations.HEAD}.*update brainkit"):
        Database(Settings(database_url=database_url))


def fake_connection(server=180000, offered=True, installed="0.8.1"):
    """A server of another version cannot be had here: says what it is asked, keeps what it was told."""
    statements = []

    def execute(statement):
        statements.append(statement)
        row = (1,) if offered else None
        if "extversion" in statement:
            row = (installed,)
        return types.SimpleNamespace(fetchone=lambda: row)

    return types.SimpleNamespace(
        info=types.SimpleNamespace(server_version=server), execute=execute, statements=statements
    )


@pytest.mark.parametrize(
    ("connection", "message"),
    [
        (fake_connection(server=160009), r"PostgreSQL 16 .*needs 17 or newer"),
        (fake_connection(offered=False), r"no pgvector: install pgvector 0\.8"),
        (fake_connection(installed="0.7.4"), r"pgvector 0\.7\.4: .*0\.8.*ALTER EXTENSION vector UPDATE"),
        (fake_connection(installed="0.10.0", server=160000), r"PostgreSQL 16"),
    ],
)
def test_too_old_servers_are_refused_before_anything_is_made(connection, message):
    with pytest.raises(ServerTooOldError, match=message):
        check_versions(connection)
    assert not [s for s in connection.statements if s.startswith("create") and "0.7.4" not in message.replace("\\", "")]


@pytest.mark.parametrize("version", ["0.8", "0.8.0", "0.10.0", "1.0"])
def test_new_enough_servers_are_taken(version):
    connection = fake_connection(server=170000, installed=version)
    check_versions(connection)
    assert "create extension if not exists vector" in connection.statements


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ina:{}@127.0.0.1:1/brain",
        "postgresql://ina:{}@no-such-host.invalid/brain",
        "postgresql://ina@127.0.0.1:1/brain?password={}",
        "postgresql://ina:{}@/brain?host=/no/such/folder",
    ],
)
def test_an_address_that_does_not_answer_is_named_without_its_password(address):
    with pytest.raises(
        DatabaseError, match=r"(?s)no connection to the database .*brain.*Check BOR_DATABASE_URL"
    ) as caught:
        Database(Settings(database_url=address.format(SECRET)))
    assert SECRET not in str(caught.value)
    assert "ina:" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ina:{SECRET}/x@host/brain",
        f"postgresql://ina:{SECRET}@x@host/brain",
        f"postgresql://ina:{SECRET}:x@host:port/brain",
        f"postgresql://ina:{SECRET}%zz@host/brain",
        f"postgresql://ina:{SECRET}@[::1/brain",
        f"postgresql://ina:{SECRET}@host/brain?nonsense=1",
    ],
)
def test_an_address_that_cannot_be_read_is_not_shown_at_all(address):
    with pytest.raises(SettingsError, match=r"BOR_DATABASE_URL is not allowed.*%40") as caught:
        Database(Settings(database_url=address))
    shown = str(caught.value)
    assert SECRET not in shown
    assert caught.value.__cause__ is None
    assert "ina" not in re.findall(r"\w+", shown)


def test_a_user_who_may_not_make_tables_is_told_so(server, empty_url):
    with psycopg.connect(empty_url, autocommit=True) as connection:
        if not connection.execute("select from pg_roles where rolname = 'guest'").fetchone():
            connection.execute("create role guest login")
    with pytest.raises(DatabaseError, match=r"cannot be prepared: permission denied.*must be allowed"):
        Database(Settings(database_url=empty_url + "&options=-c%20role%3Dguest"))
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute("create extension vector")
    with pytest.raises(DatabaseError, match=r"cannot be prepared: permission denied.*must be allowed"):
        Database(Settings(database_url=empty_url + "&options=-c%20role%3Dguest"))


def test_the_address_names_no_user_and_no_password(database):
    database._conninfo = f"postgresql://ina:{SECRET}@db.fernhof.example:6543/brain?sslmode=disable"
    assert database.address == "db.fernhof.example:6543/brain"
    database._conninfo = "postgresql://ina@/brain"
    assert database.address == "local socket:5432/brain"


def terminate_all(url):
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()"
        )


def test_the_call_after_all_connections_were_cut_works(database, database_url):
    for _ in range(3):
        with database.connection() as connection:
            assert connection.execute("select 1").fetchone() == (1,)
        terminate_all(database_url)


def test_a_connection_cut_while_it_is_used_is_a_database_error_and_the_next_call_works(database, database_url):
    def cut_off():
        with database.connection() as lent:
            terminate_all(database_url)
            lent.execute("select 1")

    with pytest.raises(DatabaseError, match=r"does not answer: .*terminat.*Try again"):
        cut_off()
    with database.connection() as connection:
        assert connection.execute("select 1").fetchone() == (1,)


def test_other_errors_pass_as_they_are_and_leave_the_connection_usable(database):
    with pytest.raises(errors.UndefinedTable), database.connection() as connection:
        connection.execute("select * from nowhere")
    with database.connection() as connection:
        assert connection.execute("select 1").fetchone() == (1,)


def test_a_closed_database_says_so_and_stays_closed(database):
    database.close()
    database.close()
    with pytest.raises(DatabaseError, match="was closed"), database.connection():
        pass


def kill(database):
    postmaster = int((database.server.data_dir / "postmaster.pid").read_text().split()[0])
    os.kill(postmaster, signal.SIGKILL)
    return postmaster


def until_it_breaks(database):
    with database.connection() as lent:
        kill(database)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:  # a backend may outlive its postmaster for a moment
            lent.execute("select 1")
            time.sleep(0.01)


def test_the_embedded_server_is_started_for_the_brain_and_again_whenever_it_was_killed(tmp_path):
    database = Database(Settings(home=tmp_path))
    try:
        assert database.address.startswith("embedded, ")
        with pytest.raises(DatabaseError, match="does not answer"):
            until_it_breaks(database)
        with database.connection() as connection:
            assert connection.execute("select version_num from alembic_version").fetchone() == (migrations.HEAD,)
            backend = psutil.Process(connection.info.backend_pid)
        kill(database)
        psutil.wait_procs([backend], timeout=20)
        with database.connection() as connection:
            connection.execute("update alembic_version set version_num = '9999'")
        database.close()
        with pytest.raises(DatabaseError, match="was closed"), database.connection():
            pass
        assert not (database.server.data_dir / "postmaster.pid").exists()
        with pytest.raises(SchemaError):  # and gives the server back
            Database(Settings(home=tmp_path))
        assert not (database.server.data_dir / "postmaster.pid").exists()
    finally:
        database.close()
        database.server.erase()


def test_a_server_that_gives_no_usable_connection_is_told_in_time(server, empty_url, monkeypatch):
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute("create schema elsewhere")
        connection.execute("create extension vector schema elsewhere")  # where no search path leads
    monkeypatch.setattr(brainkit.store.database, "CONNECT_SECONDS", 1.0)
    with pytest.raises(DatabaseError, match="gives no connection"):
        Database(Settings(database_url=empty_url))
