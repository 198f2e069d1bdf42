"""JSON, pretty-printed, by its keys."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from brainkit.chunking.outline import outline, outline_sections
from brainkit.chunking.section import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
MAX_INDENT = 20


def pretty_json(text: str) -> str | None:
    r"""The document as ``json.dumps(..., indent=2)`` lays it out, or None when it is no JSON.

    Only the space between tokens changes: numbers keep their digits and repeated keys stay. Escaped letters become
    letters; escapes of ASCII stay, since the text was scrubbed as it is and must not spell out more than that.

    Example:
        >>> print(pretty_json('{"a":[1.10,"\\u00fc"],"b":{}}'))
        {
          "a": [
            1.10,
            "ü"
          ],
          "b": {}
        }
    """
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    out: list[str] = []
    depth = 0
    before = ""
    for match in TOKEN.finditer(text):
        now = match.group()
        closes = now in ("}", "]")
        depth -= closes
        if before in ("{", "[", ",") or closes:
            empty = closes and before in ("{", "[")
            out.append("" if empty else "\n" + " " * min(2 * depth, MAX_INDENT))
        out.append(": " if now == ":" else ESCAPE.sub(_letter, now) if now[0] == '"' else now)
        depth += now in ("{", "[")
        before = now
    return "".join(out)


def _letter(escape: re.Match[str]) -> str:
    code = int(escape[1], 16) if escape[1] else 0
    return chr(code) if code > 0xA0 and not 0xD800 <= code <= 0xDFFF else escape[0]


def json_sections(pretty: str, target: int) -> Iterator[Section]:
    """One section for each top-level key (or item) of what ``pretty_json`` returned."""
    lines = outline(pretty)
    inner = lines[1].start if len(lines) > 1 else 0
    yield Section(0, inner, ())
    yield from outline_sections(pretty, lines[1:], Section(inner, len(pretty), ()), target)
