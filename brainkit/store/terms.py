"""Text -> the terms the lexical channel indexes and asks for: stemmed words, identifiers whole and in parts."""

from __future__ import annotations

import functools
import re
import threading
import unicodedata
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

import Stemmer

from brainkit.store.stopwords import ENGLISH, GERMAN

Language = Literal["english", "german", "simple"]
LANGUAGES: Final[tuple[Language, ...]] = ("english", "german", "simple")
TERMS_VERSION: Final = 2
"""Goes up when the same text would give other terms; documents are then indexed anew."""

_MAX_TERM = 120
_TOKEN = re.compile(r"[^\W_]+(?:[._/@:+#~-]+[^\W_]+)*")
_APOSTROPHE = re.compile(r"['\u2019](?<=\w.)(?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
_OUTER = re.compile(r"[/@:+#~]+")
_INNER = re.compile(r"[._-]+")
_NAME = re.compile(r"[._@\d]")
_SEPARATORS = re.compile(r"[._/@:+#~-]+")
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
    english = sum(map(ENGLISH.__contains__, words))
    german = sum(map(GERMAN.__contains__, words))
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
    return [lexeme for token in _tokens(text) for lexeme in _lexemes(token, language)]


def question_terms(question: str) -> list[Term]:
    """The distinct terms of a question; its own language decides which words are stop words.

    Example:
        >>> [term.english for term in question_terms("Where are the backups of 10.0.0.7?")]
        ['backup', '10.0.0.7', '10', '0', '7']
    """
    stop = _STOP[detect_language(question)]
    found: dict[tuple[str, str, str], Term] = {}
    for word in (word for token in _tokens(question) for word in _words(token)):
        if word in stop:
            continue
        term = Term(word, _stem(word, "english"), _stem(word, "german"), word)
        found.setdefault(term[1:], term)
    return list(found.values())


def _tokens(text: str) -> list[str]:
    """What stands between blanks and brackets; composed and decomposed umlauts are the same."""
    return _TOKEN.findall(_APOSTROPHE.sub("", unicodedata.normalize("NFC", text)))


@functools.lru_cache(maxsize=50_000)
def _lexemes(token: str, language: Language) -> tuple[str, ...]:
    """Lexemes of one token of a document; texts repeat their tokens, so most of them are known already."""
    return tuple(_stem(word, language) for word in _words(token) if word not in _STOP[language])


def _words(token: str) -> Iterator[str]:
    """Lower-case words of a token; a compound such as ``etc/nginx.conf`` whole, if it reads as a name, then its parts.

    Its parts are taken apart in turn: of ``http://10.0.0.7:8080/`` the address is a word too, as are its numbers.
    """
    segments = _OUTER.split(token)
    if len(segments) > 1 and _is_name(token):
        yield _folded(token)
    for segment in filter(None, (segment.strip("._-") for segment in segments)):
        parts = _INNER.split(segment)
        if len(parts) > 1 and _is_name(segment):
            yield _folded(segment)
        for part in parts:
            pieces = _CAMEL.split(part) if not part.islower() and not part.isupper() else [part]
            if len(pieces) > 1:
                yield _folded(part)
            yield from map(_folded, pieces)


def _is_name(token: str) -> bool:
    """Whether a compound means something as a whole: a file, host or number, not ``and/or`` or ``self-hosted``."""
    return bool(_NAME.search(token)) or len(_SEPARATORS.findall(token)) > 1


def _folded(word: str) -> str:
    """Without case; ``ß`` becomes ``ss``."""
    return word.casefold()[:_MAX_TERM]


def _stem(word: str, language: Language) -> str:
    if language == "simple" or not word.isalpha():
        return word
    # Stemmer objects are not safe to share between threads.
    stemmers = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language, 0)
    return str(stemmers[language].stemWord(word))
