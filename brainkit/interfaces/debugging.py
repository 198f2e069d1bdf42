"""Lets a debugger attach, if it is asked for: DEBUGPY=1, at DEBUGPY_PORT."""

from __future__ import annotations

import os
from typing import Final

from brainkit.errors import SettingsError, UsageError

PORT: Final = 5678


def attach_debugger() -> str:
    """Listen for a debugger if DEBUGPY=1, without waiting for it; returns its address, "" otherwise.

    Raises:
        SettingsError: DEBUGPY_PORT is no port, or it cannot be had.
        UsageError: debugpy is not installed.
    """
    if os.environ.get("DEBUGPY") != "1":
        return ""
    given = os.environ.get("DEBUGPY_PORT") or str(PORT)
    if not given.isdigit() or not 0 < int(given) < 65536:
        raise SettingsError(f"DEBUGPY_PORT = {given!r} is not allowed: give a port")
    try:
        import debugpy  # noqa: T100 - it is asked for
    except ImportError:
        raise UsageError("DEBUGPY=1 needs debugpy: pip install debugpy") from None
    try:
        host, port = debugpy.listen(("127.0.0.1", int(given)))  # noqa: T100
    except (OSError, RuntimeError) as error:
        raise SettingsError(f"DEBUGPY_PORT = {given} cannot be used: {error}") from None
    return f"{host}:{port}"
