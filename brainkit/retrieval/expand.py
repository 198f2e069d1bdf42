"""Adds the documents that the found ones are linked with, below them: each step of a link halves the score."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final
from uuid import UUID

from brainkit.retrieval.recall import RecalledDocument

DECAY: Final = 0.5
MOST: Final = 20
"""Documents that links may add."""
Linked = Callable[[Sequence[UUID], Collection[UUID]], list[tuple[UUID, str, str, str, UUID, float]]]
"""Documents linked with some and not among others: id, source, path, title, which one it is linked with, weight."""


def expanded(
    documents: list[RecalledDocument], linked: Linked, steps: int, exclude: Collection[UUID] = ()
) -> list[RecalledDocument]:
    """The documents, then up to ``MOST`` that ``steps`` links lead to, best first, none scored above those found.

    Args:
        documents: what was found, best first.
        linked: gives what is linked with the first of them.
        steps: links to follow, at least 1.
        exclude: ids that are never added.
    """
    if not documents:
        return documents
    lowest = documents[-1].score
    added: dict[UUID, RecalledDocument] = {}
    seeds = documents
    for _ in range(steps):
        known = {document.id for document in documents} | set(added) | set(exclude)
        scores = {document.id: document.score for document in seeds}
        new: dict[UUID, RecalledDocument] = {}
        for key, source, path, title, seed, weight in linked(list(scores), known):
            score = min(lowest, DECAY * weight * max(scores[seed], 0.0))
            if key not in new or score > new[key].score:
                new[key] = RecalledDocument(key, source, path, title, score, documents[0].load, "linked")
        added |= new
        seeds = sorted(new.values(), key=lambda document: -document.score)
        if not seeds:
            break
    return documents + sorted(added.values(), key=lambda document: -document.score)[:MOST]
