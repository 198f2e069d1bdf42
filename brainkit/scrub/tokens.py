"""Secrets known by their format: the rule tables."""

from __future__ import annotations

import functools
import re
from typing import Any

from brainkit.scrub import judge
from brainkit.scrub.page import Page, Pattern, union
from brainkit.scrub.result import Finding
from brainkit.scrub.rules import Row, rows

_LONG = Pattern(r"[\w.+/=~:@|!$^*%{},-]{20,}")
_CRYPT = re.compile(r"\$[\w-]*\$")  # looks like a template's variables: $6$salt$hash
_FIGURE = re.compile(rb"[0-9]")

_PATTERNS = [(row, Pattern(row.pattern)) for row in rows()]
_RARE = {pattern.number: (row, pattern) for row, pattern in _PATTERNS if pattern.number >= 0}
_SHAPES = [(row, pattern) for row, pattern in _PATTERNS if pattern.number < 0]


def find(page: Page) -> list[Finding]:
    r"""Everything on the page that has one of the formats.

    Formats that begin with something rare (``ghp_``) are looked for where their beginning occurs; those that do not
    (``[0-9a-f]{32}\\.[A-Za-z0-9]{16}``) in the text's long unbroken stretches.
    """
    found: list[Finding] = []
    for number in page.seen & _RARE.keys():
        row, pattern = _RARE[number]
        _run(row, pattern.compiled, page, 0, page.data, found)
    for start, end in _LONG.spans(page):
        part = page.data[start:end]
        if _FIGURE.search(part) is not None:  # of the shapes without a figure none is a token, and most are words
            for index in _shapes().Match(part) or ():
                row, pattern = _SHAPES[index]
                _run(row, pattern.compiled, page, start, part, found)
    return found


def _run(row: Row, compiled: Any, page: Page, offset: int, data: bytes, found: list[Finding]) -> None:
    group = 1 if compiled.groups else 0
    for match in compiled.finditer(data):
        start, end = match.span(group)
        value = page.text[start + offset : end + offset]
        if start < 0 or (row.judged and not judge.looks_issued(value)):
            continue
        if _CRYPT.match(value) or not judge.stands_in(value):
            found.append(Finding(row.kind, start + offset, end + offset))


@functools.cache
def _shapes() -> Any:
    return union([row.pattern for row, _ in _SHAPES])
