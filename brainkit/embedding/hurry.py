"""Patience for questions: a call that may hang is waited for briefly, and after a failure not at all for a while."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from brainkit.errors import EmbedderUnavailableError

T = TypeVar("T")
QUERY_SECONDS = 2.0
"""A question waits at most so long for its vector, then it is searched by words alone."""
BREAK_SECONDS = 5.0
"""After a failure questions fail at once for so long, unless the server answers something in the meantime."""
MAX_RUNNING = 8
"""Calls that hang in the background at most; each ends by BOR_EMBEDDING_TIMEOUT."""


@dataclass(frozen=True)
class Runner(Generic[T]):
    """One way to get the result, and what to do when it is slow."""

    call: Callable[[], T]
    slow: Callable[[], None]


class Hurry:
    """A circuit breaker with a short patience, safe to use from several threads.

    A call that outlasts it goes on in the background: that loads a cold model, and its success closes the circuit.

    Args:
        seconds: How long a caller waits at most.
        late: Makes the error for a caller that waited in vain.
    """

    def __init__(self, seconds: float, late: Callable[[], EmbedderUnavailableError]) -> None:
        self._seconds = seconds
        self._late = late
        self._error: EmbedderUnavailableError | None = None
        self._until = 0.0
        self._running = 0
        self._lock = threading.Lock()

    def run(self, runners: Sequence[Runner[T]]) -> T:
        """The first result; each runner starts when the one before it has failed or used up its share of the time.

        Raises:
            EmbedderUnavailableError: none answers in time, or one failed a moment ago.
            EmbeddingError: whatever else the first runner that answered has raised.
        """
        now = time.monotonic()
        with self._lock:
            if self._error is not None:
                if now < self._until or self._running >= MAX_RUNNING:
                    raise EmbedderUnavailableError(*self._error.args)
                self._until = now + self._seconds  # one caller tries, the others need not wait with it
        outcomes: SimpleQueue[T | Exception] = SimpleQueue()
        failures: list[EmbedderUnavailableError] = []
        for number, runner in enumerate(runners, start=1):
            self._start(runner.call, outcomes)
            turn_ends = now + self._seconds * number / len(runners)
            while len(failures) < number:
                try:
                    outcome = outcomes.get(timeout=max(0.0, turn_ends - time.monotonic()))
                except Empty:
                    runner.slow()
                    break
                if isinstance(outcome, EmbedderUnavailableError):
                    failures.append(outcome)
                elif isinstance(outcome, Exception):
                    raise outcome
                else:
                    return outcome
        error = self._late()
        if len(failures) == len(runners):
            error = EmbedderUnavailableError(" ".join(dict.fromkeys(map(str, failures))))
        self.failed(error)
        raise error

    def failed(self, error: EmbedderUnavailableError) -> None:
        """Open the circuit: the next calls raise this error at once."""
        with self._lock:
            self._error, self._until = error, time.monotonic() + BREAK_SECONDS

    def worked(self) -> None:
        """Close the circuit."""
        self._error = None

    def _start(self, call: Callable[[], T], outcomes: SimpleQueue[T | Exception]) -> None:
        def work() -> None:
            outcome: T | Exception
            try:
                outcome = call()
            except Exception as error:
                outcome = error
            if not isinstance(outcome, EmbedderUnavailableError):  # a refused text is an answer too
                self.worked()
            with self._lock:
                self._running -= 1
            outcomes.put(outcome)

        with self._lock:
            self._running += 1
        # A daemon: nobody should wait for a hanging server when the program ends.
        threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
