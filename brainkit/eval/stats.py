"""Whether a difference is more than chance, how sure a mean is, and what a sample this small could not have shown.

Where a sample is too small to tell, the answer is None, never NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from brainkit.errors import UsageError
from brainkit.gate.calibration import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

EXACT_UP_TO = 14
"""Up to so many differences all 2**n sign patterns are counted; above, a random sample of them."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Outcome of a paired test: ``p`` two-sided, ``mean`` of the ``n`` differences, ``changed`` of them not zero.

    ``exact`` says that all sign patterns were counted.
    """

    p: float
    mean: float
    n: int
    changed: int
    exact: bool

    @property
    def identical(self) -> bool:
        """Whether no question changed at all."""
        return self.changed == 0


def sign_flip_test(differences: Sequence[float], *, draws: int = 10_000, seed: int = 0) -> PairedTest:
    """Two-sided randomisation test of the mean of paired differences, by flipping their signs.

    Exact for up to 14 differences that are not zero, else p = (1 + x) / (1 + ``draws``), with x of the random patterns
    at least as extreme. No difference at all, or none that is not zero, gives p = 1.

    Source: Fisher's randomisation test as in Smucker, Allan and Carterette 2007, doi:10.1145/1321440.1321528; the
    added 1: Phipson and Smyth 2010, doi:10.2202/1544-6115.1585.

    Raises:
        UsageError: a difference is not finite, or ``draws`` is below 1.

    Example:
        >>> sign_flip_test([0.1, 0.2, 0.3, 0.0]).p
        0.25
    """
    values = _finite(differences, "difference")
    if draws < 1:
        raise UsageError(f"draws = {draws} is not allowed: give 1 or more")
    nonzero = values[values != 0]
    size = len(nonzero)
    mean = float(values.mean()) if len(values) else 0.0
    exact = size <= EXACT_UP_TO
    if size == 0:
        return PairedTest(1.0, mean, len(values), 0, exact=True)
    # Sums that are equal on paper differ in the last digits by the order of adding: they count as equal.
    reached = abs(nonzero.sum()) - 1e-12 * np.abs(nonzero).sum()
    if exact:
        patterns = np.arange(2**size)[:, None] >> np.arange(size) & 1
        p = float(np.mean(np.abs((2 * patterns - 1) @ nonzero) >= reached))
    else:
        rng = np.random.default_rng(seed)
        extreme = 0
        for start in range(0, draws, 1000):  # in portions, so that memory does not grow with draws
            signs = rng.integers(0, 2, (min(1000, draws - start), size)) * 2 - 1
            extreme += int(np.sum(np.abs(signs @ nonzero) >= reached))
        p = (1 + extreme) / (1 + draws)
    return PairedTest(p, mean, len(values), size, exact)


def bootstrap_interval(
    values: Sequence[float], *, confidence: float = 0.95, draws: int = 10_000, seed: int = 0
) -> Interval | None:
    """Percentile bootstrap interval of the mean; None for fewer than two values, a point where all are equal.

    Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.

    Raises:
        UsageError: a value is not finite, ``draws`` is below 1, or ``confidence`` is not between 0 and 1.
    """
    sample = _finite(values, "value")
    if draws < 1 or not 0 < confidence < 1:
        raise UsageError(
            f"draws = {draws}, confidence = {confidence} is not allowed: give draws >= 1, 0 < confidence < 1"
        )
    if len(sample) < 2:
        return None
    if np.ptp(sample) == 0:
        return Interval(float(sample[0]), float(sample[0]))
    rng = np.random.default_rng(seed)
    means = np.concatenate(
        [
            sample[rng.integers(0, len(sample), (min(1000, draws - start), len(sample)))].mean(axis=1)
            for start in range(0, draws, 1000)
        ]
    )
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(low), float(high))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm-adjusted p-values in the order given: below .05 means significant at .05 over the whole family.

    Source: Holm 1979, Scandinavian Journal of Statistics 6, 65-70.

    Raises:
        UsageError: a p-value is not between 0 and 1.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise UsageError(f"p-value = {p} is not allowed: give numbers from 0 to 1")
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for done, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - done) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """Probability that a positive scores above a negative, a tie counting half; None if either side is empty.

    Source: Hanley and McNeil 1982, doi:10.1148/radiology.143.1.7063747.

    Raises:
        UsageError: a score is not finite.

    Example:
        >>> auroc([0.9, 0.5], [0.5, 0.1])
        0.875
    """
    above, below = _finite(positives, "score"), np.sort(_finite(negatives, "score"))
    if not len(above) or not len(below):
        return None
    wins = np.searchsorted(below, above, "left") + np.searchsorted(below, above, "right")
    return float(wins.sum() / (2 * len(above) * len(below)))


def smallest_detectable_drop(differences: Sequence[float], *, level: float = 0.05, power: float = 0.8) -> float | None:
    """The drop of the mean that a two-sided paired test at ``level`` would have found with probability ``power``.

    By the normal approximation from the spread s of the differences at hand: (z(1 - level / 2) + z(power)) s / sqrt(n).
    None if the differences do not spread, or if they are so few that no pattern of signs gets below ``level``.

    Source: Lachin 1981, Controlled Clinical Trials 2, 93-113.

    Raises:
        UsageError: a difference is not finite, or ``level`` or ``power`` is not between 0 and 1.

    Example:
        >>> round(smallest_detectable_drop([0.1, -0.1] * 50), 3)
        0.028
    """
    values = _finite(differences, "difference")
    if not (0 < level < 1 and 0 < power < 1):
        raise UsageError(f"level = {level}, power = {power} is not allowed: give numbers between 0 and 1")
    if 2.0 ** (1 - len(values)) > level or np.ptp(values) == 0:
        return None
    z = NormalDist().inv_cdf
    return float((z(1 - level / 2) + z(power)) * values.std(ddof=1) / np.sqrt(len(values)))


def _finite(values: Sequence[float], what: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    array = np.asarray(values, dtype=np.float64).reshape(-1)
    if not np.isfinite(array).all():
        raise UsageError(
            f"{what} = {array[~np.isfinite(array)][0]} is not allowed: every {what} must be a finite number"
        )
    return array
