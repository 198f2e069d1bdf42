"""The server's settings, sized for a small machine that has other things to do."""

from __future__ import annotations

import shutil
from pathlib import Path

import psutil

MB = 1 << 20

_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def memory_bytes() -> int:
    """Memory this process may use: the machine's, or less where a container is given less."""
    amounts = [psutil.virtual_memory().total]
    for limit in _CGROUP_LIMITS:
        try:
            amounts.append(int(limit.read_bytes()))
        except (OSError, ValueError):  # no cgroup of that version, or "max"
            continue
    return min(amounts)


def configuration(memory: int, shared_memory: int | None = None) -> str:
    """Text of ``postgresql.auto.conf``.

    Durability is PostgreSQL's default (fsync, full_page_writes, synchronous_commit all on) and nothing here weakens it.

    Args:
        memory: bytes the machine has.
        shared_memory: bytes of /dev/shm; looked up if None.

    Example:
        >>> "shared_buffers = '128MB'" in configuration(1024 * MB, 1024 * MB)
        True
    """
    eighth = memory // 8 // MB
    maintenance = min(1024, max(64, eighth))
    if shared_memory is None:
        shared_memory = _size("/dev/shm")  # noqa: S108 - asked for its size only
    # A container's /dev/shm of 64 MB is too small for a parallel index build, which would fail half way.
    dynamic = "posix" if shared_memory >= 2 * maintenance * MB else "mmap"
    settings = {
        "listen_addresses": "",
        "unix_socket_permissions": "0700",
        "shared_buffers": f"{min(512, max(32, eighth))}MB",
        "maintenance_work_mem": f"{maintenance}MB",
        "work_mem": f"{min(32, max(4, eighth // 16))}MB",
        "effective_cache_size": f"{max(128, memory // 2 // MB)}MB",
        "dynamic_shared_memory_type": dynamic,
        "max_connections": "60",
        "max_wal_size": "2GB",
        "wal_compression": "on",
        "wal_recycle": "off",  # a segment kept for later use keeps its old text too
        "jit": "off",  # compiling costs more than the short queries here take
        "random_page_cost": "1.1",
        "max_parallel_workers_per_gather": "2",
        "max_parallel_maintenance_workers": "2",
        "timezone": "UTC",
        "log_timezone": "UTC",
        # Failed statements are for the client; in the log their values would be a second copy of the notes.
        "log_min_messages": "log",
        "log_min_error_statement": "panic",
    }
    return "".join(f"{name} = '{value}'\n" for name, value in settings.items())


def _size(path: str) -> int:
    try:
        return shutil.disk_usage(path).total
    except OSError:
        return 0
