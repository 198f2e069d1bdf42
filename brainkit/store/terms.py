"""Text -> the terms the lexical channel indexes and asks for: stemmed words, identifiers whole and in parts."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

import Stemmer

from brainkit.store.stopwords import ENGLISH, GERMAN

Language = Literal["english", "german", "simple"]
LANGUAGES: Final[tuple[Language, ...]] = ("english", "german", "simple")
TERMS_VERSION: Final = 1
"""Goes up when the same text would give other terms; documents are then indexed anew."""

_MAX_TERM = 120
_WORD = re.compile(r"[^\W_]+(?:[._/@:+#~-]+[^\W_]+)*", re.UNICODE)
_APOSTROPHE = re.compile(r"(?<=\w)['’](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
_SPLIT = re.compile(r"[._/@:+#~-]+")
_CAMEL = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])")
_STOP: Final[dict[Language, frozenset[str]]] = {"english": ENGLISH, "german": GERMAN, "simple": frozenset()}
_local = threading.local()


class Term(NamedTuple):
    """One thing a question asks for: its lexeme in each language a chunk may be indexed in."""

    text: str
    english: str
    german: str
    simple: str


def detect_language(text: str, *, prose: bool = True) -> Language:
    """Language whose function words fill the text; code and short text count as English.

    Args:
        text: the document or question.
        prose: False for code and configuration, which is German only when German comments prevail.

    Example:
        >>> detect_language("Wo steht der Wechselrichter und was kostet er?")
        'german'
    """
    words = re.findall(r"[^\W\d_]+", text[:20_000].lower())
    english = sum(word in ENGLISH for word in words)
    german = sum(word in GERMAN for word in words)
    if german > english:
        return "german"
    if prose and len(words) >= 60 and english < 0.04 * len(words):
        return "simple"
    return "english"


def document_terms(text: str, language: Language) -> list[str]:
    """Terms of a chunk in reading order, repeated as often as they occur, stop words left out.

    Example:
        >>> document_terms("Restarting k3s-node-02", "english")
        ['restart', 'k3s-node-02', 'k3s', 'node', '02']
    """
    return [lexeme for word in _words(text) if (lexeme := _lexeme(word, language))]


def question_terms(question: str) -> list[Term]:
    """The distinct terms of a question; its own language decides which words are stop words.

    Example:
        >>> [term.english for term in question_terms("Where are the backups of 10.0.0.7?")]
        ['backup', '10.0.0.7', '10', '0', '7']
    """
    stop = _STOP[detect_language(question)]
    found: dict[tuple[str, str, str], Term] = {}
    for word in _words(question):
        if word in stop:
            continue
        term = Term(word, _stem(word, "english"), _stem(word, "german"), word)
        found.setdefault(term[1:], term)
    return list(found.values())


def _words(text: str) -> Iterator[str]:
    """Lower-case words; a compound such as ``nginx.conf`` or ``INV/2026/7`` whole, if it reads as a name, then its parts."""
    for match in _WORD.finditer(_APOSTROPHE.sub("", text)):
        token = match.group()
        parts = _SPLIT.split(token)
        if len(parts) > 1 and _is_name(token, parts):
            yield token.lower()[:_MAX_TERM]
        for part in parts:
            pieces = _CAMEL.split(part) if not part.islower() and not part.isupper() else [part]
            if len(pieces) > 1:
                yield part.lower()[:_MAX_TERM]
            for piece in pieces:
                yield piece.lower()[:_MAX_TERM]


def _is_name(token: str, parts: list[str]) -> bool:
    """Whether a compound means something as a whole: a file, host, address, number, not ``and/or`` or ``self-hosted``."""
    return len(parts) > 2 or "." in token or "@" in token or any(c.isdigit() for c in token)


def _lexeme(word: str, language: Language) -> str:
    return "" if word in _STOP[language] else _stem(word, language)


def _stem(word: str, language: Language) -> str:
    if language == "simple" or not word.isalpha():
        return word
    return str(_cached_stem(word, language))


@functools.lru_cache(maxsize=200_000)
def _cached_stem(word: str, language: Language) -> str:
    # Stemmer objects are not safe to share between threads.
    stemmers = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language, 0)
    return str(stemmers[language].stemWord(word))
