"""The figures of the calibrator, from scores of labelled questions; numbers.js computes the same in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainkit.gate import Gate, LabelledEvidence, clopper_pearson
from brainkit.labels import STRATA

Floats = NDArray[np.float64]
ANSWERABLE = "answerable"
BINS = 48


@dataclass(frozen=True)
class Sample:
    """Scores of questions in groups.

    Attributes:
        scores: of each question, finite.
        groups: index into ``names`` of each question.
        names: ``answerable`` first, then the strata that occur.
    """

    scores: Floats
    groups: NDArray[np.uint8]
    names: tuple[str, ...]

    def of(self, group: int) -> Floats:
        """Scores of one group, in the order of the questions."""
        found: Floats = self.scores[self.groups == group]
        return found


def make_sample(labelled: Sequence[LabelledEvidence], gate: Gate) -> Sample:
    """Score every question, asked as it is or with its documents hidden."""
    found = {item.stratum for item in labelled if item.stratum}
    names = (ANSWERABLE, *sorted(found, key=lambda name: (STRATA.index(name) if name in STRATA else len(STRATA), name)))
    scores = np.array([gate.score(item.evidence) for item in labelled], np.float64)
    groups = np.array([names.index(item.stratum or ANSWERABLE) for item in labelled], np.uint8)
    return Sample(scores, groups, names)


class Tally(NamedTuple):
    """``answered`` of ``n`` questions of a group, with the exact 95 % interval of that share."""

    name: str
    n: int
    answered: int
    low: float
    high: float


def tally(sample: Sample, threshold: float) -> list[Tally]:
    """How each group fares at a threshold."""
    found = []
    for group, name in enumerate(sample.names):
        scores = sample.of(group)
        answered = int((scores >= threshold).sum())
        found.append(Tally(name, len(scores), answered, *clopper_pearson(answered, len(scores))))
    return found


class Histogram(NamedTuple):
    """Counts by group in equal bins from ``low`` to ``high``; one list of counts a group."""

    low: float
    high: float
    counts: list[list[int]]


def histogram(sample: Sample, bins: int = BINS) -> Histogram:
    """Where the scores of each group lie."""
    low, high = (float(sample.scores.min()), float(sample.scores.max())) if len(sample.scores) else (0.0, 1.0)
    span = high - low or 1.0
    places = np.minimum(((sample.scores - low) / span * bins).astype(np.intp), bins - 1)
    counts = [
        np.bincount(places[sample.groups == group], minlength=bins).tolist() for group in range(len(sample.names))
    ]
    return Histogram(low, low + span, counts)


class Curve(NamedTuple):
    """Points (x, y) of a curve, and the area that sums it up; no point and None where there is nothing to tell."""

    points: list[tuple[float, float]]
    area: float | None


def roc(sample: Sample) -> Curve:
    """Receiver operating characteristic: share of false answers and share answered at every threshold, highest first.

    The area is the AUROC, ties counting half.
    """
    yes, no = _sweep(sample)
    if not yes[-1] or not no[-1]:
        return Curve([], None)
    x, y = no / no[-1], yes / yes[-1]
    return Curve(list(zip(x.tolist(), y.tolist(), strict=True)), float((np.diff(x) * (y[1:] + y[:-1]) / 2).sum()))


def risk_coverage(sample: Sample) -> Curve:
    """Share of all questions answered (coverage), and of those the share that should not be (risk), highest first.

    The area is the mean risk over all coverages; equal scores come in together. It depends on the mix of questions.

    Source: Geifman and El-Yaniv 2017, arXiv:1705.08500.
    """
    if not len(sample.scores):
        return Curve([], None)
    yes, no = (counts[1:] for counts in _sweep(sample))
    coverage, risk = (yes + no) / len(sample.scores), no / (yes + no)
    area = float((risk * np.diff(coverage, prepend=0.0)).sum())
    return Curve(list(zip(coverage.tolist(), risk.tolist(), strict=True)), area)


def flips(sample: Sample, before: float, after: float) -> list[int]:
    """Questions whose decision differs between two thresholds, those nearest to the second first."""
    low, high = sorted((before, after))
    found = np.flatnonzero((sample.scores >= low) & (sample.scores < high))
    found = found[np.argsort(sample.scores[found], kind="stable")]
    return [int(place) for place in (found[::-1] if after > before else found)]


def _sweep(sample: Sample) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Answerable and unanswerable questions answered at each distinct score, downwards; first where none is."""
    order = np.argsort(-sample.scores, kind="stable")
    last = np.flatnonzero(np.diff(sample.scores[order], append=-np.inf))
    yes = np.cumsum(sample.groups[order] == 0)[last]
    return np.concatenate([[0], yes]), np.concatenate([[0], last + 1 - yes])
