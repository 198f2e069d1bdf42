"""Whether people now ask other things than the certificate was made from, told by the scores of their questions.

Nobody knows how many of the live questions the notes can answer, and labels hold as many of either kind as somebody
wrote. So the live scores are compared with the *mixture* of the calibration's answerable and unanswerable scores that
comes nearest to them: what no mixture explains is drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.special import kolmogorov

LEAST: Final = 50
"""Live questions below which nothing is said."""
NEWEST: Final = 500
"""Live questions that are looked at."""
SIGNIFICANT: Final = 0.01
_MIXTURES: Final = 50


class Drift(NamedTuple):
    """Result of the test: ``n`` live questions, their distance (0..1) from the nearest mixture and its p-value (0..1).

    With fewer than ``LEAST`` questions nothing was tested, and ``p`` is 1.
    """

    n: int
    distance: float
    p: float

    @property
    def drifted(self) -> bool:
        """Whether the live scores cannot come from the questions that were calibrated with."""
        return self.p < SIGNIFICANT


def drift(live: Sequence[float], answerable: Sequence[float], unanswerable: Sequence[float]) -> Drift:
    """Two-sample Kolmogorov-Smirnov test of live scores against the nearest mixture of two calibration samples.

    The p-value is the asymptotic one (Smirnov 1948), at the mixture's effective size (Kish); as the mixture is chosen
    to lie near, it is too large if anything: drift is told late rather than wrongly. With one calibration sample it is
    ``scipy.stats.ks_2samp``.
    """
    kinds = [np.sort(np.asarray(scores, float)) for scores in (answerable, unanswerable) if len(scores)]
    n = len(live)
    if n < LEAST or not kinds:
        return Drift(n, 0.0, 1.0)
    found = np.sort(np.asarray(live, float))
    points = np.concatenate([found, *kinds])
    seen = _share(found, points)
    first, last = _share(kinds[0], points), _share(kinds[-1], points)
    best = (2.0, 0.0)
    for weight in np.linspace(0, 1, _MIXTURES + 1):
        distance = float(np.abs(seen - weight * first - (1 - weight) * last).max())
        best = min(best, (distance, float(weight)))
    distance, weight = best
    size = 1 / (weight**2 / len(kinds[0]) + (1 - weight) ** 2 / len(kinds[-1])) if len(kinds) > 1 else len(kinds[0])
    return Drift(n, distance, float(kolmogorov(distance * np.sqrt(size * n / (size + n)))))


def _share(ordered: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Which share of a sorted sample is at or below each point."""
    return np.searchsorted(ordered, points, side="right") / len(ordered)
