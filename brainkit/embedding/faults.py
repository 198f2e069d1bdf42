"""Why a call to a model failed, in five kinds, read off the exceptions of any HTTP library.

Kinds are told by a status code and by class names instead of ``isinstance``: the Ollama and OpenAI clients use
different HTTP libraries, and neither should be imported to look at the other's errors.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

DETAIL_CHARS = 200
_TIMEOUTS = {"TimeoutException", "APITimeoutError", "TimeoutError"}
_CONNECTIONS = {"TransportError", "APIConnectionError", "ConnectionError"}


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
    return Fault(_kind(error), detail[:DETAIL_CHARS], _retry_after(error))


def _kind(error: Exception) -> Kind:
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 400:
        if status in (401, 403):
            return Kind.REFUSED
        if status == 404:
            return Kind.MISSING
        return Kind.BUSY if status in (408, 429) or status >= 500 else Kind.REPLY
    names = {base.__name__ for base in type(error).__mro__}
    if names & _TIMEOUTS:
        return Kind.TIMEOUT
    return Kind.BUSY if names & _CONNECTIONS else Kind.REPLY


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError, TypeError):
        return None
