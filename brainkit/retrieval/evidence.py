"""The numbers a gate decides by, measured on the candidates of one question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import uuid

    from brainkit.retrieval.recall import RecalledChunk


@dataclass(frozen=True)
class Evidence:
    """What the notes offer for a question; every value is finite and higher means more.

    Attributes:
        best_cosine: highest cosine of any candidate, -1..1; -1 if none has a vector.
        margin: how far the best document's cosine is above the second document's, 0..2; 0 with fewer than two.
        best_lexical: highest BM25 as a share of what the question could reach, 0..1.
        best_score: highest ``alpha x cosine + (1 - alpha) x lexical share`` of any candidate (alpha 0.5), -0.5..1:
            the absolute convex score, which compares between questions.
        coverage: idf-weighted share of the question's terms that one document's found chunks hold, 0..1.
        chunk_coverage: the same for one chunk, 0..1.
        agreement: 1 if both channels rank the same document first, else 0.
        lexical_hits: number of candidates that hold a term of the question.
        terms: number of terms in the question after stop words.
        unknown_terms: how many of them no chunk holds as they are written.
        lead: the best document's share among the five best, by their absolute scores, 0..1: 1 if no other comes near.
        passage_cosine: of this and the next three see ``LateEvidence``; 0 for an embedder without token vectors.
        passage_match: how well the words of the question are matched close together, -1..1.
        word_match: how well they are matched anywhere in the better of the first chunks, -1..1.
        name_match: how well the names among them are, -1..1.
    """

    best_cosine: float = -1.0
    margin: float = 0.0
    best_lexical: float = 0.0
    best_score: float = -0.5
    coverage: float = 0.0
    chunk_coverage: float = 0.0
    agreement: float = 0.0
    lexical_hits: int = 0
    terms: int = 0
    unknown_terms: int = 0
    lead: float = 0.0
    passage_cosine: float = 0.0
    passage_match: float = 0.0
    word_match: float = 0.0
    name_match: float = 0.0


ALPHA: Final = 0.5
"""Share of the cosine in ``Evidence.best_score``; fixed, so that it means the same under every retrieval string."""
TEMPERATURE: Final = 0.05
"""Of ``lead``: how far apart two absolute scores are a clear difference."""
LED: Final = 5
"""Documents ``lead`` compares."""


def absolute_score(cosine: float | None, lexical_share: float, alpha: float = ALPHA) -> float:
    """Convex combination of two absolute scores (Bruch et al. 2022, without the pool's minimum); no cosine counts 0."""
    return alpha * (cosine or 0.0) + (1 - alpha) * lexical_share


def lead(scores: Sequence[float], temperature: float = TEMPERATURE, count: int = LED) -> float:
    """The best document's share of the softmax over the best ``count``, 0..1; 1 for a single one, 0 for none.

    A query performance predictor, akin to NQC (Shtok et al. 2012, doi:10.1145/2180868.2180873): a note that answers
    stands out from those that are merely about the same thing. Bounded, unlike a margin.

    Example:
        >>> lead([0.5, 0.5]), lead([0.9, 0.1]) > 0.99, lead([])
        (0.5, True, 0.0)
    """
    best = np.sort(np.asarray(scores, np.float64))[::-1][:count]
    return float(1 / np.exp((best - best[0]) / temperature).sum()) if best.size else 0.0


def measure(chunks: Sequence[RecalledChunk], idf: Mapping[int, float], unknown: int) -> Evidence:
    """Evidence of a question's candidates, without that from token vectors.

    Args:
        chunks: all fused candidates, in any order.
        idf: inverse document frequency of each of the question's terms, by its number.
        unknown: how many of the terms no chunk holds.
    """
    if not chunks:
        return Evidence(terms=len(idf), unknown_terms=unknown)
    mass = sum(idf.values())
    cosines: defaultdict[uuid.UUID, float] = defaultdict(lambda: -1.0)
    scores: defaultdict[uuid.UUID, float] = defaultdict(lambda: -1.0)
    held: defaultdict[uuid.UUID, set[int]] = defaultdict(set)
    for chunk in chunks:
        if chunk.cosine is not None:
            cosines[chunk.document_id] = max(cosines[chunk.document_id], chunk.cosine)
        score = absolute_score(chunk.cosine, chunk.lexical_share)
        scores[chunk.document_id] = max(scores[chunk.document_id], score)
        held[chunk.document_id] |= chunk.matched
    ranked = sorted(cosines.values(), reverse=True)

    def share(terms: frozenset[int] | set[int]) -> float:
        return sum(idf[term] for term in terms) / mass if mass else 0.0

    dense_top = {chunk.document_id for chunk in chunks if chunk.dense_rank == 1}
    lexical_top = {chunk.document_id for chunk in chunks if chunk.lexical_rank == 1}
    return Evidence(
        best_cosine=ranked[0] if ranked else -1.0,
        margin=ranked[0] - ranked[1] if len(ranked) > 1 else 0.0,
        best_lexical=max(chunk.lexical_share for chunk in chunks),
        best_score=max(scores.values()),
        coverage=max(share(terms) for terms in held.values()),
        chunk_coverage=max(share(chunk.matched) for chunk in chunks),
        agreement=float(bool(dense_top & lexical_top)),
        lexical_hits=sum(bool(chunk.matched) for chunk in chunks),
        terms=len(idf),
        unknown_terms=unknown,
        lead=lead(list(scores.values())),
    )
