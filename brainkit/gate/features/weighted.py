"""WIG, a query performance predictor: how far the best scores are above the rest, less for longer questions."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean


def weighted_gain(scores: Sequence[float], terms: int, count: int = 5) -> float:
    """Mean of the ``count`` best scores less the mean of all, over the root of the number of terms; 0 for none.

    The paper subtracts the score of the whole collection, which a recall does not hold; the mean stands in for it.

    Source: Zhou and Croft 2007, doi:10.1145/1277741.1277835.

    Args:
        scores: of the chunks.
        terms: of the question; none counts as one.
        count: of the best.

    Example:
        >>> weighted_gain([1.0, 0.5, 0.0, 0.5], terms=4, count=1)
        0.25
    """
    best = sorted(scores, reverse=True)[:count]
    return (fmean(best) - fmean(scores)) / sqrt(max(1, terms)) if scores else 0.0
