"""Which model made a vector: its name, its dimension and a fingerprint of all that shapes its numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ModelIdentity:
    """A model as a brain remembers it.

    Attributes:
        name: Readable name, such as ``all-MiniLM-L6-v2-int8`` or ``ollama/nomic-embed-text``.
        dimensions: Length of its vectors.
        fingerprint: 64 hexadecimal digits; vectors of equal fingerprints may be compared, others must not.
    """

    name: str
    dimensions: int
    fingerprint: str


def fingerprint(recipe: Mapping[str, object]) -> str:
    """SHA-256 of a recipe (weights, pooling, prefixes ...), the same in every process and for any order of its keys.

    Example:
        >>> fingerprint({"a": 1, "b": "x"}) == fingerprint({"b": "x", "a": 1})
        True
    """
    canonical = json.dumps(recipe, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
