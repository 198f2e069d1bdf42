"""Answer or deflect: the decision, where its threshold comes from, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from brainkit.gate.gates import Gate
from brainkit.retrieval import Recall

_PREFIX: Final = {
    "certificate": "certified",
    "estimate": "estimate, uncertified",
    "override": "BOR_RELEVANCE_THRESHOLD",
    "shipped": "uncalibrated",
}


class Threshold(NamedTuple):
    """A threshold and its origin; ``note`` says what the reader must know about it ("" if nothing)."""

    value: float
    origin: Literal["certificate", "estimate", "override", "shipped"]
    note: str = ""


@dataclass(frozen=True)
class Decision:
    """Whether a question is answered.

    Attributes:
        answer: True to answer, False to deflect.
        score: the gate's score, finite; higher means more surely answerable.
        threshold: what the score had to reach.
        gate: name of the gate.
        reason: in words; begins with "certified", "estimate, uncertified" or, with neither of them behind the
            threshold, "uncalibrated"; says when a certificate is stale, or what is asked has drifted from it.
        recall: what was found.
    """

    answer: bool
    score: float
    threshold: float
    gate: str
    reason: str
    recall: Recall = field(repr=False)


def decide(recall: Recall, gate: Gate, threshold: Threshold) -> Decision:
    """Apply a gate to a recall; a recall without documents is always deflected."""
    found = bool(recall.documents)
    score = gate.score(recall.evidence)
    answer = found and score >= threshold.value
    comparison = f"{gate.name} {score:.3f} {'>=' if score >= threshold.value else '<'} {threshold.value:.3f}"
    prefix = _PREFIX[threshold.origin]
    parts = [f"{prefix}: {comparison}" if found else f"{prefix}: nothing was found", threshold.note, recall.degraded]
    return Decision(answer, score, threshold.value, gate.name, "; ".join(part for part in parts if part), recall)
