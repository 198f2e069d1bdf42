"""What every request has to pass before anything looks at it: Host, Origin, token, kind and size of its body.

A page of another site can make a browser on this machine send requests here. It cannot know the token, and a name that
it points at 127.0.0.1 (DNS rebinding) is not one of ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from brainkit.interfaces.http.tokens import Tokens

MOST_BODY: Final = 2 * 1024 * 1024
"""Bytes of a request's body."""
MOST_DRAINED: Final = 8 * 1024 * 1024
PATIENCE: Final = 2
"""Bytes and seconds of a refused body that are taken in."""
PAGE: Final = {"/", "/page.js", "/page.css"}
"""Needs no token, since it holds nothing of the brain: the browser gets the token from the part of the address behind
``#``, which it sends to nobody."""
ROLE: Final = "brainkit.role"
HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Sent with every reply."""
_RAW: Final = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class _Refusal(NamedTuple):
    status: int
    detail: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine and nothing else.

    Example:
        >>> [is_loopback(name) for name in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "localhost.evil.example")]
        [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Guard:
    """Refuses what may not come in, tells the application who asks (``scope["brainkit.role"]``), adds headers."""

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with {detail}."""
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_RAW]
            await send(message)

        taken = 0

        async def within_limit() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > MOST_BODY:
                await _drain(receive, message)
                raise HTTPException(413, _too_large())
            return message

        refusal = self._refusal(scope)
        if refusal:
            if not any(name == b"expect" for name, _ in scope["headers"]):  # it waits to be asked for the body
                await _drain(receive)
            await _refuse(refusal, with_headers)
        else:
            await self._app(scope, within_limit, with_headers)

    def _refusal(self, scope: Scope) -> _Refusal | None:
        given: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name, []).append(value)
        host = b",".join(given.get(b"host", [])).decode("latin-1")
        if not _names_loopback(host):
            return _Refusal(403, f"Host {host!r} is not this machine: use 127.0.0.1 or localhost")
        origin = b",".join(given.get(b"origin", [])).decode("latin-1")
        if origin and origin.lower() != f"http://{host}".lower():
            return _Refusal(403, f"Origin {origin!r} is not this server: pages of other sites may not ask it")
        role = self._tokens.role(b",".join(given.get(b"authorization", [])))
        if role is None and not (scope["path"] in PAGE and scope["method"] in {"GET", "HEAD"}):
            detail = "a token is needed: send `Authorization: Bearer TOKEN`; `brainkit serve` prints it at its start"
            return _Refusal(401, detail, ((b"www-authenticate", b'Bearer realm="brainkit"'),))
        scope[ROLE] = role
        return _body_refusal(scope["method"], given)


def _names_loopback(host: str) -> bool:
    """Whether a Host header names this machine; any port, as somebody may come through a tunnel."""
    try:
        parts = urlsplit(f"//{host}")
        return parts.netloc == host and "@" not in host and parts.port != 0 and is_loopback(parts.hostname or "")
    except ValueError:
        return False


def _body_refusal(method: str, given: dict[bytes, list[bytes]]) -> _Refusal | None:
    length = given.get(b"content-length", [b"0"])[-1]
    if length.isdigit() and int(length) > MOST_BODY:
        return _Refusal(413, _too_large(), ((b"connection", b"close"),))
    kind = b",".join(given.get(b"content-type", [])).partition(b";")[0].strip().lower()
    if method in {"POST", "PUT", "PATCH"} and kind != b"application/json":
        return _Refusal(415, "the body has to be JSON: send `Content-Type: application/json`")
    return None


async def _drain(receive: Receive, message: Message | None = None) -> None:
    """Take in what is still sent, within limits: whoever is not through with sending does not see our answer."""
    left = MOST_DRAINED
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while left > 0 and (message is None or message.get("more_body")):
                message = await receive()
                left -= len(message.get("body", b""))


def _too_large() -> str:
    return f"the body is larger than {MOST_BODY // 1024**2} MiB"


async def _refuse(refusal: _Refusal, send: Send) -> None:
    body = json.dumps({"detail": refusal.detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *refusal.headers]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
