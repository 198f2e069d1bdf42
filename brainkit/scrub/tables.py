"""Secrets in tables: a Markdown or CSV column, or a row (HTML's too), whose heading is a name that secrets go by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from brainkit.scrub import judge
from brainkit.scrub.keywords import Key, Strength, key_at, triggers
from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.result import Finding
from brainkit.scrub.values import Value, chosen_in_prose, is_secret

_RULE = Pattern(r"(?m)^[ \t>]*\|?[ \t]*:?-{1,}:?[ \t]*(?:\|[ \t]*:?-{1,}:?[ \t]*)+\|?[ \t\r]*$")
_NOISE = " \t\r`*_\"'"
_CSV = re.compile(r"[\w \"'-]{2,30}(?:([,;\t])[\w \"'-]{0,30}){1,30}\r?\n")
_MARK = r"\s{0,20}(?:</?(?:b|strong|i|em|code|kbd|tt|span|p)>\s{0,20})?"
_HTML = Pattern(
    rf"<(?:t[hd]|dt)(?:\s[^<>]{{0,200}})?>{_MARK}([^<>\n]{{0,24}}(?:pass|pw|wort|key|token|secret|psk)[^<>\n]{{0,12}}){_MARK}"
    rf"</(?:t[hd]|dt)>\s{{0,80}}<(?:td|dd)(?:\s[^<>]{{0,200}})?>{_MARK}([^<>\s]{{4,200}}){_MARK}</",
    ignore_case=True,
)


class _Cell(NamedTuple):
    start: int
    text: str


def find(page: Page) -> list[Finding]:
    """Every secret in a table."""
    return [*_markdown(page), *_csv(page), *_html(page)]


def _markdown(page: Page) -> Iterator[Finding]:
    text = page.text
    if "|" not in text:
        return
    done = 0
    for rule_start, rule_end in _RULE.spans(page):
        if rule_start < done:  # a row of the table before
            continue
        head = text.rfind("\n", max(0, rule_start - 4000), max(0, rule_start - 1)) + 1
        headings = _cells(text, head, rule_start - 1, "|")
        keys = [_key(cell.text) for cell in headings]
        yield from _row(headings, [])
        at = rule_end + 1
        while at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if "|" not in text[at:end]:
                break
            yield from _row(_cells(text, at, end, "|"), keys)
            at = done = end + 1


def _row(cells: list[_Cell], keys: list[Key | None]) -> Iterator[Finding]:
    for cell, key in zip(cells, keys, strict=False):
        if key is not None and _is_value(key, cell.text, column=True):
            yield _finding(cell)
    label = next((i for i, cell in enumerate(cells) if cell.text), None)
    key = _key(cells[label].text) if label is not None else None
    if key is not None and label is not None and label + 1 < len(cells):
        cell = cells[label + 1]
        if _is_value(key, cell.text, column=False):
            yield _finding(cell)


def _csv(page: Page) -> Iterator[Finding]:
    """A text that begins with a CSV heading; only a password's column, since such a text lists anything."""
    text = page.text
    heading = _CSV.match(text)
    if heading is None:
        return
    separator = heading.group(1)
    keys = [_key(cell.text) for cell in _cells(text, 0, heading.end() - 1, separator)]
    if not any(keys):
        return
    at = heading.end()
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        cells = _cells(text, at, end, separator)
        if len(cells) == len(keys):
            for cell, key in zip(cells, keys, strict=True):
                if key is not None and _is_value(key, cell.text, column=True):
                    yield _finding(cell)
        at = end + 1


def _html(page: Page) -> Iterator[Finding]:
    """A cell that names a secret and the cell after it."""
    for match in _HTML.matches(page):
        (start, end), (at, stop) = match.span(1), match.span(2)
        yield from _row([_Cell(start, page.text[start:end].strip(_NOISE)), _Cell(at, page.text[at:stop])], [])


def _cells(text: str, start: int, end: int, separator: str) -> list[_Cell]:
    cells, at = [], start
    for part in text[start:end].split(separator):
        body = part.strip(_NOISE)
        cells.append(_Cell(at + (part.index(body) if body else 0), body))
        at += len(part) + 1
    if separator == "|" and cells and not cells[0].text:
        cells = cells[1:]
    return cells


def _key(heading: str) -> Key | None:
    """The key that a heading is, when it is short and names a secret."""
    if not 2 <= len(heading) <= 30 or len(heading.split()) > 3:
        return None
    for start, end in triggers(Page(heading)):
        key = key_at(heading, start, end)
        if key is not None and key.end >= len(heading.rstrip(" :")):
            return key
    return None


def _is_value(key: Key, value: str, *, column: bool) -> bool:
    if not value or " " in value or len(value) < 4:
        return False
    plain = key.strength == Strength.PASSWORD and (
        (column and value.isalpha() and value.islower()) or judge.looks_random(value, 12)
    )
    if key.strength == Strength.PASSWORD and not plain and not chosen_in_prose(value):
        return False
    return is_secret(key, Value(0, len(value), value, literal=plain))


def _finding(cell: _Cell) -> Finding:
    return Finding("password", cell.start, cell.start + len(cell.text))
