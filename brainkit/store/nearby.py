"""Words no chunk holds, as the chunks write them: typing mistakes, and the parts and wholes of compounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from brainkit.store.database import Connection, Database
from brainkit.store.terms import LANGUAGES, Language, Term

SHORTEST: Final = 5
"""Shorter words are taken as they are: too many others are near."""
ANY_MISTAKE: Final = 7
"""Letters of a stem from which on any mistake is one; below, only two letters exchanged, as *spell* is not *shell*."""
TWO_MISTAKES: Final = 10
"""Letters of a stem from which on there may be two."""
MOST_WORDS: Final = 8
MOST_COMPOUNDS: Final = 4
_PART: Final = 4
_LINKS: Final = ("", "s", "n", "en", "es", "er", "e")
"""What German puts between the parts of a compound."""


class Form(NamedTuple):
    """A lexeme of the index."""

    language: Language
    lexeme: str


def near_forms(database: Database, terms: Mapping[int, Term]) -> dict[int, list[Form]]:
    """Lexemes to look for in place of words that no chunk holds.

    Of a word of five or more letters, the first that there are: the nearest lexeme that a mistake or two explain (a
    letter too many, too few, another, or two exchanged, but never the first), the commonest of several; German words
    it is composed of; German compounds that end in it.

    Args:
        database: the brain's database.
        terms: unknown terms by their number.
    """
    found: dict[int, list[Form]] = {}
    words = [(number, term) for number, term in terms.items() if term.text.isalpha() and len(term.text) >= SHORTEST]
    with database.connection() as connection:
        for number, term in words[:MOST_WORDS]:
            for look in (_corrected, _parts, _wholes):
                if forms := look(term, connection):
                    found[number] = forms
                    break
    return found


def _corrected(term: Term, connection: Connection) -> list[Form]:
    stems = {language: str(getattr(term, language)) for language in LANGUAGES}
    # The range lets the index of the table help; the first letter is that of every stem.
    query = """
        select language, lexeme, documents from lexeme_stats
        where language = any(%(languages)s) and lexeme >= %(first)s and lexeme < %(next)s
          and length(lexeme) between %(low)s and %(high)s and lexeme like any(%(like)s)"""
    values = {
        "languages": list(LANGUAGES),
        "first": term.text[0],
        "next": chr(ord(term.text[0]) + 1),
        "low": min(map(len, stems.values())) - 2,
        "high": max(map(len, stems.values())) + 2,
        "like": [pattern for stem in set(stems.values()) for pattern in _patterns(stem)],
    }
    best: list[tuple[int, int, Form]] = []
    for language, lexeme, documents in connection.execute(query, values):
        stem = stems[language]
        if not lexeme.isalpha():
            continue
        allowed = 1 + (len(stem) >= TWO_MISTAKES)
        distance = mistakes(stem, lexeme, allowed)
        if distance <= allowed and (len(stem) >= ANY_MISTAKE or sorted(stem) == sorted(lexeme)):
            best.append((distance, -documents, Form(language, lexeme)))
    if not best:
        return []
    nearest = min(best)
    return [form for distance, _, form in best if distance == nearest[0] and form.lexeme == nearest[2].lexeme]


def _patterns(stem: str) -> list[str]:
    """Of n mistakes at least one of n + 1 parts of the word is free."""
    if len(stem) < TWO_MISTAKES:
        half = len(stem) // 2
        return [f"{stem[:half]}%", f"{stem[0]}%{stem[half:]}"]
    third = len(stem) // 3
    return [f"{stem[:third]}%", f"{stem[0]}%{stem[third : 2 * third]}%", f"{stem[0]}%{stem[2 * third :]}"]


def _parts(term: Term, connection: Connection) -> list[Form]:
    """Known words that make up the whole of a word; of the second the stem will do."""
    cuts = range(len(term.text) - _PART, _PART - 1, -1)
    heads = {size: [term.text[:size].removesuffix(link) for link in _LINKS] for size in cuts}
    tails = {size: [term.text[size:], term.german[size:]] for size in cuts}
    asked = [part for parts in (*heads.values(), *tails.values()) for part in parts if len(part) >= _PART]
    query = "select lexeme from lexeme_stats where language = 'german' and lexeme = any(%s)"
    known = {row[0] for row in connection.execute(query, (asked,))}
    for size in cuts:
        head, tail = (next((part for part in parts[size] if part in known), None) for parts in (heads, tails))
        if head and tail:
            return [Form("german", head), Form("german", tail)]
    return []


def _wholes(term: Term, connection: Connection) -> list[Form]:
    if len(term.german) < _PART:
        return []
    query = """select lexeme from lexeme_stats where language = 'german' and lexeme like %s
               order by documents desc, lexeme"""
    rows = connection.execute(query, (f"{'_' * (_PART - 1)}%{term.german}",))
    return [Form("german", row[0]) for row in rows if row[0].isalpha()][:MOST_COMPOUNDS]


def mistakes(one: str, other: str, most: int) -> int:
    """Letters added, left out, exchanged with another or with the next one (optimal string alignment), up to most + 1.

    Example:
        >>> mistakes("proxmxo", "proxmox", 2), mistakes("kuberntes", "kubernetes", 2), mistakes("cat", "horse", 2)
        (1, 1, 3)
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    last: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        new = [i]
        for j, b in enumerate(other, 1):
            cost = min(row[j] + 1, new[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            new.append(cost)
        if min(new) > most:
            return most + 1
        last, row = row, new
    return min(row[-1], most + 1)
