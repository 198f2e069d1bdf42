"""What other processes do in these tests: ``python server_actors.py ACTOR HOME ...``."""

import contextlib
import os
import pwd
import signal
import sys
import time
from pathlib import Path

import psycopg

from brainkit.store.server import EmbeddedServer, cluster
from brainkit.store.server.programs import find_programs


def writer(home, number, seconds):
    """Insert rows, and print each number once PostgreSQL has acknowledged it."""
    with EmbeddedServer(Path(home)) as server, psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(1)")
        connection.execute("CREATE TABLE IF NOT EXISTS rows (writer int, i bigint, PRIMARY KEY (writer, i))")
        connection.execute("SELECT pg_advisory_unlock(1)")
        end = time.monotonic() + float(seconds)
        i = 0
        while time.monotonic() < end:
            i += 1
            connection.execute("INSERT INTO rows VALUES (%s, %s)", (int(number), i))
            print(i, flush=True)


def holder(home):
    """Hold a lease until stdin closes; leave by the interpreter's exit alone."""
    server = EmbeddedServer(Path(home))
    server.start()
    print(server.data_dir, flush=True)
    sys.stdin.read()


def dead_at_start(home):
    """Be killed inside initdb."""
    cluster.tuning.configuration = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    EmbeddedServer(Path(home)).start()


def stranger(conninfo, user):
    """Connect as another operating-system user; print what PostgreSQL or the kernel says."""
    with contextlib.suppress(psycopg.OperationalError):
        # loads what psycopg imports late, before this user can read no library any more
        psycopg.connect("host=/nonexistent")
    become(user)
    try:
        psycopg.connect(conninfo)
    except psycopg.OperationalError as error:
        print(error)
    else:
        print("LET IN")


def unprivileged(home, user, programs):
    """The whole life of a server as an ordinary user, with a check after each step."""
    find_programs()
    if user != "-":
        become(user)
    server = EmbeddedServer(Path(home), bin_dir=None if programs == "-" else Path(programs))
    server.start()
    assert server.data_dir.is_relative_to(home), server.data_dir
    assert server.data_dir.stat().st_uid == os.getuid()
    with psycopg.connect(server.conninfo()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        assert connection.execute("SHOW unix_socket_directories").fetchone() == (f"{home}/postgresql/run",)
    server.release()
    assert not (server.data_dir / "postmaster.pid").exists()
    server.start()
    with psycopg.connect(server.conninfo()) as connection:
        print(connection.execute("SELECT answer FROM kept").fetchone()[0])
    server.release()


def become(user):
    entry = pwd.getpwnam(user)
    os.chdir("/")
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
