"""Questions the notes can answer, made from headings and titles: near a question that they cannot, or to begin with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from brainkit.retrieval import Recall

WANTED: Final = 3
MOST_TRIES: Final = 12
_FORM: Final = {"english": "What do I have on {}?", "german": "Was habe ich zu {}?"}
_LONGEST: Final = 60
_LONGEST_TITLE: Final = 120
_MARKUP: Final = re.compile(r"[\W_]*+(?:\d+(?:\.\d+)*[.)]\s+)?[\W_]*+")
"""What stands before the first word of a heading: emoji, emphasis, a number."""


def suggest(recall: Recall, language: str, passes: Callable[[str], bool], fallback: Iterable[str] = ()) -> list[str]:
    """Up to three questions, each checked to pass the gate.

    Args:
        recall: the weak hits.
        language: "german" or anything else for English.
        passes: whether the gate answers a question.
        fallback: titles to fall back on when the weak hits give too few.
    """
    return _passing(_topics(recall, fallback), language, passes)


def starters(titles: Sequence[str], language: str, passes: Callable[[str], bool]) -> list[str]:
    """Up to three questions to begin with, from titles spread over the notes, each checked to pass the gate."""
    stride = max(1, len(titles) // MOST_TRIES)
    return _passing((_topic(title, "") for title in dict.fromkeys(titles[stride // 2 :: stride])), language, passes)


def _passing(topics: Iterable[str], language: str, passes: Callable[[str], bool]) -> list[str]:
    form = _FORM.get(language, _FORM["english"])
    found: list[str] = []
    tried: set[str] = set()
    for topic in topics:
        if len(found) == WANTED or len(tried) == MOST_TRIES:
            break
        if topic in tried or not topic:
            continue
        tried.add(topic)
        if passes(question := form.format(topic)):
            found.append(question)
    return found


def _topics(recall: Recall, fallback: Iterable[str]) -> Iterator[str]:
    """The nearest chunks' headings, each document once; then titles of the other weak hits; then the fallback."""
    seen: set[str] = set()
    for chunk in recall.chunks:
        if chunk.title not in seen:
            seen.add(chunk.title)
            yield _topic(chunk.title, chunk.heading.split(" > ")[-1])
    for title in (*(document.title for document in recall.documents), *fallback):
        if title not in seen:
            seen.add(title)
            yield _topic(title, "")


def _topic(title: str, heading: str) -> str:
    """``heading (title)`` without markup and numbering; the title alone where the heading adds nothing."""
    title, heading = _plain(title), _plain(heading)
    says_little = len(heading) > _LONGEST or (heading.isalnum() and heading.islower())  # such as "spec"
    if title and (not heading or says_little or heading.casefold() in title.casefold()):
        return title
    return f"{heading} ({title})" if title else heading


def _plain(text: str) -> str:
    """Without markup at both ends; nothing of what is too long to be asked for."""
    words = _MARKUP.sub("", text, count=1) if len(text) <= _LONGEST_TITLE else ""
    while words and not (words[-1].isalnum() or words[-1] in "_)"):
        words = words[:-1]
    return words
