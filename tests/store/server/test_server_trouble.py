"""What goes wrong seldom: refusals, servers that do not stop, starts that overlap."""

import signal
import subprocess
import sys

import psutil
import psycopg
import pytest

from brainkit.errors import ServerStartError
from brainkit.store.server import EmbeddedServer, cluster, lease, process


@pytest.fixture
def stubborn():
    """A process that does not end by SIGINT."""
    code = "import signal; signal.signal(2, signal.SIG_IGN); print(flush=True); input()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.readline()
    yield child
    child.kill()
    child.communicate()


def test_a_refused_connection_says_why(server, monkeypatch):
    monkeypatch.setattr(lease, "REFUSALS", 1)
    with pytest.raises(ServerStartError, match=r"refuses the connection: .*Peer authentication failed"):
        lease.obtain(server.conninfo().replace("user=brainkit", "user=eve"))


def test_a_server_that_does_not_get_ready_is_not_waited_for_without_end(server):
    with pytest.raises(ServerStartError, match="not become ready within 0 s"):
        lease.obtain(server.conninfo(), timeout=0)


def test_no_server_is_no_lease_and_no_address_is_an_error(tmp_path):
    assert lease.obtain(f"host={tmp_path}") is None
    assert not lease.answers(f"host={tmp_path}")
    with pytest.raises(ServerStartError, match="does not take the address"):
        lease.obtain("nonsense")


def test_a_server_that_is_slow_to_stop_is_left_to_itself(stubborn, caplog):
    process.stop(psutil.Process(stubborn.pid), timeout=0.05)
    assert f"process {stubborn.pid}) has not stopped" in caplog.text
    assert stubborn.poll() is None


def test_stopping_what_is_gone_does_nothing(stubborn):
    known = psutil.Process(stubborn.pid)
    process.stop(known, signal.SIGKILL)
    stubborn.wait()
    process.stop(known)
    assert not psutil.pid_exists(stubborn.pid)


def test_the_pid_of_somebody_else_is_no_postmaster(tmp_path, stubborn):
    (tmp_path / "postmaster.pid").write_text(f"{stubborn.pid}\n")
    assert process.recorded_pid(tmp_path) == stubborn.pid
    assert process.postmaster(tmp_path) is None
    stubborn.kill()
    stubborn.wait()
    assert process.postmaster(tmp_path) is None


def test_a_release_that_cannot_lock_leaves_the_server_running_and_says_so(home, caplog):
    server = EmbeddedServer(home)
    server.start()
    lock = home / "postgresql.lock"
    lock.unlink()
    lock.symlink_to(home / "elsewhere")
    server.release()
    assert "left running" in caplog.text
    assert process.postmaster(server.data_dir) is not None
    lock.unlink()
    server.start()
    server.release()
    assert process.postmaster(server.data_dir) is None


def test_a_database_that_cannot_be_made_gives_the_lease_back(home, monkeypatch):
    def fail(_):
        raise psycopg.OperationalError("disk full")

    monkeypatch.setattr(cluster, "ensure_database", fail)
    server = EmbeddedServer(home)
    with pytest.raises(ServerStartError, match=r"disk full.*BOR_DATABASE_URL"):
        server.start()
    monkeypatch.undo()
    with EmbeddedServer(home) as other:
        assert other._lease.others() == 0


def test_a_server_that_answers_while_another_start_looks_for_leftovers_is_joined(server, monkeypatch):
    late = EmbeddedServer(server.home)
    attach, calls = late._attach, iter(["not yet"])
    monkeypatch.setattr(late, "_attach", lambda: None if next(calls, None) else attach())
    late.start()
    assert late._lease.postmaster == server._lease.postmaster
    late.release()


def test_a_server_that_ends_at_once_shows_its_log(home, monkeypatch):
    server = EmbeddedServer(home)
    monkeypatch.setattr(server, "_attach", lambda: None)
    with pytest.raises(ServerStartError, match=r"went away again(?s:.*)ready to accept connections"):
        server.start()
