"""Where to put the gate's threshold so that false answers stay rare, with a proof; and how often they happen elsewhere.

A question is answered when its score reaches the threshold. The proof is the exact binomial test: of n unanswerable
questions k may be answered as long as a gate with the false-answer rate alpha would do that well, by luck, at most with
probability delta. It holds for questions drawn like the n labels, and for nothing else.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scipy.special import bdtr, betaincinv

from brainkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class Interval(NamedTuple):
    """Both ends included."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold and what it promises.

    With confidence 1 - ``delta`` at most the share ``alpha`` of unanswerable questions scores ``threshold`` or more.
    ``n`` labels were used, of which the rule lets ``k`` through (fewer where scores tie). Without enough labels
    ``threshold`` is None and ``k`` is -1; ``needed`` is the number of labels from which on there is a threshold.
    """

    threshold: float | None
    n: int
    k: int
    alpha: float
    delta: float
    needed: int

    @property
    def feasible(self) -> bool:
        """Whether there is a threshold."""
        return self.threshold is not None


def allowed_false_answers(n: int, alpha: float, delta: float) -> int:
    """The largest k with P(Binomial(n, alpha) <= k) <= delta; -1 if not even 0 will do.

    Source: fixed-sequence Learn-then-Test (Angelopoulos et al. 2021, arXiv:2110.01052) with exact binomial p-values.

    Raises:
        UsageError: ``n`` is negative, or ``alpha`` or ``delta`` is not between 0 and 1.

    Example:
        >>> [allowed_false_answers(n, alpha=0.1, delta=0.1) for n in (21, 22, 38)]
        [-1, 0, 1]
    """
    _check_levels(alpha, delta)
    if n < 0:
        raise UsageError(f"number of labels = {n} is not allowed: give 0 or more")
    low, high = -1, n  # low is allowed, high is not: P(... <= n) = 1 > delta
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bdtr(middle, n, alpha) <= delta else (low, middle)
    return low


def labels_needed(alpha: float, delta: float, false_answers: int = 0) -> int:
    """The smallest number of unanswerable labels with which ``false_answers`` of them may be answered.

    Raises:
        UsageError: ``alpha`` or ``delta`` is not between 0 and 1, or ``false_answers`` is negative.

    Example:
        >>> [labels_needed(0.1, 0.1, k) for k in (0, 1, 2, 5)]
        [22, 38, 52, 91]
    """
    _check_levels(alpha, delta)
    if false_answers < 0:
        raise UsageError(f"number of false answers = {false_answers} is not allowed: give 0 or more")
    low, high = false_answers, 2 * false_answers + 2  # low is too few; high is doubled until it is enough
    while bdtr(false_answers, high, alpha) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bdtr(false_answers, middle, alpha) <= delta else (middle, high)
    return high


def exact_threshold(scores: Iterable[float], alpha: float, delta: float) -> Calibration:
    """The lowest threshold that is certified by the scores of unanswerable questions; answer iff score >= threshold.

    Where scores tie at the (k+1)-th largest, none of the tied ones passes.

    Raises:
        UsageError: a score is not finite, or ``alpha`` or ``delta`` is not between 0 and 1.

    Example:
        >>> calibration = exact_threshold([i / 100 for i in range(38)], alpha=0.1, delta=0.1)
        >>> calibration.k, round(calibration.threshold, 6)
        (1, 0.36)
    """
    ordered = sorted((_finite(score) for score in scores), reverse=True)
    n = len(ordered)
    k = allowed_false_answers(n, alpha, delta)
    threshold = math.nextafter(ordered[k], math.inf) if k >= 0 else None
    return Calibration(threshold, n, k, alpha, delta, labels_needed(alpha, delta))


def joint_threshold(strata: Iterable[Iterable[float]], alpha: float, delta: float) -> Calibration:
    """The lowest threshold that holds for every one of several kinds of unanswerable question at once.

    With confidence 1 - ``delta`` *none* of the kinds has more than the share ``alpha`` of false answers. It is the
    highest of the kinds' own thresholds, each at the whole ``delta``: nothing is divided among them. For let t_s be the
    threshold below which kind s breaks its promise, and m the kind with the highest of these. If any kind is broken,
    the threshold lies below t_m, then so does m's own, which is never above it; and that happens at most with
    probability ``delta``. (An intersection-union test, Berger 1982, doi:10.1080/00401706.1982.10487790, walked down the
    thresholds in a fixed sequence.)

    Returns:
        The calibration of the kind that sets the threshold; infeasible, with the fewest labels, if one has too few.

    Example:
        >>> joint_threshold([[i / 100 for i in range(38)], [0.2] * 22], alpha=0.1, delta=0.1).n
        38
    """
    found = [exact_threshold(scores, alpha, delta) for scores in strata] or [exact_threshold((), alpha, delta)]
    return max(found, key=lambda one: (not one.feasible, -one.n if one.threshold is None else one.threshold))


def clopper_pearson(x: int, n: int, confidence: float = 0.95) -> Interval:
    """Exact interval of a share of which ``x`` out of ``n`` were seen; (0, 1) for n = 0.

    Source: Clopper and Pearson 1934, doi:10.1093/biomet/26.4.404.

    Raises:
        UsageError: not 0 <= ``x`` <= ``n``, or ``confidence`` is not between 0 and 1.

    Example:
        >>> low, high = clopper_pearson(0, 22)
        >>> low, round(high, 3)
        (0.0, 0.154)
    """
    if not 0 <= x <= n:
        raise UsageError(f"{x} of {n} is not allowed: give a count between 0 and the total")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence = {confidence} is not allowed: give a number between 0 and 1, such as 0.95")
    tail = (1 - confidence) / 2
    low = 0.0 if x == 0 else float(betaincinv(x, n - x + 1, tail))
    high = 1.0 if x == n else float(betaincinv(x + 1, n - x, 1 - tail))
    return Interval(low, high)


class Scored(NamedTuple):
    """The gate's score of one question.

    ``question`` is the label's id: whatever shares it (the question and its form with the documents hidden) stays in
    one half. ``stratum`` is '' for an answerable question.
    """

    question: str
    score: float
    stratum: str = ""


class Count(NamedTuple):
    """``x`` of ``n`` questions were answered."""

    x: int
    n: int

    @property
    def rate(self) -> float | None:
        """Share from 0 to 1; None if there was no question."""
        return self.x / self.n if self.n else None

    @property
    def interval(self) -> Interval:
        """95 % Clopper-Pearson interval of the share."""
        return clopper_pearson(self.x, self.n)


@dataclass(frozen=True, slots=True)
class CrossFit:
    """What certified thresholds do on questions that did not set them.

    ``calibrations`` belong to the first and the second half; each judged the other half. A half without a threshold
    judges nothing: the questions it should have judged are in no count, and ``feasible`` is False. ``strata`` maps each
    stratum to its false answers, sorted by name.
    """

    calibrations: tuple[Calibration, Calibration]
    answered: Count
    false_answers: Count
    strata: dict[str, Count]

    @property
    def feasible(self) -> bool:
        """Whether both halves gave a threshold."""
        return all(calibration.feasible for calibration in self.calibrations)


def cross_fit(
    unanswerable: Sequence[Scored],
    answerable: Sequence[Scored],
    *,
    alpha: float,
    delta: float,
    seed: int = 0,
    refit: Callable[[frozenset[str]], Mapping[str, float]] | None = None,
) -> CrossFit:
    """Threshold from one half of the unanswerable questions, rates on the other half, and the same swapped.

    The halves are drawn per stratum; one seed gives one split, in whatever order the questions come. Every question is
    counted once, by the threshold of the half it is not in.

    Args:
        unanswerable: scores of questions that must not be answered.
        answerable: scores of questions that should be.
        alpha: highest share of false answers, 0..1.
        delta: probability that a threshold breaks it, 0..1.
        seed: of the split.
        refit: for a gate that is itself fitted: given the questions of one half, the score of every question by a gate
            fitted on nothing else; it must not fit on the unanswerable ones, which set the threshold.

    Raises:
        UsageError: a score is not finite, or ``alpha`` or ``delta`` is not between 0 and 1.
    """
    half_of = _halves([*unanswerable, *answerable], seed)
    refitted = [refit(frozenset(q for q, half in half_of.items() if half == h)) if refit else {} for h in (0, 1)]

    def score(scored: Scored, half: int) -> float:
        return _finite(refitted[half].get(scored.question, scored.score))

    calibrations = tuple(
        exact_threshold((score(s, half) for s in unanswerable if half_of[s.question] == half), alpha, delta)
        for half in (0, 1)
    )

    def count(scored: Iterable[Scored]) -> Count:
        judged = [
            score(s, half) >= threshold
            for s in scored
            if (threshold := calibrations[half := 1 - half_of[s.question]].threshold) is not None
        ]
        return Count(sum(judged), len(judged))

    strata = sorted({s.stratum for s in unanswerable})
    return CrossFit(
        (calibrations[0], calibrations[1]),
        answered=count(answerable),
        false_answers=count(unanswerable),
        strata={stratum: count(s for s in unanswerable if s.stratum == stratum) for stratum in strata},
    )


def _halves(scored: Sequence[Scored], seed: int) -> dict[str, int]:
    """Half (0 or 1) of each question; every stratum is dealt out in turn, so halves differ by one question at most."""
    # '' sorts first and is overwritten: a question in both forms is dealt out with those that set the threshold.
    stratum_of = {s.question: s.stratum for s in sorted(scored, key=lambda s: s.stratum)}
    shuffled = sorted(stratum_of)
    random.Random(seed).shuffle(shuffled)  # noqa: S311  a split has to repeat, not to be secret
    dealt = sorted(shuffled, key=lambda question: stratum_of[question])
    return {question: place % 2 for place, question in enumerate(dealt)}


def _check_levels(alpha: float, delta: float) -> None:
    for name, value in (("alpha", alpha), ("delta", delta)):
        if not 0 < value < 1:
            raise UsageError(f"{name} = {value} is not allowed: give a number between 0 and 1, such as 0.1")


def _finite(score: float) -> float:
    if not math.isfinite(score):
        raise UsageError(f"score = {score} is not allowed: every score must be a finite number")
    return float(score)
