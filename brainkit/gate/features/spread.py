"""NQC, a query performance predictor: scores of a good answer stand out from the rest, so they spread."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, pstdev


def normalised_spread(scores: Sequence[float]) -> float:
    """Standard deviation of the scores over their mean's size, at least 0; 0 for none, or where the mean is 0.

    The paper divides by the score of the whole collection, which a recall does not hold; the mean stands in for it.

    Source: Shtok et al. 2012, doi:10.1145/2180868.2180873.

    Example:
        >>> normalised_spread([0.25, 0.75]), normalised_spread([0.5, 0.5]), normalised_spread([])
        (0.5, 0.0, 0.0)
    """
    mean = abs(fmean(scores)) if scores else 0.0
    return pstdev(scores) / mean if mean else 0.0
