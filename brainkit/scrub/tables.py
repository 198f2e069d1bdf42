"""Secrets in tables: a Markdown or CSV column, or a row (HTML's too), whose heading is a name that secrets go by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from brainkit.scrub import judge
from brainkit.scrub.keywords import Key, Strength, key_at, triggers
from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.result import Finding
from brainkit.scrub.values import GRAMMAR, Value, chosen, chosen_in_prose, is_secret

_RULE = Pattern(
    r"(?m)^[ \t>]*\|?[ \t]*:?-{1,}:?[ \t]*(?:[|+][ \t]*:?-{1,}:?[ \t]*)+\|?[ \t\r]*$",
    first_look=r"-:?[ \t]?[|+][ \t]?:?-",
)
_NOISE = " \t\r`*_\"'"
_CSV = re.compile(r"[\w \"'-]{2,30}(?:([,;\t])[\w \"'-]{0,30}){1,30}\r?\n")
_TABLE = Pattern(r"<(?:table|tbody|thead|tr|dl|dt)[\s>]", ignore_case=True)
_PART = re.compile(
    r"(?i)<(/?table|tr|/tr|dl|/dl|t[hd]|d[td])(?:\s[^<>]{0,400})?>(?:\s{0,40}<(?:[abip]|strong|em|code|kbd|tt|span|font|div)(?:\s[^<>]{0,200})?>){0,3}([^<>]{0,400})"
)
_INSERT = Pattern(r"insert\s+into\s+[^\s(]{1,100}\s{0,10}\(([^()]{1,1000})\)\s{0,10}values\s{0,10}", ignore_case=True)
_VALUES = re.compile(r"[\s,]{0,20}\(((?:'(?:[^'\n]|''){0,400}'|[^()'\n]){1,4000})\)")
_FIELD = re.compile(r"'((?:[^'\n]|''){0,400})'|[^,']{1,400}")
_USERS = re.compile(r"(?i)\W*(?:user|benutzer|nutzer|login|log-in|account|konto|anmeldename|e-?mail|kennung)")


_WORDS = re.compile(r"[A-Z\xc4\xd6\xdc][a-z\xdf-\xff]{2,}(?:[_.-][A-Z\xc4\xd6\xdc][a-z\xdf-\xff]{2,}){1,3}")
_OF_USERS = "user's password"


class _Cell(NamedTuple):
    start: int
    text: str


def find(page: Page) -> list[Finding]:
    """Every secret in a table."""
    return [*_markdown(page), *_csv(page), *_html(page), *_sql(page)]


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
        keys = _keys(headings)
        yield from _row(headings, [])
        at = rule_end + 1
        while at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if "|" not in text[at:end]:
                break
            yield from _row(_cells(text, at, end, "|"), keys)
            at = done = end + 1


def _keys(headings: list[_Cell]) -> list[Key | None]:
    """The secrets that columns hold; beside a column of users a password's may be any word."""
    keys = [_key(cell.text) for cell in headings]
    if not any(_USERS.match(cell.text) for cell in headings):
        return keys
    return [key and key._replace(name=_OF_USERS) if key and key.strength == Strength.PASSWORD else key for key in keys]


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
    keys = _keys(_cells(text, 0, heading.end() - 1, separator))
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
    """Tables and definition lists, their first row of headings or a heading in each row."""
    if next(_TABLE.spans(page), None) is None:
        return
    keys: list[Key | None] = []
    cells: list[_Cell] = []
    headings = False
    for part in _PART.finditer(page.text):
        tag = part[1].lower()
        if tag in ("td", "th", "dt", "dd"):
            if tag == "dt":
                yield from _row(cells, keys)
                cells = []
            body = part[2].strip(_NOISE + "\n")
            cells.append(_Cell(part.start(2) + part[2].index(body), body))
            headings = headings or tag == "th"
            continue
        yield from _row(cells, [] if headings else keys)
        if cells and (headings or not keys):
            keys = _keys(cells) if len(cells) > 1 else keys
        cells, headings = [], False
        if tag in ("table", "/table"):
            keys = []
    yield from _row(cells, keys)


def _sql(page: Page) -> Iterator[Finding]:
    """``INSERT INTO users (name, password) VALUES ('ina', '...')``."""
    text = page.text
    for match in _INSERT.matches(page):
        start, end = match.span(1)
        keys = _keys([_Cell(start, name.strip(" \n\t`\"[]'")) for name in text[start:end].split(",")])
        if not any(keys):
            continue
        at, rows = match.end(), 0
        while rows < 5000 and (row := _VALUES.match(text, at)):
            fields = [f for f in _FIELD.finditer(row[1]) if f[0].strip()]
            for field, key in zip(fields, keys, strict=False):
                if field[1] is not None and key is not None and is_secret(key, Value(0, 0, field[1], quoted=True)):
                    yield _finding(_Cell(row.start(1) + field.start(1), field[1]))
            at, rows = row.end(), rows + 1


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
    keys = (key_at(heading, start, end) for start, end in triggers(Page(heading)))
    named = [key for key in keys if key is not None and key.end >= len(heading.rstrip(" :"))]
    return max(named, key=lambda key: key.strength, default=None)


def _is_value(key: Key, value: str, *, column: bool) -> bool:
    if not value or " " in value or len(value) < 4:
        return False
    any_word = column and value.isalpha() and (value.islower() or key.name == _OF_USERS)
    any_word = any_word or (key.name == _OF_USERS and _is_words(value))
    plain = key.strength == Strength.PASSWORD and (any_word or judge.looks_random(value, 12) or judge.is_worded(value))
    if key.strength == Strength.PASSWORD and not plain and not chosen_in_prose(value) and not chosen(value):
        return False
    return is_secret(key, Value(0, len(value), value, literal=plain or key.strength == Strength.PASSWORD))


def _is_words(value: str) -> bool:
    """Whether capitalised words are joined to one, as in ``Popcorn_Kino``, not ``See_Vault``."""
    return _WORDS.fullmatch(value) is not None and GRAMMAR.isdisjoint(re.split("[_.-]", value.lower()))


def _finding(cell: _Cell) -> Finding:
    return Finding("password", cell.start, cell.start + len(cell.text))
