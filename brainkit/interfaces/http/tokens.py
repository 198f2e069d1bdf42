"""The two bearer tokens: one asks and reads, the other also sees the catalogue and steers."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from typing import Literal

from brainkit.settings import Settings

Role = Literal["read", "admin"]


@dataclass(frozen=True)
class Tokens:
    """The tokens of a running server.

    Attributes:
        read: asks questions and reads single documents.
        admin: may do all.
        made: which of the two were made for this run, as no variable sets them.
    """

    read: str = field(repr=False)
    admin: str = field(repr=False)
    made: frozenset[Role] = frozenset()

    @classmethod
    def of(cls, settings: Settings) -> Tokens:
        """Those of BOR_HTTP_TOKEN and BOR_HTTP_ADMIN_TOKEN, or new ones of 256 random bits each."""
        read, admin = settings.http_token, settings.http_admin_token
        made: set[Role] = {"read"} if read is None else set()
        return cls(
            read.get_secret_value() if read else secrets.token_urlsafe(32),
            admin.get_secret_value() if admin else secrets.token_urlsafe(32),
            frozenset(made | ({"admin"} if admin is None else set())),
        )

    def role(self, authorization: bytes) -> Role | None:
        """What the value of an Authorization header may do; takes as long for a wrong token as for a right one.

        Example:
            >>> tokens = Tokens("r" * 16, "a" * 16)
            >>> tokens.role(b"Bearer " + b"a" * 16), tokens.role(b"Bearer "), tokens.role(b"Basic " + b"a" * 16)
            ('admin', None, None)
        """
        scheme, _, given = authorization.partition(b" ")
        reads = hmac.compare_digest(given.strip(), self.read.encode())
        administers = hmac.compare_digest(given.strip(), self.admin.encode())
        if scheme.lower() != b"bearer":
            return None
        return "admin" if administers else "read" if reads else None
