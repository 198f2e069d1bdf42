"""The extractive answerer: what comes nearest to the question in the given documents, quoted as it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from brainkit.answering.sentences import MAX_PIECE, Piece, pieces
from brainkit.retrieval import RecalledChunk, RecalledDocument
from brainkit.store import document_terms, question_terms

MOST_QUOTED: Final = MAX_PIECE
"""Characters quoted at most, leads included; so any piece fits by itself."""
_CONSIDERED: Final = 2000
"""Pieces whose words are compared; of longer documents those that retrieval found come first."""
_SHORTLIST: Final = 32
"""Pieces whose meaning is compared."""
_WORDS: Final = 0.5
_WORTH: Final = 0.75
"""Share of the best piece's score that another one needs to be quoted with it."""

Similarity = Callable[[str, Sequence[str]], np.ndarray]
"""Cosines of one question with n texts: array [n], or NaN where there is none."""


class Quote(NamedTuple):
    """A passage as it stands in a document.

    Attributes:
        text: the passage.
        source: of the document.
        path: of the document.
        heading: nearest heading above it ("" if none).
        lead: the line a reader needs with it, such as the head of its table ("" if none).
        score: how near it comes to the question; compares within one answer.
    """

    text: str
    source: str
    path: str
    heading: str
    lead: str
    score: float


class _Candidate(NamedTuple):
    document: RecalledDocument
    place: tuple[int, int]
    piece: Piece

    @property
    def context(self) -> str:
        """The piece with what it stands below."""
        return ": ".join(part for part in (self.piece.heading, self.piece.lead, self.piece.text) if part)


def extract(
    question: str,
    documents: Sequence[RecalledDocument],
    chunks: Sequence[RecalledChunk],
    weights: Mapping[str, float],
    similarity: Similarity | None = None,
    *,
    most: int = MOST_QUOTED,
) -> list[Quote]:
    """The best passages, in reading order of the documents, at most ``most`` characters in all.

    Args:
        question: what was asked.
        documents: whole documents to quote from, best first.
        chunks: what retrieval found; pieces inside a found chunk come before others.
        weights: idf of the question's words, by word.
        similarity: cosine of question and pieces; word overlap alone without it.
        most: characters quoted at most.
    """
    found = {document.id: " ".join(c.text for c in chunks if c.document_id == document.id) for document in documents}
    first = chunks[0].text if chunks else ""
    candidates = [
        _Candidate(document, (number, place), piece)
        for number, document in enumerate(documents)
        for place, piece in enumerate(pieces(document.content, prose=_is_prose(document.path)))
    ]
    near = np.array([_nearness(c.piece, found[c.document.id], first) for c in candidates])
    chosen = np.argsort(-near, kind="stable")[:_CONSIDERED]
    candidates, score = [candidates[i] for i in chosen], near[chosen]
    score += _WORDS * np.array([_overlap(question, c.context, weights) for c in candidates])
    if similarity is not None and candidates:
        short = np.argsort(-score, kind="stable")[:_SHORTLIST]
        score[short] += (1 - _WORDS) * np.nan_to_num(similarity(question, [candidates[i].context for i in short]))
    return _choose([(float(value), candidate) for value, candidate in zip(score, candidates, strict=True)], most)


def _choose(scored: list[tuple[float, _Candidate]], most: int) -> list[Quote]:
    """Greedy: best first while they fit, none twice, none far below the best; then in reading order."""
    scored.sort(key=lambda row: (-row[0], row[1].place))
    chosen: list[tuple[float, _Candidate]] = []
    seen: set[str] = set()
    for value, candidate in scored:
        if chosen and value < _WORTH * scored[0][0]:
            break
        key = " ".join(candidate.piece.text.casefold().split()).lstrip("-*+ ")
        longer = sorted([*chosen, (value, candidate)], key=lambda row: row[1].place)
        if key not in seen and _length([row[1] for row in longer]) <= most:
            seen.add(key)
            chosen = longer
    return [
        Quote(piece.text, document.source, document.path, piece.heading, piece.lead, value)
        for value, (document, _, piece) in chosen
    ]


def _length(candidates: Sequence[_Candidate]) -> int:
    """Characters of the pieces, and of their leads, which stand once above neighbours that share them."""
    stems = [(c.place[0], c.piece.heading, c.piece.lead) for c in candidates]
    leads = [stem[2] for i, stem in enumerate(stems) if not i or stem != stems[i - 1]]
    return sum(len(c.piece.text) for c in candidates) + sum(map(len, leads))


def _overlap(question: str, text: str, weights: Mapping[str, float]) -> float:
    """idf-weighted share of the question's terms in a text, 0..1."""
    held = {*document_terms(text, "english"), *document_terms(text, "german")}
    terms = question_terms(question)
    total = sum(weights.get(term.text, 1.0) for term in terms)
    hit = sum(weights.get(term.text, 1.0) for term in terms if {term.english, term.german, term.simple} & held)
    return hit / total if total else 0.0


def _nearness(piece: Piece, found: str, first: str) -> float:
    """A small lead for what stands in a found chunk, a greater one in the best chunk."""
    return 0.1 * (piece.text in first) + 0.1 * (piece.text in found)


def _is_prose(path: str) -> bool:
    return path.lower().endswith((".md", ".markdown", ".txt"))
