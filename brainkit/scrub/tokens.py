"""Secrets known by their format: the rule tables."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from brainkit.scrub import judge
from brainkit.scrub.page import Page, Pattern, union
from brainkit.scrub.result import Finding
from brainkit.scrub.rules import Row, rows

_CRYPT = re.compile(r"\$[\w-]*\$")  # looks like a template's variables: $6$salt$hash
_PORTS = re.compile(r"\d{1,5}(?::\d{1,5})+(?:/\w+)?")  # docker run --name mongo -p 27017:27017
_FIGURE = re.compile(r"[0-9]")

_JUDGES = {"?": judge.looks_issued, "!": judge.looks_chosen}

_PATTERNS = [(row, Pattern(row.pattern)) for row in rows()]
_RARE = {pattern.number: (row, pattern) for row, pattern in _PATTERNS if pattern.number >= 0}
_SHAPES = [(row, pattern) for row, pattern in _PATTERNS if pattern.number < 0]


def find(page: Page) -> list[Finding]:
    r"""Everything on the page that has one of the formats.

    Formats that begin with something rare (``ghp_``) are looked for where their beginning occurs; those that do not
    (``[0-9a-f]{32}\\.[A-Za-z0-9]{16}``) have an automaton of their own.
    """
    found: list[Finding] = []
    for number in sorted(page.seen & _RARE.keys()):
        found += _run(_RARE[number], page)
    for index in _shapes().Match(page.data) or ():
        hits = _run(_SHAPES[index], page)
        found += [f for f in hits if _FIGURE.search(page.text, f.start, f.end)]  # without a figure most are words
    return found


def _run(rule: tuple[Row, Pattern], page: Page) -> Iterator[Finding]:
    row, pattern = rule
    for match in pattern.compiled.finditer(page.data):
        start, end = next((span for span in map(match.span, pattern.groups) if span[0] >= 0), (-1, -1))
        value = page.text[start:end]
        if start < 0 or (row.judged and not _JUDGES[row.judged](value)) or _PORTS.fullmatch(value):
            continue
        if _CRYPT.match(value) or not judge.stands_in(value):
            yield Finding(row.kind, start, end)


@functools.cache
def _shapes() -> Any:
    return union([row.pattern for row, _ in _SHAPES])
