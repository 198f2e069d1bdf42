"""The private PostgreSQL server of a brain without ``BOR_DATABASE_URL``: found, started, shared and stopped here."""

from __future__ import annotations

from brainkit.store.server.embedded import EmbeddedServer
from brainkit.store.server.programs import Programs

__all__ = ["EmbeddedServer", "Programs"]
