"""Files prepared by processes of their own, in order; few files are not worth starting any.

A worker is a fresh Python that reads tasks from its standard input and ends when that is closed, so that none outlives
an import, however that ends. (multiprocessing would run the caller's script anew in each.)
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any

from brainkit.ingestion.prepare import Prepared, Preparer, Task
from brainkit.scrub import Scrubber
from brainkit.settings import Settings

WORTH_BYTES = 1_500_000
"""Less text than this is read before a second process has started."""
GROUP_BYTES = 100_000
WAITING = 4
"""Groups a worker may be ahead."""
MOST = 8
_COMMAND = "from brainkit.ingestion.workers import serve; serve()"


class Workers:
    """The processes of one import: started when there is enough to do, ended by ``close``.

    Args:
        preparer: prepares files here, where processes are not worth it or fail.
        settings: those of ``preparer``.
    """

    def __init__(self, preparer: Preparer, settings: Settings) -> None:
        self._preparer = preparer
        self._settings = settings
        self._workers: list[Worker] = []

    def prepare(self, tasks: Sequence[Task]) -> Iterator[Prepared]:
        """What became of each file, in their order."""
        if not self._workers and sum(task.file.size for task in tasks) >= WORTH_BYTES and cores() > 1:
            self._workers = [Worker(self._settings) for _ in range(cores())]
        if not self._workers:
            yield from map(self._preparer.prepare, tasks)
            return
        waiting: deque[tuple[list[Task], Future[list[Prepared]]]] = deque()
        for number, group in enumerate(_groups(tasks)):
            waiting.append((group, self._workers[number % len(self._workers)].submit(group)))
            if len(waiting) > WAITING * len(self._workers):
                yield from _result(*waiting.popleft(), self._preparer)
        while waiting:
            yield from _result(*waiting.popleft(), self._preparer)

    def close(self) -> None:
        """End the processes, whatever they do."""
        while self._workers:
            self._workers.pop().close()


def cores() -> int:
    """Processes that can run at once here, at most ``MOST``."""
    return min(MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def _result(group: list[Task], future: Future[list[Prepared]], preparer: Preparer) -> list[Prepared]:
    try:
        return future.result()
    except (OSError, EOFError, pickle.PickleError):  # the worker was killed: no file is lost for it
        return [preparer.prepare(task) for task in group]


def _groups(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    group: list[Task] = []
    size = 0
    for task in tasks:
        group.append(task)
        size += task.file.size + 1000
        if size > GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


class Worker:
    """A process that prepares files; one thread here waits for its replies."""

    def __init__(self, settings: Settings) -> None:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the process that asked
        )
        self._thread = ThreadPoolExecutor(1, "brainkit-worker")
        self._thread.submit(self._send, settings)

    def submit(self, tasks: list[Task]) -> Future[list[Prepared]]:
        """Ask for some files; the future raises OSError or EOFError when the process died."""
        return self._thread.submit(self._ask, tasks)

    def close(self) -> None:
        """End the process, whatever it does."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._process.kill()
        self._process.wait()
        self._thread.shutdown()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                pipe and pipe.close()

    def _send(self, value: Any) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        pickle.dump(value, pipe)
        pipe.flush()

    def _ask(self, tasks: list[Task]) -> list[Prepared]:
        self._send(tasks)
        assert self._process.stdout is not None
        answer: list[Prepared] = pickle.load(self._process.stdout)  # noqa: S301 - from our own process
        return answer


def serve(source: IO[bytes] | None = None, sink: IO[bytes] | None = None) -> None:
    """What a worker does: prepare one group of files after the other until there are no more."""
    source, sink = source or sys.stdin.buffer, sink or sys.stdout.buffer
    sys.stdout = sys.stderr  # a library that prints must not spoil the replies
    with contextlib.suppress(EOFError, BrokenPipeError):
        settings: Settings = pickle.load(source)  # noqa: S301 - from the process that started this one
        preparer = Preparer(settings, Scrubber(email=settings.scrub_email, rules=settings.scrub_rules))
        while True:
            tasks: list[Task] = pickle.load(source)  # noqa: S301
            pickle.dump([preparer.prepare(task) for task in tasks], sink)
            sink.flush()
