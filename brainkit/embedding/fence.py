"""The fence around a model: bounded retries, checks of every reply, and a failing batch halved down to the bad text."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from brainkit.embedding.faults import Fault, FaultError, Kind, fault_of
from brainkit.embedding.text import normalised
from brainkit.errors import BrainkitError, DimensionMismatchError, EmbedderUnavailableError, EmbeddingError

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

logger = logging.getLogger(__name__)
T = TypeVar("T")

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
    """How errors speak of a model: what it is, where it is, and what a person can do about each kind of fault."""

    name: str
    address_help: str = "Set BOR_EMBEDDER=wordllama to work with another embedder."
    missing_help: str = "Check BOR_EMBEDDING_MODEL."
    secret: str = ""

    def unavailable(self, fault: Fault) -> EmbedderUnavailableError:
        """The error for a fault that no other text would cure."""
        what, then = {
            Kind.BUSY: ("does not answer", self.address_help),
            Kind.TIMEOUT: (
                "does not answer in time",
                "Raise BOR_EMBEDDING_TIMEOUT or lower BOR_EMBEDDING_BATCH. " + self.address_help,
            ),
            Kind.REFUSED: ("refuses the call", "Check BOR_EMBEDDING_API_KEY."),
            Kind.MISSING: ("does not have the model", self.missing_help),
            Kind.REPLY: ("gives no usable vector", "Check BOR_EMBEDDING_MODEL: is it an embedding model?"),
        }[fault.kind]
        return EmbedderUnavailableError(f"{self.name} {what} ({fault.detail}). {then}")


class Fence:
    """Calls a model so that every vector that comes out is right, and every text that gives none is known."""

    def __init__(self, model: BaseEmbedding, service: Service) -> None:
        self._model = model
        self._service = service

    def probe(self, dimensions: int | None = None) -> int:
        """Dimension of the model's vectors, by embedding one word.

        Raises:
            EmbedderUnavailableError: it gives no usable vector.
            DimensionMismatchError: its vectors are not of ``dimensions``.
        """
        try:
            vector = self._attempt(lambda: _checked(self._model.get_text_embedding_batch([PROBE]), 1, None)[0])
        except FaultError as error:
            self._give_up(error)
        if isinstance(vector, Fault):
            raise self._service.unavailable(vector)
        if dimensions not in (None, vector.size):
            raise DimensionMismatchError(
                f"{self._service.name} now gives vectors of {vector.size} dimensions, earlier {dimensions}: another "
                "model answers under this name. Open the brain again to embed with it."
            )
        return int(vector.size)

    def ask(self, call: Callable[[], str]) -> str:
        """What a further question to the server gives; "" when the server does not know such a question.

        Raises:
            EmbedderUnavailableError: the server does not answer (a guess would change the fingerprint by chance).
        """
        try:
            return self._attempt(call)
        except FaultError as error:
            if error.fault.kind in (Kind.BUSY, Kind.TIMEOUT):
                self._give_up(error)
            return ""

    def query(self, text: str, dimensions: int) -> NDArray[np.float32]:
        """Normalised vector of a question.

        Raises:
            EmbedderUnavailableError: the model does not answer.
            EmbeddingError: it answers, but not with a vector for this text.
        """
        try:
            vector = self._attempt(lambda: _checked([self._model.get_query_embedding(text)], 1, dimensions)[0])
        except FaultError as error:
            if error.fault.kind is not Kind.REPLY:
                self._give_up(error)
            vector = error.fault
        if isinstance(vector, Fault):
            raise EmbeddingError(f"{self._service.name} gives no vector for this question ({vector.detail}).")
        return vector

    def documents(self, texts: list[str], dimensions: int, slow: list[str]) -> list[NDArray[np.float32] | Fault]:
        """Each text's normalised vector, or why it has none; ``slow`` collects the single texts that timed out.

        Raises:
            EmbedderUnavailableError: the model does not answer, so that no text is to blame.
            DimensionMismatchError: the model was exchanged.
        """
        return self._documents(texts, dimensions, slow, TRIES)

    def _documents(
        self, texts: list[str], dimensions: int, slow: list[str], tries: int
    ) -> list[NDArray[np.float32] | Fault]:
        single = len(texts) == 1
        try:
            rows = self._attempt(
                lambda: _checked(self._model.get_text_embedding_batch(texts), len(texts), dimensions), tries
            )
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
        self.probe(dimensions)
        if fault.kind is Kind.TIMEOUT:
            slow.append(fault.detail)
            if len(slow) >= TIMEOUT_LIMIT:
                raise self._service.unavailable(fault)
        return fault

    def _attempt(self, call: Callable[[], T], tries: int = TRIES) -> T:
        for attempt in range(1, tries + 1):
            try:
                return call()
            except BrainkitError:
                raise  # the packaged models name their own faults
            except Exception as error:
                fault = fault_of(error, self._service.secret)
                if fault.kind is not Kind.BUSY or attempt == tries:
                    raise FaultError(fault) from error
                wait = BACKOFF_SECONDS * 2 ** (attempt - 1) if fault.retry_after is None else fault.retry_after
                logger.info("%s: try %d of %d failed: %s", self._service.name, attempt, tries, fault.detail)
                time.sleep(min(wait, RETRY_AFTER_LIMIT))
        raise AssertionError("unreachable: the last try returns or raises")

    def _give_up(self, error: FaultError) -> NoReturn:
        raise self._service.unavailable(error.fault) from error


def _checked(reply: list[list[float]], count: int, dimensions: int | None) -> list[NDArray[np.float32] | Fault]:
    """Rows of a reply as normalised vectors, a fault in place of each that is none."""
    if len(reply) != count:
        raise FaultError(Fault(Kind.REPLY, f"{len(reply)} vectors for {count} texts"))
    return [_checked_row(row, dimensions) for row in reply]


def _checked_row(row: list[float], dimensions: int | None) -> NDArray[np.float32] | Fault:
    vector = np.asarray(row, np.float64)
    if vector.ndim != 1 or vector.size == 0 or dimensions not in (None, vector.size):
        return Fault(
            Kind.REPLY, f"a vector of {vector.size} dimensions" + (f", not {dimensions}" if dimensions else "")
        )
    if not np.isfinite(vector).all():
        return Fault(Kind.REPLY, "a vector that is not finite")
    unit = normalised(vector)
    return unit if unit.any() else Fault(Kind.REPLY, "a vector of zeros")
