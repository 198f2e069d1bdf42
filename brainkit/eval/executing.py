"""Who asks the questions: this process, one after the other or several at a time, or a cluster."""

from __future__ import annotations

import contextlib
import gc
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import FrameType
from typing import Final

from brainkit.brain import Brain
from brainkit.errors import UsageError
from brainkit.eval.asking import Asked, ask
from brainkit.eval.config import EvalConfig
from brainkit.labels import Label

_SCHEME: Final = "dask://"
AskAll = Callable[[Sequence[Label], "Stop | None"], Iterator[Asked]]


class Stop:
    """Ctrl-C while questions are asked: the one at hand is finished, and what was asked is reported.

    A second one stops at once, as does the first before any question was asked.

    Args:
        say: tells a person what the first one does.
    """

    def __init__(self, say: Callable[[str], None] = lambda _: None) -> None:
        self._say = say
        self.now = False
        self._asking = False

    def asked(self) -> bool:
        """Whether to stop; from the first call on there is something to report."""
        self._asking = True
        return self.now

    @contextlib.contextmanager
    def listening(self) -> Iterator[Stop]:
        """Take Ctrl-C while in the ``with`` block, where signals can be taken."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        before = signal.signal(signal.SIGINT, self._heard)
        try:
            yield self
        finally:
            signal.signal(signal.SIGINT, before)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self.now or not self._asking:
            signal.default_int_handler(number, frame)
        self.now = True
        self._say("Stopping after this question; Ctrl-C again stops at once.")


@contextlib.contextmanager
def settled() -> Iterator[None]:
    """While in the ``with`` block, the garbage collector leaves alone what is there already.

    A recall makes thousands of small objects, and with a model and its libraries loaded, looking through all others
    for garbage takes more time than the recalls themselves.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextlib.contextmanager
def asker(brain: Brain, config: EvalConfig, *, jobs: int, executor: str) -> Iterator[AskAll]:
    """What asks labels and gives what they gave, in their order, as soon as it is there.

    Raises:
        UsageError: jobs < 1; an executor that is none.
    """
    if jobs < 1:
        raise UsageError(f"jobs = {jobs} is not allowed: give 1 or more")
    if executor:
        if not executor.startswith(_SCHEME):
            raise UsageError(f"executor {executor!r} is not known: give dask://HOST:PORT")
        from brainkit.eval.cluster import asking_cluster  # takes a second to import

        with asking_cluster("tcp://" + executor.removeprefix(_SCHEME), brain.settings, config) as asked_by:
            yield asked_by
    elif jobs == 1:
        yield partial(_one_by_one, partial(ask, brain, config=config))
    else:
        with ThreadPoolExecutor(jobs) as pool:
            yield partial(_at_once, partial(ask, brain, config=config), pool)


def _one_by_one(ask_one: Callable[[Label], Asked], labels: Sequence[Label], stop: Stop | None) -> Iterator[Asked]:
    with settled():
        for label in labels:
            if stop and stop.asked():
                return
            yield ask_one(label)


def _at_once(
    ask_one: Callable[[Label], Asked], pool: ThreadPoolExecutor, labels: Sequence[Label], stop: Stop | None
) -> Iterator[Asked]:
    futures = [pool.submit(ask_one, label) for label in labels]
    try:
        with settled():
            for future in futures:
                if stop and stop.asked():
                    return
                yield future.result()
    finally:
        for future in futures:
            future.cancel()
