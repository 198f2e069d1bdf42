r"""String literals as whoever reads them sees them: ``"a\nb"`` is two lines, and a secret may stand in one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_ESCAPED = re.compile(r"\\[nrt\"'\\/u]")
_LITERAL = re.compile(r"([\"'])((?:[^\"'\\\n]|\\.|(?!\1)[\"'])*)(?:\1|$)", re.MULTILINE)
"""On one line; what is never closed ends with the line, so that no part of it is looked at twice."""
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")
_NAMED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "0": ""}
_WRITTEN = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def scrub_literals(text: str, clean: Callable[[str], str]) -> str:
    r"""The text with what its string literals say scrubbed too; those without an escape were read as they are.

    Args:
        text: any text, scrubbed as it stands.
        clean: scrubs a text and keeps its line ends; asked once, for all literals.

    Example:
        >>> scrub_literals(r'run = "cd /srv\nPIN=1234"', lambda text: text.replace("\nPIN=1234", "\nPIN=X"))
        'run = "cd /srv\\nPIN=X"'
    """
    if not _ESCAPED.search(text):
        return text
    said = {found[2]: _decoded(found[2]) for found in _LITERAL.finditer(text) if _ESCAPED.search(found[2])}
    cleaned = iter(clean("\n\n".join(said.values())).split("\n"))  # in one call, which keeps line ends
    after: dict[str, str] = {}
    for literal, before in said.items():
        lines = [next(cleaned, "") for _ in range(before.count("\n") + 1)]
        next(cleaned, "")
        if (now := "\n".join(lines)) != before:
            after[literal] = now
    if not after:
        return text

    def scrubbed(found: re.Match[str]) -> str:
        if found[2] not in after:
            return found[0]
        return found[1] + _encoded(after[found[2]], found[1]) + found[0][1 + len(found[2]) :]

    return _LITERAL.sub(scrubbed, text)


def _decoded(written: str) -> str:
    return _ESCAPE.sub(_meant, written).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _meant(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else _NAMED.get(escape[3], escape[3])


def _encoded(said: str, quote: str) -> str:
    return "".join(_WRITTEN.get(char, f"\\{quote}" if char == quote else char) for char in said)
