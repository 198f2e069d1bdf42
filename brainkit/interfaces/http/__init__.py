"""A brain over HTTP, for this machine only: what the page at / and other programs ask.

FastAPI and uvicorn come with the extra ``http``; nothing here is imported before ``brainkit serve`` runs.
"""

from __future__ import annotations

from brainkit.interfaces.http.app import make_app
from brainkit.interfaces.http.server import bind, make_server
from brainkit.interfaces.http.tokens import Tokens

__all__ = ["Tokens", "bind", "make_app", "make_server"]
