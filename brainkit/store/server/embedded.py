"""The embedded server of one home: started by whoever comes first, shared, stopped by whoever leaves last."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shlex
import shutil
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import psutil
import psycopg
from psycopg.conninfo import make_conninfo

from brainkit.errors import ServerStartError
from brainkit.store.server import cluster, layout, lease, process
from brainkit.store.server.account import ELSEWHERE, Account, account_for
from brainkit.store.server.deploy import deploy
from brainkit.store.server.lock import locked
from brainkit.store.server.programs import Programs, find_programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

logger = logging.getLogger(__name__)

PORT = 5432
"""Only part of the socket's name; no TCP port is opened."""
LOCK = "postgresql.lock"
LOG_ROTATION_BYTES = 4 << 20
_RECOVERY_SECONDS = 600
_inherited: list[lease.Lease] = []
"""Leases of a parent process, kept so that nothing closes them here."""


class EmbeddedServer:
    """A private PostgreSQL server below ``home``, reached through a Unix socket by its owner alone.

    Several processes, and several objects in one process, share the server; each holds a lease between ``start`` and
    ``release``. A forked child holds none until it calls ``start`` itself. As root the server runs as ``os_user`` and
    its data lie in a folder of /var/lib/brainkit that a file in the home names.

    Args:
        home: folder of the brain; made with mode 0700 if missing.
        bin_dir: directory with PostgreSQL's programs (BOR_PG_BIN) instead of those that are found.
        os_user: system user for the server when we are root (BOR_PG_OSUSER); made if missing.

    Example::

        with EmbeddedServer(home) as server:
            psycopg.connect(server.conninfo())
    """

    def __init__(self, home: Path, *, bin_dir: Path | None = None, os_user: str = "brainkit") -> None:
        self.home = Path(home).expanduser().resolve()
        self._bin_dir = bin_dir
        self._os_user = os_user
        self._programs: Programs | None = None
        self._lease: lease.Lease | None = None
        self._owner = os.getpid()
        self._mutex = threading.RLock()

    def start(self) -> None:
        """Attach to the server, or start it, after making its data the first time; then hold a lease.

        Does nothing while the lease holds, and recovers when it broke because the server or its data went away.

        Raises:
            ServerStartError: with the reason, the end of the server's log and what to do.
        """
        if os.name != "posix":
            raise ServerStartError(f"The embedded PostgreSQL server runs on Linux and macOS only. {ELSEWHERE}")
        self._forget_parent()
        with self._mutex:
            if self._lease is not None:
                # A backend may outlive its killed postmaster for a moment, so that it answers is not enough.
                if self._lease.alive() and self._lease.postmaster == process.postmaster(self.data_dir):
                    return
                self.release()  # stops a server whose data are gone, if nobody else uses it
            try:
                self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
                with locked(self.home / LOCK):
                    self._lease = self._attach_or_launch()
            except (OSError, psycopg.Error) as error:
                reason = f"The embedded PostgreSQL server of {self.home} cannot be used: {error}"
                raise ServerStartError(f"{reason}. {ELSEWHERE}") from error
            atexit.unregister(self.release)
            atexit.register(self.release)

    def release(self) -> None:
        """Give the lease back; the last one stops the server. Without a lease nothing happens. Raises nothing."""
        self._forget_parent()
        with self._mutex:
            held, self._lease = self._lease, None
            atexit.unregister(self.release)
            if held is None:
                return
            try:
                with self._lock_if_there():
                    last = held.others() == 0
                    held.surrender()
                    if last:
                        process.stop(held.postmaster)
            except psycopg.OperationalError:
                held.surrender()
                if not self.home.is_dir():  # the server cannot read its data any more, nor count who uses it
                    process.stop(held.postmaster, signal.SIGQUIT)
            except (OSError, psutil.Error, ServerStartError) as error:
                held.surrender()
                logger.warning("the embedded PostgreSQL server was left running: %s", error)

    def erase(self) -> None:
        """Stop the server, whoever uses it, and delete its data and what points to them. There is no way back."""
        self.release()
        if not self.home.is_dir():
            return
        with locked(self.home / LOCK):
            where = layout.locate(self.home)
            for data in where.state.glob("pg[0-9]*"):
                if (postmaster := process.postmaster(data)) is not None:
                    process.stop(postmaster)
            for folder in {where.state, where.socket}:
                if folder.exists():
                    shutil.rmtree(folder)
            (self.home / layout.POINTER).unlink(missing_ok=True)

    def conninfo(self, dbname: str = cluster.DATABASE) -> str:
        """Connection string for psycopg and libpq. Valid between ``start`` and ``release``."""
        return self._conninfo(dbname, "brainkit")

    def url(self, dbname: str = cluster.DATABASE) -> str:
        """The same as an address for SQLAlchemy with psycopg 3."""
        query = urlencode({"host": str(self._layout().socket), "port": PORT, "application_name": "brainkit"})
        return f"postgresql+psycopg://{cluster.SUPERUSER}@/{quote(dbname, safe='')}?{query}"

    @property
    def programs(self) -> Programs:
        """PostgreSQL's programs for this server, such as ``programs.bin / "pg_dump"``."""
        if self._programs is None:
            self._programs = find_programs(self._bin_dir, major=self._layout().data_major())
        return self._programs

    @property
    def data_dir(self) -> Path:
        """PostgreSQL's data directory; its name carries the major version."""
        return self._layout().data(self.programs.major)

    @property
    def exists(self) -> bool:
        """Whether there are data already; nothing is started or made to find out."""
        return self._layout().data_major() is not None

    @property
    def log_path(self) -> Path:
        """The server's own log."""
        return self._layout().log

    @property
    def version(self) -> str:
        """PostgreSQL's version, such as ``18.6``: of the running server if we use it, else of the programs."""
        held = self._lease
        return held.server_version if held is not None else self.programs.version

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _layout(self) -> layout.Layout:
        return layout.locate(self.home)

    def _conninfo(self, dbname: str, application: str) -> str:
        return make_conninfo(
            host=str(self._layout().socket),
            hostaddr="",  # empty, so that PGHOSTADDR and PGOPTIONS of the environment do not apply
            options="",
            port=PORT,
            user=cluster.SUPERUSER,
            dbname=dbname,
            application_name=application,
        )

    def _forget_parent(self) -> None:
        """In a forked child: the lease is the parent's, and so may be the mutex, held by a thread that is not here."""
        if self._owner != os.getpid():
            if self._lease is not None:
                _inherited.append(self._lease)
                self._lease = None
            self._owner = os.getpid()
            self._mutex = threading.RLock()

    @contextlib.contextmanager
    def _lock_if_there(self) -> Iterator[None]:
        """The home's lock, unless the home was deleted meanwhile; it is not made anew for leaving."""
        if self.home.is_dir():
            with locked(self.home / LOCK):
                yield
        else:
            yield

    def _attach_or_launch(self) -> lease.Lease:
        self._programs = None  # the package may have been upgraded since
        account = account_for(self._os_user)
        where = layout.prepare(self.home, account)
        held = self._attach()
        if held is None:
            self._launch(account, where)
            held = self._attach()
        if held is None:
            raise ServerStartError(f"PostgreSQL started and went away again.{_tail(where.log)}\n{ELSEWHERE}")
        try:
            cluster.ensure_database({name: self.conninfo(name) for name in ("postgres", cluster.DATABASE)})
        except BaseException:
            held.surrender()
            raise
        return held

    def _attach(self) -> lease.Lease | None:
        held = lease.obtain(self._conninfo("postgres", lease.APPLICATION), _RECOVERY_SECONDS)
        if held is not None and held.postmaster.pid != process.recorded_pid(self.data_dir):
            # Its data were deleted or replaced under it, so what it holds is no longer this brain.
            logger.warning("stopping a PostgreSQL server (process %d) whose data are gone", held.postmaster.pid)
            held.surrender()
            process.stop(held.postmaster, signal.SIGQUIT)
            return None
        return held

    def _launch(self, account: Account, where: layout.Layout) -> None:
        self._programs = programs = deploy(self.programs, where.programs)
        data = where.data(programs.major)
        cluster.initialise(data, programs, account)
        address = self._conninfo("postgres", lease.APPLICATION)
        if not process.clear_stale(data, where.socket, lambda: lease.answers(address)):
            return
        _prepare_log(where.log, account)
        options = f"-k {shlex.quote(str(where.socket))} -p {PORT}"  # here, not in a file: a home can be moved
        command = ["-D", str(data), "-w", "-t", str(_RECOVERY_SECONDS), "-l", str(where.log), "-o", options, "start"]
        try:
            account.run(programs.bin / "pg_ctl", *command)
        except ServerStartError as error:
            raise ServerStartError(
                f"The embedded PostgreSQL server does not start. {error}{_tail(where.log)}\n"
                f"Put right what the log names, then try again. {ELSEWHERE}"
            ) from error


def _prepare_log(log: Path, account: Account) -> None:
    if log.exists() and log.stat().st_size > LOG_ROTATION_BYTES:
        log.replace(log.with_suffix(".log.1"))
    if not log.exists():
        log.touch(mode=0o600)
        if account.separate:
            os.chown(log, account.uid, account.gid)


def _tail(log: Path, lines: int = 20) -> str:
    """The end of a log as part of a message, or nothing."""
    try:
        end = log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
    except OSError:
        return ""
    return f"\nThe end of {log}:\n" + "\n".join(f"  {line}" for line in end)
