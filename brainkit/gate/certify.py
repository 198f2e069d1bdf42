"""Scores of labelled questions -> a certificate."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from brainkit.gate.calibration import allowed_false_answers, clopper_pearson, joint_threshold, labels_needed
from brainkit.gate.certificate import SAMPLE, Certificate, StratumRate
from brainkit.gate.gates import Gate
from brainkit.gate.labelled import LabelledEvidence
from brainkit.gate.outlook import labels_to_cover, outlooks

BASE = "missing_note"
"""The stratum the threshold is set on: its labels come for nothing, by hiding the documents of answerable questions."""


def certify(
    gate: Gate,
    labelled: Sequence[LabelledEvidence],
    *,
    alpha: float,
    delta: float,
    fingerprint: Mapping[str, str],
    joint: bool = False,
    basis: str = "labels",
    corpus: str = "",
    since: str = "",
    fitted: Mapping[str, Any] | None = None,
) -> Certificate:
    """Set the threshold on the missing notes and test every other stratum at it, or set it for all strata at once.

    A stratum is covered when the exact binomial test certifies its false answers at the threshold; the threshold does
    not depend on the other strata, so each test keeps its level. Without any missing_note score the threshold is set on
    all unanswerable scores together: the promise is then of their mixture, and none of several is covered by itself.

    Args:
        gate: gives the scores.
        labelled: evidence of answerable and unanswerable questions.
        alpha: highest share of false answers, 0..1.
        delta: probability of a wrong promise, 0..1.
        fingerprint: what the certificate is good for.
        joint: with confidence 1 - delta, *every* stratum there are labels of holds alpha (see ``joint_threshold``).
        basis: what the questions are, if not labels a person gave.
        corpus: state of the notes.
        since: when the first certificate under this fingerprint was made; now, if empty.
        fitted: what ``refit`` left, if it made the gate; the labels it was fitted on are left out here.
    """
    used = frozenset(fitted["labels"]) if fitted else frozenset()
    labelled = [item for item in labelled if item.label not in used]
    answerable = [gate.score(item.evidence) for item in labelled if not item.stratum]
    unanswerable: defaultdict[str, list[float]] = defaultdict(list)
    for item in labelled:
        if item.stratum:
            unanswerable[item.stratum].append(gate.score(item.evidence))
    base = unanswerable.get(BASE) or [score for scores in unanswerable.values() for score in scores]
    setting = list(unanswerable.values()) if joint else [base]
    calibration = joint_threshold(setting, alpha, delta)
    threshold = math.inf if calibration.threshold is None else calibration.threshold
    testable = basis == "labels" and (joint or BASE in unanswerable or len(unanswerable) == 1)
    strata = {
        name: _rate(scores, threshold, alpha, delta, testable=testable) for name, scores in sorted(unanswerable.items())
    }
    made = Certificate(
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
        joint=joint,
        basis=basis,
        corpus=corpus,
        fitted=fitted,
        passed=tuple(
            sorted(
                item.label
                for item in labelled
                if item.stratum and not item.hidden and gate.score(item.evidence) >= threshold
            )
        ),
        answerable_scores=_sample(answerable),
        unanswerable_scores=_sample(score for scores in unanswerable.values() for score in scores),
        outlook=outlooks(setting, answerable, alpha, delta),
    )
    return replace(made, since=since or made.created)


def _rate(scores: Sequence[float], threshold: float, alpha: float, delta: float, *, testable: bool) -> StratumRate:
    n, answered = len(scores), sum(score >= threshold for score in scores)
    if math.isinf(threshold):  # no threshold: what is missing for one
        return StratumRate(n, 0, *clopper_pearson(0, n), covered=False, missing=max(0, labels_needed(alpha, delta) - n))
    covered = testable and answered <= allowed_false_answers(n, alpha, delta)
    missing = labels_to_cover(answered, n, alpha, delta) if testable else 0
    return StratumRate(n, answered, *clopper_pearson(answered, n), covered, missing)


def _sample(scores: Iterable[float]) -> tuple[float, ...]:
    """Sorted and rounded; of many, evenly spread ones, the first and the last among them."""
    ordered = sorted(scores)
    if len(ordered) > SAMPLE:
        ordered = [ordered[round(place * (len(ordered) - 1) / (SAMPLE - 1))] for place in range(SAMPLE)]
    return tuple(round(score, 6) for score in ordered)
