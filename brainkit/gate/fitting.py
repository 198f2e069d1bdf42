"""Fit the evidence gate: logistic regression on answerable questions with their documents present and hidden."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from brainkit.errors import LabelsError
from brainkit.gate.gates import FEATURES, EvidenceGate
from brainkit.gate.labelled import LabelledEvidence

REGULARISATION = 1.0
"""scikit-learn's C: few labels, so pulled towards zero."""


def fit_evidence(labelled: Sequence[LabelledEvidence]) -> EvidenceGate:
    """An evidence gate for these questions; unanswerable ones with a missing detail are better left out.

    Args:
        labelled: evidence of answerable (``stratum`` '') and unanswerable questions.

    Raises:
        LabelsError: one of the two kinds is missing.
    """
    from sklearn.linear_model import LogisticRegression

    target = np.array([not item.stratum for item in labelled])
    if len(set(target.tolist())) < 2:
        raise LabelsError("the evidence gate needs answerable and unanswerable questions to be fitted")
    features = np.array([[float(getattr(item.evidence, name)) for name in FEATURES] for item in labelled])
    mean, spread = features.mean(0), features.std(0)
    spread[spread == 0] = 1.0
    model = LogisticRegression(C=REGULARISATION, class_weight="balanced", max_iter=1000)
    model.fit((features - mean) / spread, target)
    weights = model.coef_[0] / spread
    intercept = float(model.intercept_[0] - (weights * mean).sum())
    return EvidenceGate(round(intercept, 6), tuple(round(float(weight), 6) for weight in weights))
