"""One process at a time: a file lock that the kernel gives back when its holder dies."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

from brainkit.errors import ServerStartError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def locked(path: Path, timeout: float = 660.0) -> Iterator[None]:
    """Hold the lock of ``path``; the file stays, since removing it would let two holders in.

    Args:
        path: file to lock, made if missing.
        timeout: seconds to wait, more than the longest start (pg_ctl's 600 s of crash recovery).

    Raises:
        ServerStartError: somebody else held it all the time.
        OSError: the file cannot be made or opened.
    """
    import fcntl  # not on Windows, where this package must still be importable

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + timeout
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise ServerStartError(
                        f"Another process has held {path} for {timeout:.0f} s. See which with: fuser {path}"
                    ) from None
                time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)
