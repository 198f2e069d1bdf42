"""Fit the evidence gate: logistic regression on answerable questions with their documents present and hidden."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from brainkit.errors import LabelsError
from brainkit.gate.gates import LATE_FEATURES, PLAIN_FEATURES, EvidenceGate
from brainkit.gate.labelled import LabelledEvidence
from brainkit.gate.sufficiency import SUFFICIENCY, SufficiencyGate

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]
REGULARISATION = 0.02
"""scikit-learn's C: few labels, and they are of one collection; towards equal weights it holds on others too."""


def fit_evidence(labelled: Sequence[LabelledEvidence], features: Sequence[str] = ()) -> EvidenceGate:
    """An evidence gate for these questions; unanswerable ones with a missing detail are better left out.

    No coefficient is negative: more of any evidence never makes an answer less likely. Where that does not bind, the
    fit is scikit-learn's ``LogisticRegression(class_weight="balanced")`` on standardised features.

    Args:
        labelled: evidence of answerable (``stratum`` '') and unanswerable questions.
        features: what the gate looks at; if empty, all that go with token vectors, or without if there are none.

    Raises:
        LabelsError: one of the two kinds is missing.
    """
    sign = np.array([-1.0 if item.stratum else 1.0 for item in labelled])
    if len(set(sign.tolist())) < 2:
        raise LabelsError("the evidence gate needs answerable and unanswerable questions to be fitted")
    features = features or _features(labelled)
    values = np.array([[float(getattr(item.evidence, name)) for name in features] for item in labelled])
    mean, spread = values.mean(0), values.std(0)
    spread[spread == 0] = 1.0
    standard = (values - mean) / spread
    balance = np.where(sign > 0, len(sign) / (2 * (sign > 0).sum()), len(sign) / (2 * (sign < 0).sum()))

    def loss(parameters: Vector) -> tuple[float, Vector]:
        intercept, weights = parameters[0], parameters[1:]
        margin = sign * (standard @ weights + intercept)
        value = weights @ weights / 2 - REGULARISATION * balance @ log_expit(margin)
        pull = -REGULARISATION * balance * sign * expit(-margin)
        return float(value), np.concatenate([[pull.sum()], standard.T @ pull + weights])

    bounds = [(None, None), *[(0.0, None)] * len(features)]
    found = minimize(
        loss, np.zeros(1 + len(features)), jac=True, bounds=bounds, method="L-BFGS-B",
        options={"ftol": 1e-14, "gtol": 1e-10, "maxiter": 10_000},
    ).x  # fmt: skip
    weights = found[1:] / spread
    intercept = float(found[0] - (weights * mean).sum())
    rounded = (round(float(weight), 6) for weight in weights)
    return EvidenceGate(round(intercept, 6), dict(zip(features, rounded, strict=True)))


def fit_sufficiency(labelled: Sequence[LabelledEvidence], judge: str = "") -> SufficiencyGate:
    """A sufficiency gate for these questions, its language model's log-odds weighed like any other feature.

    The model is asked once for each question. Unlike for the evidence gate, those with a missing detail belong among
    them: that is what it can tell.

    Args:
        labelled: evidence with a language model's judgement, see ``NoteReader``.
        judge: name of the language model.

    Raises:
        LabelsError: answerable or unanswerable questions are missing.
        LLMUnavailableError: the model does not answer.
    """
    fitted = fit_evidence(labelled, (*_features(labelled), SUFFICIENCY))
    weights = dict(fitted.coefficients)
    weight = weights.pop(SUFFICIENCY)
    return SufficiencyGate(EvidenceGate(fitted.intercept, weights), judge, weight)


def _features(labelled: Sequence[LabelledEvidence]) -> tuple[str, ...]:
    return LATE_FEATURES if any(item.evidence.passage_match for item in labelled) else PLAIN_FEATURES
