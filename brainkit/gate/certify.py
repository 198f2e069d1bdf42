"""Scores of labelled questions -> a certificate."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from brainkit.gate.calibration import allowed_false_answers, clopper_pearson, exact_threshold, labels_needed
from brainkit.gate.certificate import Certificate, StratumRate
from brainkit.gate.gates import Gate
from brainkit.gate.labelled import LabelledEvidence

BASE = "missing_note"
"""The stratum the threshold is set on: its labels come for nothing, by hiding the documents of answerable questions."""


def certify(
    gate: Gate,
    labelled: Sequence[LabelledEvidence],
    *,
    alpha: float,
    delta: float,
    fingerprint: Mapping[str, str],
) -> Certificate:
    """Set the threshold on the missing notes and test every other stratum at it.

    A stratum is covered when the exact binomial test certifies its false answers at the threshold; the threshold does
    not depend on the other strata, so each test keeps its level. Without any missing_note score the threshold is set on
    all unanswerable scores together: the promise is then of their mixture, and none of several is covered by itself.

    Args:
        gate: gives the scores.
        labelled: evidence of answerable and unanswerable questions.
        alpha: highest share of false answers, 0..1.
        delta: probability of a wrong promise, 0..1.
        fingerprint: what the certificate is good for.
    """
    answerable = [gate.score(item.evidence) for item in labelled if not item.stratum]
    unanswerable: defaultdict[str, list[float]] = defaultdict(list)
    for item in labelled:
        if item.stratum:
            unanswerable[item.stratum].append(gate.score(item.evidence))
    base = unanswerable.get(BASE) or [score for scores in unanswerable.values() for score in scores]
    calibration = exact_threshold(base, alpha, delta)
    threshold = math.inf if calibration.threshold is None else calibration.threshold
    testable = calibration.feasible and (BASE in unanswerable or len(unanswerable) == 1)
    strata = {
        name: _rate(sum(score >= threshold for score in scores), len(scores), alpha, delta, testable=testable)
        for name, scores in sorted(unanswerable.items())
    }
    return Certificate(
        gate=gate.name,
        threshold=calibration.threshold,
        alpha=alpha,
        delta=delta,
        n=calibration.n,
        k=calibration.k,
        needed=calibration.needed,
        answerable=len(answerable),
        answered=sum(score >= threshold for score in answerable),
        strata=strata,
        fingerprint=dict(fingerprint),
    )


def _rate(answered: int, n: int, alpha: float, delta: float, *, testable: bool) -> StratumRate:
    low, high = clopper_pearson(answered, n)
    covered = testable and answered <= allowed_false_answers(n, alpha, delta)
    missing = labels_needed(alpha, delta, answered) - n if testable and not covered and answered / n < alpha else 0
    return StratumRate(n, answered, low, high, covered, missing)
