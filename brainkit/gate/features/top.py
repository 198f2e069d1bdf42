"""Mean of the best few scores: one chunk that fits by chance counts less than several that fit."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean


def mean_of_top(scores: Sequence[float], count: int = 5) -> float:
    """Mean of the ``count`` highest scores, or of all there are; 0 for none.

    Example:
        >>> mean_of_top([0.25, 0.75, 0.5], count=2), mean_of_top([])
        (0.625, 0.0)
    """
    return fmean(sorted(scores, reverse=True)[:count]) if scores else 0.0
