"""A command that serves until it is told to stop ends in order, however it is told."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Have SIGTERM and a closed terminal end the work in the block as Ctrl-C does, so that all of it is closed."""

    def stop(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = {getattr(signal, name, signal.SIGTERM) for name in ("SIGTERM", "SIGHUP")}  # the second not on Windows
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
