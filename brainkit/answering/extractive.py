"""The extractive answerer: the sentences of the given documents that come nearest to the question, quoted as they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from brainkit.answering.sentences import Piece, pieces
from brainkit.retrieval import RecalledChunk, RecalledDocument
from brainkit.store import document_terms, question_terms

MOST_QUOTED: Final = 600
"""Characters quoted at most."""
_SHORTLIST: Final = 40
_WORDS: Final = 0.5

Similarity = Callable[[str, Sequence[str]], np.ndarray]
"""Cosines of one question with n texts: array [n], or NaN where there is none."""


class Quote(NamedTuple):
    """A passage as it stands in a document, with its score and place."""

    text: str
    path: str
    heading: str
    score: float
    order: tuple[int, int]


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
    candidates = [
        (number, place, document, piece)
        for number, document in enumerate(documents)
        for place, piece in enumerate(pieces(document.content, _format(document.path)))
    ]
    if not candidates:
        return []
    found = {document.id: " ".join(c.text for c in chunks if c.document_id == document.id) for document in documents}
    first = chunks[0].text if chunks else ""
    overlap = np.array([_overlap(question, piece, weights) for *_, piece in candidates])
    near = np.array([_nearness(piece, found[document.id], first) for _, _, document, piece in candidates])
    score = _WORDS * overlap + near
    if similarity is not None:
        short = np.argsort(-score, kind="stable")[:_SHORTLIST]
        cosines = np.nan_to_num(similarity(question, [_context(candidates[i][3]) for i in short]))
        score[short] += (1 - _WORDS) * cosines
    return _choose([(float(score[i]), *candidates[i]) for i in range(len(candidates))], most)


def _choose(scored: list[tuple[float, int, int, RecalledDocument, Piece]], most: int) -> list[Quote]:
    """Greedy: best first while they fit, none twice, none far below the best; then in reading order."""
    scored.sort(key=lambda row: (-row[0], row[1], row[2]))
    chosen: list[Quote] = []
    used, seen, best = 0, set[str](), scored[0][0]
    for value, number, place, document, piece in scored:
        key = " ".join(piece.text.lower().split())
        if key in seen or used + len(piece.text) > most or (chosen and value < 0.5 * best):
            continue
        seen.add(key)
        used += len(piece.text)
        chosen.append(Quote(piece.text, document.path, piece.heading, value, (number, place)))
    return sorted(chosen, key=lambda quote: quote.order)


def _overlap(question: str, piece: Piece, weights: Mapping[str, float]) -> float:
    """idf-weighted share of the question's terms in a piece and its heading, 0..1."""
    held = {*document_terms(_context(piece), "english"), *document_terms(_context(piece), "german")}
    terms = question_terms(question)
    total = sum(weights.get(term.text, 1.0) for term in terms)
    hit = sum(weights.get(term.text, 1.0) for term in terms if {term.english, term.german, term.simple} & held)
    return hit / total if total else 0.0


def _nearness(piece: Piece, found: str, first: str) -> float:
    """A small lead for what stands in a found chunk, a greater one in the best chunk."""
    return 0.15 * (piece.text in first) + 0.1 * (piece.text in found)


def _context(piece: Piece) -> str:
    return f"{piece.heading}: {piece.text}" if piece.heading else piece.text


def _format(path: str) -> str:
    return (
        "markdown"
        if path.lower().endswith((".md", ".markdown"))
        else "text"
        if path.lower().endswith(".txt")
        else "code"
    )
