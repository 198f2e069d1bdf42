"""How good a gate's scores and decisions are: risk against coverage, no-answer F1, truthfulness, calibration.

A question is answered rightly if the notes hold its answer and a relevant document is among those given; what the text
then says is the judge's business, not that of these figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainkit.errors import UsageError
from brainkit.eval.stats import auroc
from brainkit.gate import Count, Interval

Floats = NDArray[np.float64]
BINS = 10
"""Of a reliability diagram, of equal width."""


class Figure(NamedTuple):
    """A figure with the percentile bootstrap interval over the questions; both None where there is nothing to tell."""

    value: float | None
    interval: Interval | None


class Judged(NamedTuple):
    """What a gate did with one question.

    Attributes:
        answerable: whether the notes hold the answer.
        in_context: whether a relevant document is among those an answer is given.
        score: the gate's.
        answered: whether it let the question through; None where no threshold could be certified.
    """

    answerable: bool
    in_context: bool
    score: float
    answered: bool | None

    @property
    def right(self) -> bool:
        """Whether an answer is a right one."""
        return self.answerable and self.in_context


class Bin(NamedTuple):
    """A bar of a reliability diagram: ``mean`` score of its questions, and how many of them are answerable."""

    low: float
    high: float
    mean: float
    answerable: Count


def bootstrap(
    statistic: Callable[[Sequence[Judged]], float | None],
    judged: Sequence[Judged],
    *,
    confidence: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Figure:
    """A figure of the questions with its percentile bootstrap interval, questions drawn with replacement.

    Draws in which the figure does not exist, such as an AUROC without an unanswerable question, are left out; if that
    is more than every second one, there is no interval.

    Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.

    Raises:
        UsageError: ``draws`` is below 1, or ``confidence`` is not between 0 and 1.
    """
    if draws < 1 or not 0 < confidence < 1:
        raise UsageError(
            f"draws = {draws}, confidence = {confidence} is not allowed: give draws >= 1, 0 < confidence < 1"
        )
    value = statistic(judged)
    if value is None or len(judged) < 2:
        return Figure(value, None)
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(judged), (draws, len(judged))).tolist()
    values = [found for pick in picks if (found := statistic([judged[i] for i in pick])) is not None]
    if 2 * len(values) <= draws:
        return Figure(value, None)
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Figure(value, Interval(float(low), float(high)))


def risk_coverage(scores: Sequence[float], wrong: Sequence[bool]) -> Floats:
    """Selective risk [n]: the share of wrong answers among the 1, 2, ..., n questions with the highest scores.

    Among tied scores the expected number of wrong ones is taken, as if the order among them were drawn.

    Source: El-Yaniv and Wiener 2010, JMLR 11, 1605-1641.

    Raises:
        UsageError: a score is not finite, or there are not as many of both.

    Example:
        >>> risk_coverage([0.9, 0.8, 0.1], [False, True, False]).round(3).tolist()
        [0.0, 0.5, 0.333]
        >>> risk_coverage([0.9, 0.9], [False, True]).tolist()
        [0.5, 0.5]
    """
    values, errors = np.asarray(scores, np.float64), np.asarray(wrong, np.float64)
    if values.shape != errors.shape or not np.isfinite(values).all():
        raise UsageError("risk and coverage need as many finite scores as answers")
    _, group = np.unique(-values, return_inverse=True)
    share = np.bincount(group, errors) / np.bincount(group) if len(group) else errors
    order = np.sort(group)
    found: Floats = np.cumsum(share[order]) / np.arange(1, len(order) + 1)
    return found


def aurc(scores: Sequence[float], wrong: Sequence[bool]) -> float | None:
    """Area under the risk-coverage curve: mean selective risk, 0..1, lower is better; None without a question.

    Source: Geifman, Uziel and El-Yaniv 2019, Bias-Reduced Uncertainty Estimation, arXiv:1805.08206.

    Example:
        >>> round(aurc([0.9, 0.8, 0.1], [False, True, False]), 3)
        0.278
    """
    risks = risk_coverage(scores, wrong)
    return float(risks.mean()) if len(risks) else None


def excess_aurc(scores: Sequence[float], wrong: Sequence[bool]) -> float | None:
    """E-AURC: what is above the area of the best order of the same questions, 0..1; 0 if no order is better.

    The best area is counted, not approximated as in the paper by r + (1 - r) ln(1 - r) for a share r of wrong ones,
    which is its limit for many questions; so it is never negative.

    Source: as ``aurc``.

    Example:
        >>> round(excess_aurc([0.9, 0.8, 0.1], [False, True, False]), 3)  # best: 0, 0, 1/3
        0.167
    """
    area, best = aurc(scores, wrong), aurc([not bad for bad in wrong], wrong)
    return None if area is None or best is None else max(0.0, area - best)


def no_answer_f1(judged: Sequence[Judged]) -> float | None:
    """F1 of deflecting as a way to find unanswerable questions, 0..1; None without a decision or such a question.

    Its recall alone is what SQuAD 2.0 calls NoAns_f1 (Rajpurkar et al. 2018, arXiv:1806.03822); its precision falls
    with answerable questions that were deflected.
    """
    decided = [one for one in judged if one.answered is not None]
    unanswerable = sum(not one.answerable for one in decided)
    if not unanswerable:
        return None
    deflected = [one for one in decided if not one.answered]
    return 2 * sum(not one.answerable for one in deflected) / (len(deflected) + unanswerable)


class Truthfulness(NamedTuple):
    """How many replies were accurate, missing and incorrect.

    Accurate: answered with a relevant document, or deflected where the notes hold no answer. Missing: deflected though
    they hold one. Incorrect: answered without a relevant document, or where the notes hold no answer.
    """

    accurate: int
    missing: int
    incorrect: int

    @property
    def score(self) -> float | None:
        """Mean of +1, 0 and -1, so -1..1; None without a reply."""
        total = sum(self)
        return (self.accurate - self.incorrect) / total if total else None


def truthfulness(judged: Sequence[Judged]) -> Truthfulness:
    """Replies by their worth, as CRAG scores them: a wrong answer is worse than none.

    As there, where the reply to a false premise must say so, a deflection is right where nothing else would be.

    Source: Yang et al. 2024, CRAG, arXiv:2406.04744.
    """
    decided = [one for one in judged if one.answered is not None]
    accurate = sum(one.right if one.answered else not one.answerable for one in decided)
    missing = sum(one.answerable and not one.answered for one in decided)
    return Truthfulness(accurate, missing, len(decided) - accurate - missing)


def wrong_context(judged: Sequence[Judged]) -> Count:
    """Of the answerable questions that were answered, those whose answer is given no relevant document."""
    answered = [one for one in judged if one.answered and one.answerable]
    return Count(sum(not one.in_context for one in answered), len(answered))


def reliability(judged: Sequence[Judged], bins: int = BINS) -> list[Bin]:
    """Bars of the reliability diagram of scores that are probabilities; empty bins are left out.

    Source: DeGroot and Fienberg 1983, doi:10.2307/2987588; bins of equal width, the edge belongs to the upper one.

    Raises:
        UsageError: a score is not between 0 and 1, or ``bins`` is below 1.
    """
    if bins < 1 or any(not 0 <= one.score <= 1 for one in judged):
        raise UsageError("a reliability diagram needs scores from 0 to 1 and at least one bin")
    groups: list[list[Judged]] = [[] for _ in range(bins)]
    for one in judged:
        groups[min(bins - 1, int(one.score * bins))].append(one)
    return [
        Bin(
            number / bins,
            (number + 1) / bins,
            math.fsum(one.score for one in group) / len(group),
            Count(sum(one.answerable for one in group), len(group)),
        )
        for number, group in enumerate(groups)
        if group
    ]


def calibration_error(judged: Sequence[Judged]) -> float | None:
    """Expected calibration error: mean distance of score and share of answerable over the bins, 0..1; None if empty.

    Source: Naeini, Cooper and Hauskrecht 2015, AAAI, 2901-2907.
    """
    gaps = [abs(bar.mean * bar.answerable.n - bar.answerable.x) for bar in reliability(judged)]
    return math.fsum(gaps) / len(judged) if gaps else None


class GateQuality(NamedTuple):
    """All of a gate's figures.

    Attributes:
        figures: AUROC, AURC, E-AURC, no-answer F1, truthfulness, calibration error, each with its interval.
        truthfulness: the counts behind it.
        wrong_context: answered answerable questions without a relevant document.
        bins: of the reliability diagram; none for scores that are no probabilities.
    """

    figures: Mapping[str, Figure]
    truthfulness: Truthfulness
    wrong_context: Count
    bins: Sequence[Bin]


def measure(judged: Sequence[Judged], *, probability: bool) -> GateQuality:
    """All figures of a gate; ``probability`` says that its scores are to be read as such."""

    def scored(area: Callable[[Sequence[float], Sequence[bool]], float | None]) -> Figure:
        return bootstrap(lambda ones: area([one.score for one in ones], [not one.right for one in ones]), judged)

    found = {
        "AUROC": bootstrap(_auroc, judged),
        "AURC": scored(aurc),
        "E-AURC": scored(excess_aurc),
        "no-answer F1": bootstrap(no_answer_f1, judged),
        "truthfulness": bootstrap(lambda ones: truthfulness(ones).score, judged),
        "calibration error": bootstrap(calibration_error, judged) if probability else Figure(None, None),
    }
    bins = reliability(judged) if probability else []
    return GateQuality(found, truthfulness(judged), wrong_context(judged), bins)


def _auroc(judged: Sequence[Judged]) -> float | None:
    return auroc([one.score for one in judged if one.answerable], [one.score for one in judged if not one.answerable])
