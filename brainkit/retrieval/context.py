"""What of a recall goes into an answer's context: whole documents, copies of one another only once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

from brainkit.retrieval.recall import Recall, RecalledDocument

ALIKE: Final = 0.9
"""Share of common word sequences from which on two texts count as one."""
SHINGLE: Final = 5
LOOK_BEHIND: Final = 4
"""So many documents behind the last that is given are compared with it, to name its copies."""
GAP: Final = "\n\n[...]\n\n"

Item = TypeVar("Item")


class ContextDocument(NamedTuple):
    """A document that is given, and those that say the same."""

    document: RecalledDocument
    also: tuple[RecalledDocument, ...]


def context_documents(recall: Recall, docs: int) -> list[ContextDocument]:
    """The first ``docs`` documents of a recall that are not near-copies of one before, each with its near-copies."""
    return [ContextDocument(*pair) for pair in collapse(recall.documents, lambda document: document.content, docs)]


def collapse(items: Sequence[Item], text_of: Callable[[Item], str], most: int) -> list[tuple[Item, tuple[Item, ...]]]:
    """The first ``most`` items whose texts differ, each with later ones that say almost the same."""
    given: list[tuple[Item, list[Item], frozenset[int]]] = []
    for item in items[: 2 * most + LOOK_BEHIND]:
        shingles = _shingles(text_of(item))
        twin = next((others for _, others, known in given if _resemblance(shingles, known) >= ALIKE), None)
        if twin is not None:
            twin.append(item)
        elif len(given) < most:
            given.append((item, [], shingles))
    return [(item, tuple(others)) for item, others, _ in given]


def sections(pieces: Iterable[tuple[str, str]]) -> str:
    """Found sections as (heading, text) in reading order -> one text, a mark wherever something may be left out."""
    return GAP.join(f"{heading}\n{text}" if heading and heading not in text else text for heading, text in pieces)


def _shingles(text: str) -> frozenset[int]:
    words = re.findall(r"\w+", text.casefold())
    return frozenset(hash(tuple(words[start : start + SHINGLE])) for start in range(max(1, len(words) - SHINGLE + 1)))


def _resemblance(one: frozenset[int], other: frozenset[int]) -> float:
    """Jaccard index of the word sequences (Broder 1997), 0..1."""
    return len(one & other) / len(one | other)
