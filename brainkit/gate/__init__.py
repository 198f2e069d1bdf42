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
    joint_threshold,
    labels_needed,
)
from brainkit.gate.certificate import Certificate, StratumRate
from brainkit.gate.certify import certify
from brainkit.gate.decision import Decision, Threshold, decide
from brainkit.gate.drift import Drift, drift
from brainkit.gate.gates import FEATURES, GATES, EvidenceGate, Gate, make_gate, shipped_threshold
from brainkit.gate.keeping import certificate_file, other_brain, read_certificate, threshold_in_force
from brainkit.gate.labelled import LabelledEvidence, gather
from brainkit.gate.outlook import Outlook

__all__ = [
    "FEATURES",
    "GATES",
    "Calibration",
    "Certificate",
    "Count",
    "CrossFit",
    "Decision",
    "Drift",
    "EvidenceGate",
    "Gate",
    "Interval",
    "LabelledEvidence",
    "Outlook",
    "Scored",
    "StratumRate",
    "Threshold",
    "allowed_false_answers",
    "certificate_file",
    "certify",
    "clopper_pearson",
    "cross_fit",
    "decide",
    "drift",
    "exact_threshold",
    "gather",
    "joint_threshold",
    "labels_needed",
    "make_gate",
    "other_brain",
    "read_certificate",
    "shipped_threshold",
    "threshold_in_force",
]
