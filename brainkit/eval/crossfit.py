"""Judge a gate on labels that did not set it: threshold from one half, rates on the other, swapped.

The evidence gate is fitted anew in each half, on its answerable questions with their documents present and hidden; the
half's unanswerable questions set the threshold; so no question serves two ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brainkit.eval.config import EvalConfig
from brainkit.eval.outcome import GateResult
from brainkit.eval.stats import auroc
from brainkit.gate import LabelledEvidence, Scored, cross_fit, make_gate
from brainkit.gate.fitting import fit_evidence
from brainkit.labels import Label


def judge_gate(
    name: str, labels: Sequence[Label], labelled: Sequence[LabelledEvidence], embedder: str, config: EvalConfig
) -> GateResult:
    """Cross-fitted rates of one gate on the labels as they were asked (nothing hidden)."""
    gate = make_gate(name, embedder)
    asked = [item for item in labelled if not item.hidden]
    scores = {item.label: gate.score(item.evidence) for item in asked}
    of_other_half: dict[str, float] = {}

    def refit(half: frozenset[str]) -> Mapping[str, float]:
        own = [item for item in labelled if item.label in half and (item.hidden or not item.stratum)]
        if not any(item.hidden for item in own):
            return {}  # a half without an answerable question: the shipped gate stands in, fitted on other labels
        fitted = fit_evidence(own)
        found = {item.label: fitted.score(item.evidence) for item in asked}
        of_other_half.update({label: score for label, score in found.items() if label not in half})
        return found

    yes = [Scored(label.id, scores[label.id]) for label in labels if label.answerable]
    no = [Scored(label.id, scores[label.id], label.stratum) for label in labels if not label.answerable]
    fit = cross_fit(no, yes, alpha=config.alpha, delta=config.delta, refit=refit if name == "evidence" else None)
    scores.update(of_other_half)
    area = auroc([scores[s.question] for s in yes], [scores[s.question] for s in no])
    return GateResult(name, fit, area, scores)
