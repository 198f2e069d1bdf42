"""Start, attach, share, stop: what the server does while nothing goes wrong."""

import os
import stat
import subprocess
import time

import psutil
import psycopg
import pytest
import sqlalchemy

from brainkit.errors import ServerStartError
from brainkit.store.server import EmbeddedServer, process
from brainkit.store.server.lock import locked


def postmaster(server):
    return psutil.Process(process.recorded_pid(server.data_dir))


def ask(server, question):
    with psycopg.connect(server.conninfo()) as connection:
        return connection.execute(question).fetchone()


def is_down(server):
    return not process.holders(server.data_dir) and not (server.data_dir / "postmaster.pid").exists()


def test_the_database_is_there_with_its_extensions_and_a_sort_order_of_its_own(server):
    with psycopg.connect(server.conninfo()) as connection:
        names = {name for (name,) in connection.execute("SELECT extname FROM pg_extension")}
        assert {"vector", "pg_trgm"} <= names
        locale = connection.execute(
            "SELECT pg_encoding_to_char(encoding), datlocprovider, datlocale "
            "FROM pg_database WHERE datname = current_database()"
        ).fetchone()
        assert locale == ("UTF8", "b", "C.UTF-8")
        # code-point order, whatever the machine's locale says
        ordered = connection.execute(
            "SELECT string_agg(c, '' ORDER BY c) FROM unnest('{a,B,ä,Z}'::text[]) c"
        ).fetchone()
        assert ordered == ("BZaä",)


def test_nothing_that_keeps_data_safe_is_turned_off(server):
    with psycopg.connect(server.conninfo()) as connection:
        for name in ("fsync", "full_page_writes", "synchronous_commit", "data_checksums"):
            assert connection.execute(f"SHOW {name}").fetchone() == ("on",)
        assert connection.execute("SHOW jit").fetchone() == ("off",)


def test_it_listens_on_no_tcp_port(server):
    assert postmaster(server).net_connections("inet") == []
    assert ".s.PGSQL.5432" in str(postmaster(server).net_connections("unix"))


def test_only_the_owner_can_enter_its_folders(server):
    run = server.data_dir.with_name("run")
    for folder in (server.data_dir, run):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((run / ".s.PGSQL.5432").stat().st_mode) == 0o700
    hba = ask(server, "SELECT array_agg(DISTINCT auth_method), array_agg(DISTINCT type) FROM pg_hba_file_rules")
    assert hba == (["peer"], ["local"])


def test_start_again_keeps_the_lease_and_a_second_object_attaches(server, home):
    first = postmaster(server)
    server.start()
    with EmbeddedServer(home) as second:
        assert postmaster(second) == first
        leases = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'brainkit-lease'"
        assert ask(second, leases) == (2,)
    assert first.is_running()
    assert ask(server, leases) == (1,)


def test_the_last_release_stops_the_server_and_more_releases_do_nothing(home):
    first, second = EmbeddedServer(home), EmbeddedServer(home)
    first.start()
    second.start()
    first.release()
    first.release()
    assert ask(second, "SELECT 1") == (1,)
    second.release()
    assert is_down(second)
    second.release()


def test_the_interpreters_exit_gives_the_lease_back(home, actor):
    leaving = actor("holder", home)
    assert leaving.stdout.readline()
    server = EmbeddedServer(home)
    assert postmaster(server).is_running()
    leaving.communicate("")
    assert leaving.returncode == 0
    assert is_down(server)


def test_a_forked_child_neither_uses_nor_stops_the_parents_server(server):
    (child := os.fork()) or _in_child(server)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    server.start()
    assert ask(server, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'brainkit-lease'") == (1,)


def _in_child(server):
    status = 1
    try:
        parent = server._lease
        server.release()
        server.start()
        if server._lease is not parent and server._lease.others() == 1:
            server.release()
            status = 0
    finally:
        os._exit(status)


def test_sqlalchemy_connects_by_the_url(server):
    engine = sqlalchemy.create_engine(server.url())
    with engine.connect() as connection:
        row = connection.execute(sqlalchemy.text("SELECT current_user, current_database(), version()")).one()
    engine.dispose()
    assert row[:2] == ("brainkit", "brainkit")
    assert row[2].startswith(f"PostgreSQL {server.version} ")


def test_the_environments_postgresql_variables_do_not_apply(server, monkeypatch):
    for name, value in {
        "PGHOST": "db.example",
        "PGHOSTADDR": "192.0.2.1",
        "PGPORT": "1",
        "PGUSER": "eve",
        "PGDATABASE": "x",
        "PGOPTIONS": "-c nonsense=1",
        "PGDATA": "/nonexistent",
        "PGAPPNAME": "brainkit-lease",
    }.items():
        monkeypatch.setenv(name, value)
    assert ask(server, "SELECT current_setting('application_name')") == ("brainkit",)
    server.release()
    server.start()
    assert ask(server, "SELECT 1") == (1,)


def test_a_server_that_does_not_start_shows_its_log_and_what_to_do(server):
    server.release()
    settings = server.data_dir / "postgresql.auto.conf"
    good = settings.read_text()
    settings.write_text(f"{good}shared_buffers = 'plenty'\n")
    with pytest.raises(ServerStartError, match='invalid value for parameter "shared_buffers": "plenty"') as caught:
        server.start()
    assert str(server.log_path) in str(caught.value)
    assert "BOR_DATABASE_URL" in str(caught.value)
    server.release()
    settings.write_text(good)


def test_a_full_log_is_set_aside(server):
    server.release()
    with server.log_path.open("a") as log:
        log.truncate(5 << 20)
    server.start()
    assert server.log_path.stat().st_size < 100_000
    assert server.log_path.with_name("server.log.1").stat().st_size == 5 << 20


def test_statements_and_their_values_stay_out_of_the_log(server):
    with psycopg.connect(server.conninfo()) as connection, pytest.raises(psycopg.errors.InvalidTextRepresentation):
        connection.execute("SELECT 'text of a note'::text, %s::int", ["value of a note"])
    server.release()
    assert "of a note" not in server.log_path.read_text()


def test_windows_is_told_to_use_a_server(home, monkeypatch):
    server = EmbeddedServer(home)
    monkeypatch.setattr("brainkit.store.server.embedded.os.name", "nt")
    with pytest.raises(ServerStartError, match="BOR_DATABASE_URL"):
        server.start()
    monkeypatch.undo()


def test_a_home_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ServerStartError, match="/file"):
        EmbeddedServer(tmp_path / "file" / "home").start()


def test_a_lock_held_too_long_names_its_file(tmp_path):
    path = tmp_path / "lock"
    started = time.monotonic()
    with locked(path), pytest.raises(ServerStartError, match=f"fuser {path}"), locked(path, timeout=0.05):
        pass
    assert time.monotonic() - started < 5
    with locked(path, timeout=0):
        pass


def test_erase_stops_the_server_of_others_and_leaves_nothing(empty_home):
    used, eraser = EmbeddedServer(empty_home), EmbeddedServer(empty_home)
    used.start()
    state = used.data_dir.parent
    eraser.erase()
    assert not state.exists()
    assert [entry.name for entry in empty_home.iterdir()] == ["postgresql.lock"]
    used.release()
    eraser.erase()


def test_pg_dump_of_the_same_programs_runs(server):
    dump = [server.programs.bin / "pg_dump", "--schema-only", server.conninfo()]
    done = subprocess.run(dump, capture_output=True, text=True, check=True)
    assert "CREATE EXTENSION IF NOT EXISTS vector" in done.stdout
