"""One server among several that hold the same model: whether it rests after a failure, and whose weights it has."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from brainkit.embedding.faults import Fault, FaultError, Kind, fault_of

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

Vector: TypeAlias = "list[float] | NDArray[np.float32]"

REST_SECONDS = 15.0
"""A failing server is left for the next one for so long, and twice as long after each further failure ..."""
LONGEST_REST_SECONDS = 300.0
"""... but never longer."""
DIGEST_SECONDS = 10.0
"""A server is asked again which weights it runs when it was last asked so long ago."""


class Host:
    """A model at one address.

    Args:
        model: Its LlamaIndex embedding; one with a ``digest()`` says which weights it runs.
        name: Its address, for messages.
    """

    def __init__(self, model: BaseEmbedding, name: str = "") -> None:
        self.model = model
        self.name = name
        self.lock = threading.Lock()
        self.digest: Callable[[], str] | None = getattr(model, "digest", None)
        # Our own models are called below LlamaIndex, whose events and checks of each call cost a tenth of a short
        # question; those who want the events use Embedder.base.
        own = hasattr(model, "embed_question")
        self.documents: Callable[[list[str]], Sequence[Vector]] = (
            getattr(model, "embed") if own else model.get_text_embedding_batch  # noqa: B009 - not every model's
        )
        self.query: Callable[[str], Vector] = getattr(model, "embed_question", model.get_query_embedding)
        self._expected = ""
        self._asked = 0.0
        self._rest = REST_SECONDS
        self._rests_until = 0.0

    @property
    def resting(self) -> bool:
        """Whether it failed a short while ago."""
        return time.monotonic() < self._rests_until

    def failed(self) -> None:
        """Let it rest."""
        self._rests_until = time.monotonic() + self._rest
        self._rest = min(2 * self._rest, LONGEST_REST_SECONDS)

    def answered(self) -> None:
        """It works again."""
        self._rest, self._rests_until = REST_SECONDS, 0.0

    def expect(self, digest: str) -> None:
        """From now on only these weights are the model; "" means any."""
        self._expected = digest

    def verify(self) -> None:
        """Ask now and then whether it still runs the expected weights; one that does not say is believed.

        Raises:
            FaultError: it runs others, or does not answer.
        """
        if not self._expected or self.digest is None or time.monotonic() - self._asked < DIGEST_SECONDS:
            return
        try:
            found = self.digest()
        except Exception as error:
            fault = fault_of(error)
            if fault.kind in (Kind.BUSY, Kind.TIMEOUT):
                raise FaultError(fault) from error
            found = ""
        if found not in ("", self._expected):
            raise FaultError(Fault(Kind.CHANGED, f"digest {found[:12]}, earlier {self._expected[:12]}"))
        self._asked = time.monotonic()


def in_turn(hosts: Sequence[Host]) -> list[Host]:
    """All hosts in their order, those that rest last."""
    return sorted(hosts, key=lambda host: host.resting)


def is_loopback(url: str) -> bool:
    """Whether an address, with or without a scheme, is this machine's own, where a proxy has no business.

    Example:
        >>> is_loopback("http://localhost:11434"), is_loopback("127.0.0.1:8080"), is_loopback("http://192.0.2.7")
        (True, True, False)
    """
    host = urlsplit(url if "://" in url else f"//{url}").hostname or "localhost"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified
