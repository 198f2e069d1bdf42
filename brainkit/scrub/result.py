"""What scrubbing returns: the clean text, and where and what kind of secret was taken out, never the secret."""

from __future__ import annotations

import re
from typing import NamedTuple

MARKER = re.compile(r"\[REDACTED:[a-z0-9-]{1,64}\]")


class Finding(NamedTuple):
    """One stretch of the input that was taken out: ``text[start:end]``, in characters of the INPUT text."""

    kind: str
    start: int
    end: int


class ScrubResult(NamedTuple):
    """The text without its secrets, and the findings in order, none overlapping another."""

    text: str
    findings: tuple[Finding, ...]


def redact(text: str, findings: tuple[Finding, ...]) -> str:
    """The text with each finding replaced by ``[REDACTED:<kind>]``."""
    parts: list[str] = []
    at = 0
    for kind, start, end in findings:
        parts += (text[at:start], f"[REDACTED:{kind}]")
        at = end
    return "".join(parts) + text[at:]
