"""Questions the notes can answer, made from titles and headings near a question that they cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from brainkit.retrieval import Recall

WANTED: Final = 3
MOST_TRIES: Final = 10


def suggest(recall: Recall, language: str, passes: Callable[[str], bool], fallback: Iterable[str] = ()) -> list[str]:
    """Up to three questions, each checked to pass the gate.

    Args:
        recall: the weak hits.
        language: "german" or anything else for English.
        passes: whether the gate answers a question.
        fallback: titles to fall back on when the weak hits give too few.
    """
    found: list[str] = []
    for number, topic in enumerate(_topics(recall, fallback)):
        if len(found) == WANTED or number == MOST_TRIES:
            break
        question = (
            f"Was steht in den Notizen über {topic}?"
            if language == "german"
            else f"What do the notes say about {topic}?"
        )
        if passes(question):
            found.append(question)
    return found


def _topics(recall: Recall, fallback: Iterable[str]) -> Iterable[str]:
    """Titles, and title with heading, of the nearest chunks, each document once; then the fallback."""
    seen: set[str] = set()
    for chunk in recall.chunks:
        heading = chunk.heading.split(" > ")[-1].strip("# `*")
        topic = chunk.title if not heading or heading.lower() in chunk.title.lower() else f"{chunk.title}: {heading}"
        if chunk.title and chunk.title not in seen:
            seen.add(chunk.title)
            yield topic
    for title in fallback:
        if title not in seen:
            seen.add(title)
            yield title
