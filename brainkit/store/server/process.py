"""The server as processes: whether it lives, what a killed one left behind, and how a live one is stopped."""

from __future__ import annotations

import contextlib
import logging
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from brainkit.errors import ServerStartError

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds that processes of a dead server get to notice it; idle ones take milliseconds."""


def recorded_pid(data: Path) -> int | None:
    """The process id in ``postmaster.pid``, whether it lives or not."""
    try:
        return int((data / "postmaster.pid").read_text(encoding="utf-8", errors="replace").split("\n")[0])
    except (OSError, ValueError):
        return None


def postmaster(data: Path) -> psutil.Process | None:
    """The live server that works in ``data``, if one does."""
    pid = recorded_pid(data)
    if pid is None:
        return None
    try:
        process = psutil.Process(pid)
        return process if process.cwd() == str(data) and _is_in(process, data) else None
    except psutil.Error:  # gone, a zombie, or somebody else's that we may not look at
        return None


def holders(data: Path) -> list[psutil.Process]:
    """Live processes that work in ``data``: a server and its backends, and nothing else, do.

    A process id alone proves nothing, it may have been given to another program; a zombie has no directory.
    """
    there = str(data)
    return [
        process for process in psutil.process_iter(["cwd"]) if process.info["cwd"] == there and _is_in(process, data)
    ]


def _is_in(process: psutil.Process, data: Path) -> bool:
    """Whether that name is still that directory: it may have been deleted under the process and made anew."""
    try:
        return Path(f"/proc/{process.pid}/cwd").samefile(data)
    except OSError:
        return not Path("/proc/self/cwd").exists()  # a system without /proc: the name has to do


def clear_stale(data: Path, socket: Path, answers: Callable[[], bool]) -> bool:
    """Remove what a killed server left, so that a new one starts.

    Args:
        data: data directory.
        socket: folder of its socket.
        answers: whether a server answers there; one that was just starting may do so after all.

    Returns:
        True if the way is free, False if a server answers.

    Raises:
        ServerStartError: a server works in ``data`` that cannot be reached at its socket.
    """
    deadline = time.monotonic() + PATIENCE
    while left := holders(data):
        if answers():
            return False
        if time.monotonic() > deadline:
            if (pid := recorded_pid(data)) in {process.pid for process in left}:
                raise ServerStartError(
                    f"A PostgreSQL server (process {pid}) works in {data} but does not answer at {socket}. "
                    f"Stop it with: kill -INT {pid}"
                )
            # Backends that are busy do not see that their postmaster died, and hold its shared memory.
            logger.warning("ending %d processes of a PostgreSQL server that was killed", len(left))
            for process in left:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()  # safe: every start after this replays the write-ahead log
            psutil.wait_procs(left, timeout=PATIENCE)
            break
        time.sleep(0.02)
    (data / "postmaster.pid").unlink(missing_ok=True)
    for name in socket.glob(".s.PGSQL.*"):
        name.unlink(missing_ok=True)
    return True


def stop(postmaster: psutil.Process, how: signal.Signals = signal.SIGINT, timeout: float = 600.0) -> None:
    """Stop a server and wait until it is gone: SIGINT ends its sessions and writes a checkpoint.

    By signal and not by pg_ctl, because Python starts no processes while it exits (3.12.0, 3.12.1).

    Args:
        postmaster: its first process; one that is gone is no error.
        how: SIGINT is PostgreSQL's fast shutdown, SIGQUIT the immediate one.
        timeout: seconds to wait; afterwards it goes on alone, and a warning is logged.
    """
    try:
        postmaster.send_signal(how)
    except psutil.NoSuchProcess:
        return
    deadline = time.monotonic() + timeout
    while _runs(postmaster):
        if time.monotonic() > deadline:
            logger.warning("PostgreSQL (process %d) has not stopped within %.0f s", postmaster.pid, timeout)
            return
        time.sleep(0.01)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
