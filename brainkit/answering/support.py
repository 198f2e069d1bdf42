"""Finds what an answer claims in figures and names and no given document holds: numbers, versions, hosts, paths."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_NUMBER: Final = re.compile(r"(?<![\w.])v?\d+(?:[.,:/-]\d+)*(?![\d])", re.IGNORECASE)
_HOST: Final = re.compile(
    r"(?<![\w.@/-])(?:[A-Za-z0-9_-]+\.)+[A-Za-z]{2,}(?![\w-])|(?<![\w./-])[A-Za-z]+[-_]?\d+[A-Za-z]*(?![\w-]|\.\w)"
)
_PATH: Final = re.compile(r"(?<![\w:/.])~?/?(?:[\w.@-]+/)+[\w.@-]+")
_NAMED: Final = re.compile(r"\b(?:hosts?|servers?|nodes?|machines?|Rechner)\s+[`*\"']*([A-Za-z][\w.-]{2,})[`*\"']*")
_DATE: Final = re.compile(
    r"(?<![\w.-])(?:(?P<y1>\d{4})-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})|(?P<d2>\d{1,2})\.(?P<m2>\d{1,2})\.(?P<y2>\d{4})"
    r"|(?P<d3>\d{1,2})(?:st|nd|rd|th|\.)?\s+(?P<m3>[^\W\d_]{3,9})\.?,?\s+(?P<y3>\d{4})"
    r"|(?P<m4>[^\W\d_]{3,9})\.?\s+(?P<d4>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y4>\d{4}))(?![\w-])"
)
_BLANK: Final = "\0"
_LIST: Final = re.compile(r"^\s*\d{1,3}[.)]\s", re.MULTILINE)
_CITED: Final = re.compile(r"\[[^\[\]\n]*\]")
_WORDS: Final = {
    word: str(number)
    for number, names in enumerate(
        (
            "zero null no", "one eins ein eine einen", "two zwei both beide", "three drei", "four vier", "five fünf",
            "six sechs", "seven sieben", "eight acht", "nine neun", "ten zehn", "eleven elf", "twelve zwölf",
        )
    )
    for word in names.split()
}  # fmt: skip
_MONTHS: Final = {
    name: str(number)
    for number, names in enumerate(
        (
            "january januar jan", "february februar feb", "march märz mar", "april apr", "may mai", "june juni jun",
            "july juli jul", "august aug", "september sept sep", "october oktober oct okt", "november nov",
            "december dezember dec dez",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_NO_NAMES: Final = frozenset(
    {"and", "are", "can", "for", "has", "have", "that", "the", "this", "und", "was", "were", "which", "who", "will"}
    | {"with", "der", "die", "das", "mit", "named", "called", "runs", "läuft", "ist"}
)


class Support:
    """Knows what the given texts hold.

    Example:
        >>> support = Support(["Paperless 2.14 runs on host eule, port 8971, since 2024-05-03."])
        >>> support.missing("Version 2.15 on eule.lan at port 8971 since 3 May 2024")
        ('2.15', 'eule.lan')
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts).casefold()
        self._numbers = {form for match in _NUMBER.finditer(self._text) for form in _forms(match[0])}
        self._numbers |= {part for match in re.finditer(r"\d+", self._text) for part in (_plain(match[0]),)}
        self._dates = {date for match in _DATE.finditer(self._text) if (date := _date(match))}
        words = set(re.findall(r"[^\W\d]+", self._text))
        self._numbers |= {number for names in (_WORDS, _MONTHS) for word, number in names.items() if word in words}

    def missing(self, text: str) -> tuple[str, ...]:
        """Dates, numbers, versions, hosts and paths of a text that none of the given texts holds, in reading order."""
        found: dict[int, str] = {}

        def looked_at(match: re.Match[str]) -> str:
            """Blank what was looked at, so that no further pattern finds a part of it."""
            group = 1 if match.re is _NAMED else 0
            token = match[group].rstrip(".,:;-")
            if token.casefold() in _NO_NAMES or (match.re is _DATE and _date(match) is None):
                return match[0]
            if not self._holds(match, token):
                found[match.start(group)] = token
            return _BLANK * len(match[0]) if match.re is not _NAMED else match[0].replace(token, _BLANK * len(token))

        text = _LIST.sub(" ", _CITED.sub(" ", text))
        for pattern in (_DATE, _PATH, _HOST, _NAMED, _NUMBER):
            text = pattern.sub(looked_at, text)
        return tuple(dict.fromkeys(found[start] for start in sorted(found)))

    def _holds(self, match: re.Match[str], token: str) -> bool:
        if match.re is _DATE:
            return _date(match) in self._dates
        if match.re is _NUMBER:
            return self._has_number(token)
        return re.search(rf"(?<![\w-]){re.escape(token.casefold())}(?![\w-])", self._text) is not None

    def _has_number(self, token: str) -> bool:
        if _forms(token) & self._numbers:
            return True
        parts = re.split(r"[-/]", token)
        return len(parts) > 1 and all(_forms(part) & self._numbers for part in parts)  # a range


def _forms(number: str) -> set[str]:
    """Ways in which the same number may be written."""
    bare = number.casefold().lstrip("v")
    ungrouped = re.sub(r"[.,](?=\d{3}(?!\d))", "", bare)
    return {_plain(form.replace(",", ".")) for form in (bare, ungrouped)}


def _date(match: re.Match[str]) -> tuple[int, int, int] | None:
    """Year, month and day of a written date; None if it is none."""
    year, month, day = (next(v for k, v in match.groupdict().items() if v and k[0] == name) for name in "ymd")
    number = month if month.isdigit() else _MONTHS.get(month.casefold(), "0")
    return (int(year), int(number), int(day)) if 1 <= int(number) <= 12 else None


def _plain(number: str) -> str:
    return number.lstrip("0") or "0"
