"""The fence around a model: bounded retries, checks of every reply, and a failing batch halved down to the bad text."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from brainkit.embedding.faults import Fault, FaultError, Kind, fault_of
from brainkit.embedding.hosts import Host, Vector, in_turn
from brainkit.embedding.text import normalised
from brainkit.errors import BrainkitError, DimensionMismatchError, EmbedderUnavailableError

logger = logging.getLogger(__name__)
T = TypeVar("T")
Row: TypeAlias = "NDArray[np.float32] | Fault"

TRIES = 3
BACKOFF_SECONDS = 0.25
"""Wait before the second try, doubled before the third; a server's Retry-After goes before it, up to the limit."""
RETRY_AFTER_LIMIT = 30.0
TIMEOUT_LIMIT = 3
"""So many single texts may run out of time before the server counts as too slow: each costs a whole timeout."""
PROBE = "ping"
"""A text no model chokes on: when even this fails it is the server and not the text."""


@dataclass(frozen=True)
class Service:
    """How errors speak of a model: what it is, where it is, and what a person can do about each kind of fault.

    Attributes:
        query_seconds: How long a question waits for it; None for a model that cannot hang.
    """

    name: str
    address_help: str = "Set BOR_EMBEDDER=wordllama to work with another embedder."
    missing_help: str = "Check BOR_EMBEDDING_MODEL."
    secret: str = ""
    query_seconds: float | None = None

    def unavailable(self, fault: Fault) -> EmbedderUnavailableError:
        """The error for a fault that no other text would cure."""
        what, then = {
            Kind.BUSY: ("does not answer", self.address_help),
            Kind.TIMEOUT: (
                "does not answer in time",
                "Raise BOR_EMBEDDING_TIMEOUT or lower BOR_EMBEDDING_BATCH. " + self.address_help,
            ),
            Kind.LATE: (
                "does not answer a question in time",
                "A model that is being loaded may answer soon: ask again. " + self.address_help,
            ),
            Kind.REFUSED: ("refuses the call", "Check BOR_EMBEDDING_API_KEY."),
            Kind.MISSING: ("does not have the model", self.missing_help),
            Kind.CHANGED: ("runs another model under this name", "Open the brain again to embed with it."),
        }.get(fault.kind, ("gives no usable vector", "Check BOR_EMBEDDING_MODEL: is it an embedding model?"))
        return EmbedderUnavailableError(f"{self.name} {what} ({fault.detail}). {then}")

    def late(self) -> EmbedderUnavailableError:
        """The error for a question that waited in vain."""
        return self.unavailable(
            Fault(Kind.LATE, f"no reply within {self.query_seconds:g} s, the lower of 2 s and BOR_EMBEDDING_TIMEOUT")
        )


class Fence:
    """Calls a model so that every vector that comes out is right, and every text that gives none is known.

    Args:
        hosts: Where the model runs, the preferred place first; a failing one is left for the next.
        service: How errors speak of it.
    """

    def __init__(self, hosts: Sequence[Host], service: Service) -> None:
        self.hosts = list(hosts)
        self._service = service

    @property
    def name(self) -> str:
        """What it is and where, for messages."""
        return self._service.name

    def probe(self, dimensions: int | None = None) -> int:
        """Dimension of the model's vectors, by embedding one word.

        Raises:
            EmbedderUnavailableError: it gives no usable vector.
            DimensionMismatchError: its vectors are not of ``dimensions``.
        """

        def ping(host: Host) -> int:
            (row,) = _checked(host.documents([PROBE]), 1, None)
            if isinstance(row, Fault):
                raise FaultError(row)
            if dimensions not in (None, row.size):
                raise FaultError(Fault(Kind.DIMENSION, f"vectors of {row.size} dimensions, earlier {dimensions}"))
            return int(row.size)

        try:
            return self._attempt(ping, probing=True)
        except FaultError as error:
            self._give_up(error)

    def digest(self) -> str:
        """Which weights the model has, "" if the server does not say.

        Raises:
            EmbedderUnavailableError: the server does not answer (a guess would change the fingerprint by chance).
        """
        try:
            return self._attempt(lambda host: host.digest() if host.digest else "")
        except FaultError as error:
            if error.fault.kind in (Kind.BUSY, Kind.TIMEOUT):
                self._give_up(error)
            return ""

    def query(self, text: str, dimensions: int) -> Row:
        """Normalised vector of a question, or why this text has none.

        Raises:
            EmbedderUnavailableError: the model does not answer.
        """
        try:
            return self._attempt(lambda host: _checked([host.query(text)], 1, dimensions)[0])
        except FaultError as error:
            if error.fault.kind not in (Kind.REPLY, Kind.TOO_LONG):
                self._give_up(error)
            return error.fault

    def documents(self, texts: list[str], dimensions: int, slow: list[str]) -> list[Row]:
        """Each text's normalised vector, or why it has none; ``slow`` collects the single texts that timed out.

        Raises:
            EmbedderUnavailableError: the model does not answer, so that no text is to blame.
            DimensionMismatchError: the model was exchanged.
        """
        return self._documents(texts, dimensions, slow, TRIES)

    def _documents(self, texts: list[str], dimensions: int, slow: list[str], tries: int) -> list[Row]:
        single = len(texts) == 1
        try:
            rows = self._attempt(lambda host: _checked(host.documents(texts), len(texts), dimensions), tries)
        except FaultError as error:
            if single:
                return [self._blamed(error.fault, dimensions, slow)]
            if tries == TRIES:
                self.probe(dimensions)
                logger.warning("a batch of %d texts failed and is halved: %s", len(texts), error.fault.detail)
            middle = len(texts) // 2
            halves = texts[:middle], texts[middle:]
            # The halves of a failing batch get one try: retrying pays off for a busy server, and this one is not.
            return [
                row for half in halves for row in self._documents(half, dimensions, slow, 1 if len(half) > 1 else TRIES)
            ]
        if single:
            return [self._blamed(row, dimensions, slow) if isinstance(row, Fault) else row for row in rows]
        return [
            self._documents([text], dimensions, slow, TRIES)[0] if isinstance(row, Fault) else row
            for text, row in zip(texts, rows, strict=True)
        ]

    def _blamed(self, fault: Fault, dimensions: int, slow: list[str]) -> Fault:
        """The fault, once the probe has shown that the text and not the server is the reason."""
        if fault.kind is Kind.TOO_LONG:
            return fault
        self.probe(dimensions)
        if fault.kind is Kind.TIMEOUT:
            slow.append(fault.detail)
            if len(slow) >= TIMEOUT_LIMIT:
                raise self._service.unavailable(fault)
        return fault

    def _attempt(self, call: Callable[[Host], T], tries: int = TRIES, *, probing: bool = False) -> T:
        for attempt in range(1, tries + 1):
            try:
                return self._first_that_answers(call, probing=probing)
            except FaultError as error:
                fault = error.fault
                if fault.kind is not Kind.BUSY or attempt == tries:
                    raise
                wait = BACKOFF_SECONDS * 2 ** (attempt - 1) if fault.retry_after is None else fault.retry_after
                logger.info("%s: try %d of %d failed: %s", self._service.name, attempt, tries, fault.detail)
                time.sleep(min(wait, RETRY_AFTER_LIMIT))
        raise AssertionError("unreachable: the last try returns or raises")

    def _first_that_answers(self, call: Callable[[Host], T], *, probing: bool) -> T:
        """The call's result at the first host that works; only a probe tells a host's nonsense from a text's fault."""
        faults: dict[str, Fault] = {}
        reason: Exception | None = None
        for host in in_turn(self.hosts):
            try:
                host.verify()
                result = call(host)
            except BrainkitError:
                raise  # the packaged models name their own faults
            except Exception as error:
                fault = fault_of(error, self._service.secret)
                if not probing and fault.kind in (Kind.REPLY, Kind.TOO_LONG):
                    raise FaultError(fault) from error
                host.failed()
                faults[host.name] = fault
                reason = error
            else:
                host.answered()
                return result
        kinds = {fault.kind for fault in faults.values()}
        told = [f"{name}: {fault.detail}" for name, fault in faults.items()]
        if len(faults) == 1:
            told = [fault.detail for fault in faults.values()]
        waits = [fault.retry_after for fault in faults.values() if fault.retry_after is not None]
        kind = kinds.pop() if len(kinds) == 1 else Kind.BUSY
        raise FaultError(Fault(kind, "; ".join(told), min(waits, default=None))) from reason

    def _give_up(self, error: FaultError) -> NoReturn:
        if error.fault.kind is Kind.DIMENSION:
            raise DimensionMismatchError(
                f"{self._service.name} now gives {error.fault.detail}: another model answers under this name. "
                "Open the brain again to embed with it."
            ) from error
        raise self._service.unavailable(error.fault) from error


def _checked(reply: Sequence[Vector], count: int, dimensions: int | None) -> list[Row]:
    """Rows of a reply as normalised vectors, a fault in place of each that is none."""
    if len(reply) != count:
        raise FaultError(Fault(Kind.REPLY, f"{len(reply)} vectors for {count} texts"))
    return [_checked_row(row, dimensions) for row in reply]


def _checked_row(row: Vector, dimensions: int | None) -> Row:
    vector = np.asarray(row, np.float64)
    if vector.ndim != 1 or vector.size == 0 or dimensions not in (None, vector.size):
        return Fault(
            Kind.REPLY, f"a vector of {vector.size} dimensions" + (f", not {dimensions}" if dimensions else "")
        )
    if not np.isfinite(vector).all():
        return Fault(Kind.REPLY, "a vector that is not finite")
    unit = normalised(vector)
    return unit if unit.any() else Fault(Kind.REPLY, "a vector of zeros")
