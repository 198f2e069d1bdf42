"""A gate fitted anew on a person's own labels: half of the questions fit it, the others set its threshold."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from brainkit.errors import LabelsError, UsageError
from brainkit.gate.fitting import fit_evidence, fit_sufficiency
from brainkit.gate.gates import FEATURES, EvidenceGate, Gate
from brainkit.gate.labelled import LabelledEvidence
from brainkit.gate.sufficiency import SufficiencyGate

ENOUGH: Final = 300
"""Labels from which on coefficients of one's own may do better than the shipped ones, at half the labels' price."""


def refit(gate: Gate, labelled: Sequence[LabelledEvidence]) -> tuple[Gate, dict[str, Any]]:
    """The gate fitted on half of the questions, and what a certificate keeps of that.

    Which half a question is in follows from its id alone, so that it stays there when labels are added.

    Args:
        gate: ``evidence`` or ``sufficiency``.
        labelled: evidence of the questions; the hidden form of one goes where the question goes.

    Returns:
        The new gate and {"intercept", "coefficients", "weight", "labels"}; labels are the ids it was fitted on, which
        must set no threshold.

    Raises:
        LabelsError: fewer than ``ENOUGH`` questions, or no unanswerable or answerable ones among the half.
        UsageError: the gate has no coefficients.
    """
    if not isinstance(gate, EvidenceGate | SufficiencyGate):
        raise UsageError(f"the {gate.name} gate has nothing to fit: give --gate evidence or sufficiency")
    if (count := len({item.label for item in labelled})) < ENOUGH:
        raise LabelsError(
            f"{count} labels are too few to fit a gate on half of them: {ENOUGH} are needed. "
            "Without --refit all of them set the threshold"
        )
    own = [item for item in labelled if _fits(item.label)]
    fitted: EvidenceGate | SufficiencyGate
    if isinstance(gate, SufficiencyGate):
        fitted = fit_sufficiency(own, gate.judge)
        evidence, weight = fitted.evidence, fitted.weight
    else:
        fitted = evidence = fit_evidence([item for item in own if item.hidden or not item.stratum])
        weight = 0.0
    kept = {
        "intercept": evidence.intercept,
        "coefficients": dict(evidence.coefficients),
        "weight": weight,
        "labels": sorted({item.label for item in own}),
    }
    return fitted, kept


def restored(gate: Gate, kept: Mapping[str, Any]) -> Gate:
    """The gate that ``refit`` made, from what was kept of it.

    Raises:
        ValueError: it was not kept so.
    """
    coefficients = {str(name): float(value) for name, value in kept["coefficients"].items()}
    if unknown := set(coefficients) - set(FEATURES):
        raise ValueError(f"no such features: {unknown}")
    evidence = EvidenceGate(float(kept["intercept"]), coefficients)
    if isinstance(gate, SufficiencyGate):
        return replace(gate, evidence=evidence, weight=float(kept["weight"]))
    return evidence if isinstance(gate, EvidenceGate) else gate


def _fits(label: str) -> bool:
    return hashlib.sha256(label.encode()).digest()[0] % 2 == 0
