"""Why a call to a model failed, in a few kinds, read off the exceptions of any HTTP library.

Kinds are told by a status code and by class names instead of ``isinstance``: the Ollama and OpenAI clients use
different HTTP libraries, and neither should be imported to look at the other's errors.
"""

from __future__ import annotations

import re
import time
from email.utils import mktime_tz, parsedate_tz
from enum import Enum
from typing import NamedTuple

DETAIL_CHARS = 200
_TIMEOUTS = {"TimeoutException", "APITimeoutError", "TimeoutError"}
_CONNECTIONS = {"TransportError", "APIConnectionError", "ConnectionError"}
_TOO_LONG = re.compile(
    r"context (length|size|window)|maximum context|too (long|large)|too many tokens|(less|fewer) than \d+ tokens",
    re.IGNORECASE,
)
"""What Ollama, OpenAI, vLLM, llama.cpp and text-embeddings-inference say of a text beyond the model's window."""


class Kind(Enum):
    """What to do about a failed call."""

    BUSY = "busy"
    """Connection refused or cut, 429, 5xx: the same call may work in a moment."""
    TIMEOUT = "timeout"
    """No reply in time: fewer texts may work."""
    REFUSED = "refused"
    """401 or 403: no text will work."""
    MISSING = "missing"
    """404: the model, or the address, is not there."""
    TOO_LONG = "too long"
    """The text is beyond the model's window: shorter pieces of it will work."""
    CHANGED = "changed"
    """Another model answers under this name."""
    DIMENSION = "dimension"
    """Another model answers under this name, as its dimension shows."""
    LATE = "late"
    """No reply while a question waited; it may still come."""
    REPLY = "reply"
    """Any other refusal, or a reply that is not what was asked for: the text may be the reason."""


class Fault(NamedTuple):
    """One failed call: its kind, what was said (one line, at most 200 characters) and how long to wait if told."""

    kind: Kind
    detail: str
    retry_after: float | None = None


class FaultError(Exception):
    """Carries a fault up to whoever decides about it; never leaves this package."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


def fault_of(error: Exception, secret: str = "") -> Fault:
    """The fault behind an exception; ``secret`` is masked in its detail.

    Example:
        >>> fault_of(ConnectionResetError("reset by peer"))
        Fault(kind=<Kind.BUSY: 'busy'>, detail='reset by peer', retry_after=None)
    """
    if isinstance(error, FaultError):
        return error.fault
    # The OpenAI client says only "Connection error."; the reason is in the cause.
    said = [str(error)] + ([str(error.__cause__)] if error.__cause__ else [])
    detail = " ".join(" - ".join(filter(None, said)).split()) or type(error).__name__
    if secret:
        detail = detail.replace(secret, "********")
    return Fault(_kind(error, detail), detail[:DETAIL_CHARS], _retry_after(error))


def _kind(error: Exception, detail: str) -> Kind:
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 400:
        if status in (401, 403):
            return Kind.REFUSED
        if status == 404:
            return Kind.MISSING
        if status not in (408, 429) and _TOO_LONG.search(detail):
            return Kind.TOO_LONG
        return Kind.BUSY if status in (408, 429) or status >= 500 else Kind.REPLY
    names = {base.__name__ for base in type(error).__mro__}
    if names & _TIMEOUTS:
        return Kind.TIMEOUT
    return Kind.BUSY if names & _CONNECTIONS else Kind.REPLY


def _retry_after(error: Exception) -> float | None:
    # Ollama's client drops the response; the error it handled while raising its own still has it.
    responses = [getattr(each, "response", None) for each in (error, error.__context__)]
    told = next(
        (headers["retry-after"] for r in responses if "retry-after" in (headers := getattr(r, "headers", {}))), ""
    )
    try:
        return max(0.0, float(told))
    except ValueError:
        date = parsedate_tz(told)
        return None if date is None else max(0.0, mktime_tz(date) - time.time())
