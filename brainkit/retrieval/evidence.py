"""The numbers a gate decides by, measured on the candidates of one question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
        late: highest late interaction of any chunk, about -1..1; 0 where the retrieval string has no ``maxsim``.
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
    late: float = 0.0


ALPHA = 0.5
"""Share of the cosine in ``Evidence.best_score``; fixed, so that it means the same under every retrieval string."""


def absolute_score(cosine: float | None, lexical_share: float, alpha: float = ALPHA) -> float:
    """Convex combination of two absolute scores (Bruch et al. 2022, without the pool's minimum); no cosine counts 0."""
    return alpha * (cosine or 0.0) + (1 - alpha) * lexical_share


def measure(chunks: Sequence[RecalledChunk], idf: Mapping[int, float], unknown: int) -> Evidence:
    """Evidence of a question's candidates.

    Args:
        chunks: all fused candidates, in any order.
        idf: inverse document frequency of each of the question's terms, by its number.
        unknown: how many of the terms no chunk holds.
    """
    if not chunks:
        return Evidence(terms=len(idf), unknown_terms=unknown)
    mass = sum(idf.values())
    cosines: defaultdict[uuid.UUID, float] = defaultdict(lambda: -1.0)
    held: defaultdict[uuid.UUID, set[int]] = defaultdict(set)
    for chunk in chunks:
        if chunk.cosine is not None:
            cosines[chunk.document_id] = max(cosines[chunk.document_id], chunk.cosine)
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
        best_score=max(absolute_score(chunk.cosine, chunk.lexical_share) for chunk in chunks),
        coverage=max(share(terms) for terms in held.values()),
        chunk_coverage=max(share(chunk.matched) for chunk in chunks),
        agreement=float(bool(dense_top & lexical_top)),
        lexical_hits=sum(bool(chunk.matched) for chunk in chunks),
        terms=len(idf),
        unknown_terms=unknown,
        late=max((chunk.late for chunk in chunks if chunk.late is not None), default=0.0),
    )
