"""What is offered for labelling: questions that were asked, and documents that several retrieval settings find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from brainkit.brain import Brain
from brainkit.retrieval import RecalledDocument
from brainkit.store import Database

RETRIEVALS: Mapping[str, str] = {
    "meaning": "dense(30)",
    "words": "lexical(30)",
    "both": "hybrid(dense=30,lexical=30,fusion=convex,alpha=0.5,docs=2)",
}
"""Settings unlike each other: a document that only one of them finds is judged too."""
DEPTH = 5


class Candidate(NamedTuple):
    """A document to judge.

    Attributes:
        name: as a label names it: its path, or ``source:path`` where sources share that path.
        title: of the document.
        passage: text of its best chunk.
        found: rank from 1 under each setting that found it among its first ``DEPTH``.
    """

    name: str
    title: str
    passage: str
    found: Mapping[str, int]


def logged_questions(brain: Brain, limit: int = 500) -> list[str]:
    """Questions from the log, scrubbed, each once, the newest first."""
    query = "select question from query_log group by question order by max(id) desc limit %s"
    with Database(brain.settings) as database, database.connection() as connection:
        return [row[0] for row in connection.execute(query, (limit,))]


def pool(
    brain: Brain, question: str, retrievals: Mapping[str, str] = RETRIEVALS, depth: int = DEPTH
) -> list[Candidate]:
    """The first documents of every setting, those ranked high by many first.

    The order is that of reciprocal ranks, summed; the labeller does not show them, so that they do not sway the judge.

    Source: pooling as in TREC (Spärck Jones and van Rijsbergen 1975).
    """
    names = brain.document_names()
    documents: dict[str, RecalledDocument] = {}
    passages: dict[str, str] = {}
    ranks: dict[str, dict[str, int]] = {}
    for setting, retrieval in retrievals.items():
        recall = brain.recall(question, k=30, retrieval=retrieval)
        for rank, document in enumerate(recall.documents[:depth], 1):
            name = document.path if len(names.get(document.path, ())) == 1 else f"{document.source}:{document.path}"
            documents.setdefault(name, document)
            ranks.setdefault(name, {})[setting] = rank
            best = next((chunk.text for chunk in recall.chunks if chunk.document_id == document.id), "")
            passages[name] = passages.get(name) or best
    ordered = sorted(ranks, key=lambda name: (-sum(1 / rank for rank in ranks[name].values()), name))
    return [Candidate(name, documents[name].title, passages[name], ranks[name]) for name in ordered]


def unlabelled(questions: Sequence[str], labelled: Sequence[str]) -> list[str]:
    """Questions that have no label yet, each once; white space and case make no difference."""
    seen = {_folded(question) for question in labelled}
    found = []
    for question in questions:
        if (folded := _folded(question)) and folded not in seen:
            seen.add(folded)
            found.append(question.strip())
    return found


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
