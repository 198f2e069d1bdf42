"""Runs the application on a loopback socket until Ctrl-C or SIGTERM."""

from __future__ import annotations

import errno
import socket

import uvicorn
from starlette.types import ASGIApp

from brainkit.errors import UsageError
from brainkit.interfaces.http.guard import is_loopback

MOST_AT_ONCE = 200
"""Connections; whoever comes beyond them gets a 503."""
PATIENCE = 1
"""Seconds that running answers get at the end."""


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one.

    Raises:
        UsageError: the host is not this machine, or the port cannot be had.
    """
    if not is_loopback(host):
        raise UsageError(
            f"host {host!r} is not allowed: brainkit serves this machine only, by 127.0.0.1, ::1 or localhost. From "
            "another machine come through a tunnel, such as `ssh -L 8710:127.0.0.1:8710 HOST`."
        )
    address = "127.0.0.1" if host.lower() == "localhost" else host
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.create_server((address, port), family=family)
    except OSError as error:
        other = "give another by --port or BOR_HTTP_PORT; 0 takes a free one"
        if error.errno == errno.EADDRINUSE:
            raise UsageError(f"port {port} of {host} is in use: {other}") from None
        raise UsageError(f"port {port} of {host} cannot be used ({error.strerror}): {other}") from None


def make_server(app: ASGIApp) -> uvicorn.Server:
    """A server for an application; ``run(sockets=[...])`` serves until a signal comes or ``should_exit`` is set.

    Running answers are then given a moment, and cut.
    """
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http="h11",
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=MOST_AT_ONCE,
            timeout_graceful_shutdown=PATIENCE,
        )
    )
