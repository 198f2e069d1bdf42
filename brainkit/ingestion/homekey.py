"""A random key of the brain's home, by which what must not be stored can be recognised."""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
from pathlib import Path

FILE = "paths.key"
BYTES = 32


def path_tag(home: Path, path: Path, *, make: bool = True) -> str:
    """What tells a path from others that are shown alike once they are redacted: a keyed hash of the real path.

    Without the key, which lies in the home and in no backup of the database, nobody can try out what was redacted.

    Args:
        home: the brain's folder (BOR_HOME).
        path: the real path.
        make: keep a key that is new.
    """
    return hmac.new(home_key(home, make=make), os.fsencode(path), "sha256").hexdigest()[:32]


def home_key(home: Path, *, make: bool = True) -> bytes:
    """The key; made at the first call, for the owner's eyes only.

    Args:
        home: the brain's folder (BOR_HOME).
        make: keep a new one; without, it is good for this once.
    """
    path = home / FILE
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    key = secrets.token_bytes(BYTES)
    if not make:
        return key
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f"{FILE}.{secrets.token_hex(8)}")
    # Written aside, then linked: whoever looks sees a whole key or none, and of two processes only one makes it.
    with open(new, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(key)
    with contextlib.suppress(FileExistsError):
        os.link(new, path)
    new.unlink()
    return path.read_bytes()
