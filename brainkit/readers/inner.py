r"""What a text holds one layer down, scrubbed too: comments without their signs, string literals without escapes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SIGN = re.compile(r"[ \t]*(?:#+|;+|//+|--|>|\*)(?:[ \t]|$)")
_COMMENTS = re.compile(rf"(?:^{_SIGN.pattern}.*\n?){{2,}}", re.MULTILINE)
_ESCAPED = re.compile(r"\\[nrt\"'\\/ux]")
_LITERAL = re.compile(r"([\"'])((?:[^\"'\\\n]|\\.|(?!\1)[\"'])*)(?:\1|$)", re.MULTILINE)
"""On one line; what is never closed ends with the line, so that no part of it is looked at twice."""
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")
_NAMED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "0": ""}
_WRITTEN = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def scrub_inner(text: str, clean: Callable[[str], str]) -> str:
    r"""The text with what its comments and string literals say scrubbed.

    A sign before each line, or ``\n`` where a line ends, can keep a label from its value. A single line of comment and
    a literal without an escape read as they are written.

    Args:
        text: any text, scrubbed as it stands.
        clean: scrubs a text and keeps its line ends; asked once for all comments and once for all literals.

    Example:
        >>> scrub_inner(r'run = "cd /srv\nPIN=1234"', lambda text: text.replace("\nPIN=1234", "\nPIN=X"))
        'run = "cd /srv\\nPIN=X"'
    """
    return _scrub_literals(_scrub_comments(text, clean), clean)


def _scrub_comments(text: str, clean: Callable[[str], str]) -> str:
    runs = list(_COMMENTS.finditer(text))
    said = [[line[_sign_length(line) :] for line in run[0].split("\n")] for run in runs]
    parts: list[str] = []
    at = 0
    for run, before, after in zip(runs, said, _cleaned(said, clean), strict=True):
        if after != before:
            lines = zip(run[0].split("\n"), after, strict=True)
            parts += text[at : run.start()], "\n".join(line[: _sign_length(line)] + now for line, now in lines)
            at = run.end()
    return "".join(parts) + text[at:]


def _sign_length(line: str) -> int:
    sign = _SIGN.match(line)
    return sign.end() if sign else 0


def _scrub_literals(text: str, clean: Callable[[str], str]) -> str:
    if not _ESCAPED.search(text):
        return text
    written = list(dict.fromkeys(found[2] for found in _LITERAL.finditer(text) if _ESCAPED.search(found[2])))
    said = [_decoded(literal).split("\n") for literal in written]
    changed = {
        literal: "\n".join(after)
        for literal, before, after in zip(written, said, _cleaned(said, clean), strict=True)
        if after != before
    }
    if not changed:
        return text

    def scrubbed(found: re.Match[str]) -> str:
        if found[2] not in changed:
            return found[0]
        return found[1] + _encoded(changed[found[2]], found[1]) + found[0][1 + len(found[2]) :]

    return _LITERAL.sub(scrubbed, text)


def _cleaned(texts: Sequence[list[str]], clean: Callable[[str], str]) -> list[list[str]]:
    """Texts, given as their lines, scrubbed in one call; an empty line keeps them apart."""
    if not texts:
        return []
    lines = iter(clean("\n\n".join("\n".join(text) for text in texts)).split("\n"))
    scrubbed = []
    for text in texts:
        scrubbed.append([next(lines) for _ in text])
        next(lines, "")
    return scrubbed


def _decoded(written: str) -> str:
    return _ESCAPE.sub(_meant, written).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _meant(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else _NAMED.get(escape[3], escape[3])


def _encoded(said: str, quote: str) -> str:
    return "".join(_WRITTEN.get(char, f"\\{quote}" if char == quote else char) for char in said)
