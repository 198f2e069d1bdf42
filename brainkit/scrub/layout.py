"""Values in the lines around their key, as YAML lays them out: blocks, lists, and a ``value`` above its ``name``."""

from __future__ import annotations

import re

from brainkit.scrub import judge
from brainkit.scrub.keywords import Key, Strength
from brainkit.scrub.values import Value, is_secret, read_bare, read_quoted

BLOCK = re.compile(r"[|>][+-]?\d?[ \t]*(?:#[^\n]*)?\r?\n")
_ITEM = re.compile(r"""(?:\r?\n)[ \t]*-[ \t]+["'`]?([^\s"'`#]{1,400})["'`]?[ \t]*(?:#[^\n]*)?(?=\r?\n|\Z)""")
_VALUE_ABOVE = re.compile(
    r"(?i)(?:\A|[\n{,])([ \t]*(?:- )?[\"']?value[\"']?[ \t]*:[ \t]*)[^\s][^\n]{0,400}\n"
    r"[ \t]*[\"']?name[\"']?[ \t]*:[ \t]*[\"']?\Z"
)


def block(text: str, key: Key, at: int) -> list[Value]:
    """The lines of a YAML block scalar below the key."""
    line = text.rfind("\n", 0, key.start) + 1
    indent = len(text[line : key.start]) - len(text[line : key.start].lstrip(" \t"))
    values: list[Value] = []
    size = len(text)
    while at < size and len(values) < 200:
        end = text.find("\n", at)
        end = size if end < 0 else end
        row = text[at:end]
        body = row.strip()
        if body and len(row) - len(row.lstrip(" \t")) <= indent:
            break
        if body:
            start = at + row.index(body[0])
            values.append(Value(start, start + len(body), body, literal=True))
        at = end + 1
    if len(values) == 1:
        return [v for v in values if is_secret(key, v)]
    joined = "".join(v.text for v in values)
    if values and " " not in joined and not judge.harmless(joined) and judge.looks_random(joined, 16):
        return values
    return []


def listed(text: str, key: Key, at: int) -> list[Value]:
    """The items of a YAML list below the key."""
    values: list[Value] = []
    while len(values) < 200:
        item = _ITEM.match(text, at)
        if item is None:
            break
        value = Value(item.start(1), item.end(1), item.group(1), literal=key.strength == Strength.PASSWORD)
        at = item.end()
        if is_secret(key, value):
            values.append(value)
    return values


def above(text: str, key: Key) -> Value | None:
    """``- value: x`` with ``name: DB_PASSWORD`` below it."""
    head = text[max(0, key.start - 480) : key.start]
    if "ame" not in head[-12:] or "alue" not in head:
        return None
    found = _VALUE_ABOVE.search(text, key.start - len(head), key.start)
    value = read_quoted(text, found.end(1)) or read_bare(text, found.end(1)) if found else None
    return value if value and is_secret(key, value._replace(literal=True)) else None
