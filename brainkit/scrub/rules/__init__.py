"""The formats of secrets as data: one text file a theme, one line a format.

A line holds the kind, the pattern and the public page or standard that the format comes from, separated by two or more
blanks. A pattern is RE2 syntax over Latin-1 bytes, with the names of ``_PARTS`` for what many share. What is taken out
is its first group that matched, or all of it when it has none. A kind with ``?`` has a weak shape: what matches must
also look like an issued value (``judge.looks_issued``); with ``!``, like one that a person chose
(``judge.looks_chosen``), since a sentence may have the same words.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import NamedTuple

_PARTS = {
    "UUID": "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
    # Of a command line: the words between, what stands between a flag and its value (also in ["a", "list"]), the value.
    "ARGS": r"(?:[^\n|;&]|\\\n){0,200}?[ \t\"']",
    "NEXT": r"""(?:["']?,?[ \t]+|["']?,|=)(?:\\\n[ \t]*)?""",
    "VALUE": r"""(?:"([^"\n$<{][^"\n]{0,127})"|'([^'\n$<{][^'\n]{0,127})'|([^\s"'$<{`|;&%-][^\s"'`|;&]{1,127}))""",
}


class Row(NamedTuple):
    """A format: the kind it is reported as, its pattern, where it is published, and how what matches is judged."""

    kind: str
    pattern: str
    source: str
    judged: str  # "" not at all, "?" must look issued, "!" must look chosen


def rows() -> tuple[Row, ...]:
    """Every line of every table."""
    tables = sorted((f for f in files(__name__).iterdir() if f.name.endswith(".txt")), key=lambda f: f.name)
    lines = [line for table in tables for line in table.read_text("utf-8").splitlines()]
    return tuple(_row(line) for line in lines if line and not line.startswith("#"))


def words(name: str) -> list[str]:
    """The words of one list in ``words/``."""
    lines = (files(__name__) / "words" / f"{name}.txt").read_text("utf-8").splitlines()
    return [word for line in lines if not line.startswith("#") for word in line.split()]


def _row(line: str) -> Row:
    kind, pattern, source = re.split(" {2,}", line)
    for name, part in _PARTS.items():
        pattern = pattern.replace(name, part)
    name = kind.rstrip("?!")
    return Row(name, pattern, source, kind[len(name) :])
