"""Judge a gate on labels that did not set it: threshold from one half, rates on the other, swapped.

The evidence gate, and that part of the sufficiency gate, is fitted anew in each half, on its answerable questions with
their documents present and hidden; the half's unanswerable questions set the threshold; so no question serves two ends.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from brainkit.eval.config import EvalConfig
from brainkit.eval.outcome import GateResult
from brainkit.eval.selective import Judged, measure
from brainkit.eval.stats import auroc
from brainkit.gate import EvidenceGate, Gate, LabelledEvidence, Scored, cross_fit, make_gate
from brainkit.gate.fitting import fit_evidence
from brainkit.gate.sufficiency import SufficiencyGate
from brainkit.labels import Label


def judge_gate(
    name: str,
    labels: Sequence[Label],
    labelled: Sequence[LabelledEvidence],
    embedder: str,
    config: EvalConfig,
    astray: Collection[str] = (),
) -> GateResult:
    """Cross-fitted rates and figures of one gate on the labels as they were asked (nothing hidden).

    Args:
        name: of the gate.
        labels: the labelled questions.
        labelled: their evidence.
        embedder: whose vectors the gate sees.
        config: alpha and delta.
        astray: ids of the answerable questions whose answer would be given no relevant document.
    """
    gate = make_gate(name, embedder)
    asked = [item for item in labelled if not item.hidden]
    scores = {item.label: gate.score(item.evidence) for item in asked}
    halves: list[frozenset[str]] = []
    of_other_half: dict[str, float] = {}

    def refit(half: frozenset[str]) -> Mapping[str, float]:
        halves.append(half)
        own = [item for item in labelled if item.label in half and (item.hidden or not item.stratum)]
        fitted = _refitted(gate, own)
        if fitted is gate:
            return {}
        found = {item.label: fitted.score(item.evidence) for item in asked}
        of_other_half.update({label: score for label, score in found.items() if label not in half})
        return found

    yes = [Scored(label.id, scores[label.id]) for label in labels if label.answerable]
    no = [Scored(label.id, scores[label.id], label.stratum) for label in labels if not label.answerable]
    fit = cross_fit(no, yes, alpha=config.alpha, delta=config.delta, refit=refit)
    scores.update(of_other_half)
    area = auroc([scores[s.question] for s in yes], [scores[s.question] for s in no])
    thresholds = [calibration.threshold for calibration in fit.calibrations]

    def judged(label: Label) -> Judged:
        score, threshold = scores[label.id], thresholds[int(label.id in halves[0])]
        answered = None if threshold is None else score >= threshold
        return Judged(label.answerable, label.id not in astray, score, answered)

    quality = measure([judged(label) for label in labels], probability=getattr(gate, "probability", False))
    return GateResult(name, fit, area, scores, quality)


def _refitted(gate: Gate, own: Sequence[LabelledEvidence]) -> Gate:
    """The gate fitted on these questions; the shipped one where it fits nothing, or none of them is answerable."""
    if not any(item.hidden for item in own):
        return gate
    if isinstance(gate, SufficiencyGate):
        return replace(gate, evidence=fit_evidence(own))
    return fit_evidence(own) if isinstance(gate, EvidenceGate) else gate
