"""What more labels would buy, by the exact rule, if they fare like those there are: an expectation, never a promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from brainkit.gate.calibration import allowed_false_answers, labels_needed

GROWTH: Final = (2, 4)
_FARTHEST: Final = 500
"""False answers up to which it is looked how many labels would tolerate them: some 5,000 labels at alpha = .1."""


class Outlook(NamedTuple):
    """With ``more`` further unanswerable labels the share ``answered`` (0..1) of answerable questions is expected."""

    more: int
    answered: float


def labels_to_cover(answered: int, n: int, alpha: float, delta: float) -> int:
    """How many more labels are expected to certify a kind of question at a threshold that stays where it is.

    Args:
        answered: its false answers so far; further ones are expected at the same rate.
        n: its labels so far.
        alpha: highest share of false answers, 0..1.
        delta: probability of a wrong promise, 0..1.

    Returns:
        The number; 0 if it is certified already, or if no number is in reach, as its rate is near alpha or above.

    Example:
        >>> labels_to_cover(0, 10, 0.1, 0.1), labels_to_cover(1, 30, 0.1, 0.1), labels_to_cover(8, 20, 0.1, 0.1)
        (12, 22, 0)
    """
    if answered <= allowed_false_answers(n, alpha, delta) or (n and answered / n >= alpha):
        return 0
    for tolerated in range(answered, answered + _FARTHEST):
        labels = labels_needed(alpha, delta, tolerated)
        if answered * labels <= tolerated * n or not n:
            return labels - n
    return 0


def outlooks(
    strata: Sequence[Sequence[float]], answerable: Sequence[float], alpha: float, delta: float
) -> tuple[Outlook, ...]:
    """What certified thresholds are expected to answer with twice and four times the labels, or with just enough.

    Of N labels the rule tolerates K; the (K+1)-th highest of N scores lies, on average, where the share
    (K + 1) / (N + 1) is above it (order statistics of any continuous distribution). That point is looked up among the
    scores there are, rounded to the stricter side.

    Args:
        strata: scores of unanswerable questions by kind; the strictest kind sets the threshold.
        answerable: scores of answerable questions.
        alpha: highest share of false answers, 0..1.
        delta: probability of a wrong promise, 0..1.

    Returns:
        By number of labels; nothing without questions of both sorts.
    """
    if not answerable or not all(strata) or not strata:
        return ()
    needed = labels_needed(alpha, delta)
    enough = [max(len(scores), needed) for scores in strata]
    missing = sum(enough) - sum(map(len, strata))
    found = [Outlook(missing, _answered(strata, enough, answerable, alpha, delta))] if missing else []
    for factor in GROWTH:
        sizes = [factor * size for size in enough]
        more = sum(sizes) - sum(map(len, strata))
        found.append(Outlook(more, _answered(strata, sizes, answerable, alpha, delta)))
    return tuple(found)


def _answered(
    strata: Sequence[Sequence[float]], sizes: Sequence[int], answerable: Sequence[float], alpha: float, delta: float
) -> float:
    def threshold(scores: Sequence[float], size: int) -> float:
        tail = (allowed_false_answers(size, alpha, delta) + 1) / (size + 1)
        rank = max(1, int(tail * (len(scores) + 1) + 1e-9))
        return sorted(scores, reverse=True)[rank - 1]

    highest = max(threshold(scores, size) for scores, size in zip(strata, sizes, strict=True))
    return sum(score > highest for score in answerable) / len(answerable)
