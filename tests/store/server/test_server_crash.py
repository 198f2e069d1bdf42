"""SIGKILL for everybody: what was acknowledged stays, and the next start needs no help."""

import os
import signal
import subprocess
import sys
import time

import psutil
import psycopg
import pytest

from brainkit.errors import ServerStartError
from brainkit.store.server import EmbeddedServer, layout, process


@pytest.fixture
def repetitions(request):
    """Once by default, thirty times under ``-m slow``."""
    return range(30 if request.config.getoption("markexpr") == "slow" else 1)


WARM = 20
"""Rows a writer has acknowledged before anything is killed."""


def acknowledged(writer, seen=0):
    """The last row number that a writer was told is safe; a line cut by the kill does not count."""
    *whole, _cut = writer.stdout.read().split("\n")
    writer.wait()
    return int(whole[-1]) if whole else seen


def rows(server):
    with psycopg.connect(server.conninfo()) as connection:
        return {
            writer: (top, count)
            for writer, top, count in connection.execute("SELECT writer, max(i), count(*) FROM rows GROUP BY writer")
        }


def expect_all(server, acks):
    found = rows(server)
    for writer, ack in acks.items():
        top, count = found[writer]
        assert count == top, "no hole"
        assert top in {ack, ack + 1}, "what was acknowledged, and at most the one row under way"


def writing(actor, home, numbers, seconds=60):
    writers = {number: actor("writer", home, number, seconds) for number in numbers}
    for writer in writers.values():
        while int(writer.stdout.readline()) < WARM:
            pass
    return writers


def forget_rows(server):
    with psycopg.connect(server.conninfo()) as connection:
        connection.execute("DROP TABLE IF EXISTS rows")


def test_four_processes_race_on_an_empty_home(empty_home, actor):
    writers = {number: actor("writer", empty_home, number, 0.5) for number in range(4)}
    acks = {number: acknowledged(writer) for number, writer in writers.items()}
    assert [writer.returncode for writer in writers.values()] == [0] * 4
    server = EmbeddedServer(empty_home)
    assert process.holders(server.data_dir) == []
    assert not (server.data_dir / "postmaster.pid").exists()
    with server:
        assert rows(server) == {number: (ack, ack) for number, ack in acks.items()}


@pytest.mark.slow
def test_killed_clients_lose_nothing_and_the_next_process_takes_the_server_over(home, actor, repetitions):
    server = EmbeddedServer(home)
    for _ in repetitions:
        with server:
            forget_rows(server)
        writers = writing(actor, home, (10, 11))
        orphan = process.recorded_pid(server.data_dir)
        for writer in writers.values():
            writer.kill()
        acks = {number: acknowledged(writer, WARM) for number, writer in writers.items()}
        assert psutil.Process(orphan).is_running()
        server.start()
        assert process.recorded_pid(server.data_dir) == orphan
        expect_all(server, acks)
        server.release()
        assert process.holders(server.data_dir) == []


@pytest.mark.slow
def test_a_killed_postmaster_loses_nothing(home, actor, repetitions):
    server = EmbeddedServer(home)
    for _ in repetitions:
        server.start()
        forget_rows(server)
        writers = writing(actor, home, (20,))
        os.kill(process.recorded_pid(server.data_dir), signal.SIGKILL)
        acks = {20: acknowledged(writers[20], WARM)}
        assert writers[20].returncode == 1
        server.start()  # the same object, whose lease broke
        expect_all(server, acks)
        server.release()


def test_a_killed_backend_is_survived_by_starting_again(server):
    before = process.recorded_pid(server.data_dir)
    with psycopg.connect(server.conninfo()) as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    deadline = time.monotonic() + 30
    while server._lease.alive():  # the postmaster ends all its sessions
        assert time.monotonic() < deadline
        time.sleep(0.01)
    server.start()
    assert process.recorded_pid(server.data_dir) == before
    with psycopg.connect(server.conninfo()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def kill_server(server):
    """What a power cut leaves: no process, but its files."""
    for holder in process.holders(server.data_dir):
        holder.kill()
    while process.holders(server.data_dir):
        time.sleep(0.01)
    server.release()
    assert (server.data_dir / "postmaster.pid").exists()


def test_after_a_reboot_the_recorded_process_id_may_be_anybodys(server):
    kill_server(server)
    pid_file = server.data_dir / "postmaster.pid"
    stranger = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    pid_file.write_text("\n".join([str(stranger.pid), *pid_file.read_text().split("\n")[1:]]))
    server.start()
    assert process.recorded_pid(server.data_dir) != stranger.pid
    assert stranger.poll() is None
    stranger.communicate(b"\n")


def test_a_garbled_pid_file_is_no_server(server):
    kill_server(server)
    (server.data_dir / "postmaster.pid").write_text("")
    assert process.recorded_pid(server.data_dir) is None
    server.start()


def test_a_busy_backend_that_outlives_its_postmaster_is_ended(server, monkeypatch):
    monkeypatch.setattr(process, "PATIENCE", 0.3)
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        backend = psutil.Process(connection.info.backend_pid)
        # Never looks up from its work, as a long index build does not.
        backend.suspend()
        os.kill(process.recorded_pid(server.data_dir), signal.SIGKILL)
        while process.postmaster(server.data_dir) is not None:
            time.sleep(0.01)
        server.start()
        assert not backend.is_running() or backend.status() == psutil.STATUS_ZOMBIE
    with psycopg.connect(server.conninfo()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_server_that_lives_without_its_socket_is_named_and_not_killed(server, monkeypatch):
    monkeypatch.setattr(process, "PATIENCE", 0.2)
    pid = process.recorded_pid(server.data_dir)
    socket = server.data_dir.with_name("run") / ".s.PGSQL.5432"
    socket.rename(socket.with_name("hidden"))
    with pytest.raises(ServerStartError, match=f"kill -INT {pid}"):
        EmbeddedServer(server.home).start()
    socket.with_name("hidden").rename(socket)
    server.start()
    assert process.recorded_pid(server.data_dir) == pid


def test_an_unfinished_initdb_is_wiped(empty_home, actor):
    killed = actor("dead_at_start", empty_home)
    assert killed.wait() == -signal.SIGKILL
    server = EmbeddedServer(empty_home)
    unfinished = server.data_dir.with_name(f"{server.data_dir.name}.unfinished")
    assert (unfinished / "PG_VERSION").exists()
    assert not server.data_dir.exists()
    with server, psycopg.connect(server.conninfo()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert not unfinished.exists()


def test_a_home_deleted_under_its_server_begins_anew(empty_home, caplog):
    first = EmbeddedServer(empty_home)
    first.start()
    with psycopg.connect(first.conninfo()) as connection:
        connection.execute("CREATE TABLE old ()")
    old, old_data = psutil.Process(process.recorded_pid(first.data_dir)), first.data_dir
    for entry in empty_home.iterdir():
        if entry.is_file():
            entry.unlink()
        else:
            subprocess.run(["rm", "-rf", entry], check=True)
    empty_home.rmdir()
    try:
        first.start()  # the only lease of the old server is given back, so it goes
        assert process._runs(old) is False
        with psycopg.connect(first.conninfo()) as connection:
            assert connection.execute("SELECT to_regclass('old')").fetchone() == (None,)
        if os.geteuid() == 0:
            assert str(old_data.parent) in caplog.text
            assert first.data_dir != old_data
    finally:
        first.release()
        if old_data.exists() and old_data != first.data_dir:
            subprocess.run(["rm", "-rf", old_data.parent], check=True)


def test_a_home_deleted_before_the_last_release_still_lets_the_server_stop(empty_home):
    server = EmbeddedServer(empty_home)
    server.start()
    running, state = psutil.Process(process.recorded_pid(server.data_dir)), server.data_dir.parent
    subprocess.run(["rm", "-rf", empty_home], check=True)
    server.release()
    assert not process._runs(running)
    assert not empty_home.exists()
    subprocess.run(["rm", "-rf", state], check=True)


def test_data_replaced_under_a_running_server_are_served_by_a_new_one(server, caplog):
    old = process.recorded_pid(server.data_dir)
    backup = server.data_dir.with_name("backup")
    subprocess.run(["cp", "-a", server.data_dir, backup], check=True)
    (backup / "postmaster.pid").unlink()
    server.data_dir.rename(server.data_dir.with_name("replaced"))
    backup.rename(server.data_dir)
    EmbeddedServer(server.home).start()
    assert f"process {old}" in caplog.text
    assert process.recorded_pid(server.data_dir) not in {None, old}
    subprocess.run(["rm", "-rf", server.data_dir.with_name("replaced")], check=True)
    assert layout.locate(server.home).data_major() == int(server.version.split(".")[0])
