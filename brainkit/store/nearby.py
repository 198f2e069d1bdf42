"""Words no chunk holds, as the chunks write them: typing mistakes, and the parts and wholes of compounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from brainkit.store.database import Database
from brainkit.store.terms import LANGUAGES, Language, Term

SHORTEST: Final = 5
"""Shorter words are taken as they are, and so are shorter stems: too many others are near."""
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
    for number, term in words[:MOST_WORDS]:
        stock = _stock(database, term)
        forms = _corrected(term, stock) or _parts(term, stock) or _wholes(term, stock)
        if forms:
            found[number] = forms
    return found


def _stock(database: Database, term: Term) -> dict[Form, int]:
    """Lexemes that may be meant, with the number of chunks that hold them: an index or one pass over the lexicon."""
    stems = {getattr(term, language) for language in LANGUAGES}
    beginnings = {word[:size] for word in (term.text, *stems) for size in range(_PART, len(word))}
    endings = {term.text[start:] for start in range(_PART, len(term.text) - _PART + 1)}
    like = [pattern for stem in stems for pattern in _patterns(stem)]
    query = """
        select language, lexeme, documents from lexeme_stats
        where lexeme like any(%(like)s) and length(lexeme) between %(low)s and %(high)s
           or lexeme like any(%(wholes)s) or lexeme = any(%(parts)s)"""
    values = {
        "like": like,
        "low": min(map(len, stems)) - 2,
        "high": max(map(len, stems)) + 2,
        "wholes": [f"{'_' * (_PART - 1)}%{term.german}"],
        "parts": [*beginnings, *endings],
    }
    with database.connection() as connection:
        rows = connection.execute(query, values).fetchall()
    return {Form(language, lexeme): documents for language, lexeme, documents in rows}


def _patterns(stem: str) -> list[str]:
    """Of n mistakes at least one of n + 1 parts of the word is free."""
    if len(stem) < TWO_MISTAKES:
        half = len(stem) // 2
        return [f"{stem[:half]}%", f"{stem[0]}%{stem[half:]}"]
    third = len(stem) // 3
    return [f"{stem[:third]}%", f"{stem[0]}%{stem[third : 2 * third]}%", f"{stem[0]}%{stem[2 * third :]}"]


def _corrected(term: Term, stock: Mapping[Form, int]) -> list[Form]:
    best: list[tuple[int, int, Form]] = []
    for form, documents in stock.items():
        stem = getattr(term, form.language)
        if len(stem) < SHORTEST or form.lexeme[0] != stem[0] or not form.lexeme.isalpha():
            continue
        allowed = 1 + (len(stem) >= TWO_MISTAKES)
        distance = mistakes(stem, form.lexeme, allowed)
        exchanged = sorted(stem) == sorted(form.lexeme)
        if distance <= allowed and (exchanged or len(stem) >= ANY_MISTAKE):
            best.append((distance, -documents, form))
    if not best:
        return []
    nearest = min(best)
    return [form for distance, _, form in best if distance == nearest[0] and form.lexeme == nearest[2].lexeme]


def _parts(term: Term, stock: Mapping[Form, int]) -> list[Form]:
    """Known words that make up the whole of a word, the second by its stem."""
    known = {form.lexeme: form for form in stock if form.language == "german"}
    for size in range(len(term.text) - _PART, _PART - 1, -1):
        head, tail = term.text[:size], term.text[size:]
        first = next((known[head.removesuffix(x)] for x in _LINKS if head.removesuffix(x) in known), None)
        second = known.get(tail) or known.get(term.german[size:])
        if first and second:
            return [first, second]
    return []


def _wholes(term: Term, stock: Mapping[Form, int]) -> list[Form]:
    if len(term.german) < _PART:
        return []
    wholes = [
        (-documents, form)
        for form, documents in stock.items()
        if form.language == "german"
        and form.lexeme.endswith(term.german)
        and len(form.lexeme) >= len(term.german) + _PART - 1
    ]
    return [form for _, form in sorted(wholes)[:MOST_COMPOUNDS] if form.lexeme.isalpha()]


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
