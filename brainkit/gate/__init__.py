"""Recall -> Decision: the gates, the exact calibration of their threshold, the certificate."""

from __future__ import annotations

from brainkit.gate.calibration import (
    Calibration,
    Count,
    CrossFit,
    Interval,
    Scored,
    allowed_false_answers,
    clopper_pearson,
    cross_fit,
    exact_threshold,
    labels_needed,
)
from brainkit.gate.certificate import Certificate, StratumRate
from brainkit.gate.certify import certify
from brainkit.gate.decision import Decision, Threshold, decide
from brainkit.gate.gates import FEATURES, GATES, EvidenceGate, Gate, make_gate, shipped_threshold
from brainkit.gate.keeping import certificate_file, read_certificate, threshold_in_force
from brainkit.gate.labelled import LabelledEvidence, gather

__all__ = [
    "FEATURES",
    "GATES",
    "Calibration",
    "Certificate",
    "Count",
    "CrossFit",
    "Decision",
    "EvidenceGate",
    "Gate",
    "Interval",
    "LabelledEvidence",
    "Scored",
    "StratumRate",
    "Threshold",
    "allowed_false_answers",
    "certificate_file",
    "certify",
    "clopper_pearson",
    "cross_fit",
    "decide",
    "exact_threshold",
    "gather",
    "labels_needed",
    "make_gate",
    "read_certificate",
    "shipped_threshold",
    "threshold_in_force",
]
