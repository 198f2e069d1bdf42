"""SMV, a query performance predictor: how high the scores are and how they differ, in one number."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from statistics import fmean


def score_magnitude_and_variance(scores: Sequence[float]) -> float:
    """Mean of score times |ln(score / mean)| over the positive scores, at least 0; 0 for none.

    The paper divides by the score of the whole collection, which a recall does not hold; absolute scores compare
    between questions without it.

    Source: Tao and Wu 2014, doi:10.1145/2661829.2661906.

    Example:
        >>> round(score_magnitude_and_variance([0.9, 0.3]), 4)  # mean .6: (.9 ln 1.5 + .3 ln 2) / 2
        0.2864
        >>> score_magnitude_and_variance([0.5, 0.5]), score_magnitude_and_variance([])
        (0.0, 0.0)
    """
    positive = [score for score in scores if score > 0]
    mean = fmean(positive) if positive else 1.0
    return fmean(score * abs(log(score / mean)) for score in positive) if positive else 0.0
