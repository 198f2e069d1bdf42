"""Fit what brainkit ships: the evidence gate's coefficients and each gate's threshold without a certificate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from brainkit.brain import Brain
from brainkit.errors import LabelsError
from brainkit.eval.config import EvalConfig
from brainkit.eval.run import Progress, eval_home
from brainkit.gate import GATES, EvidenceGate, Gate, LabelledEvidence, exact_threshold, gather, make_gate
from brainkit.gate.fitting import fit_evidence
from brainkit.gate.gates import PLAIN_FEATURES
from brainkit.labels import load
from brainkit.settings import Settings

EMBEDDERS = ("minilm", "wordllama")
"""Embedders that come with brainkit and can be measured anywhere."""


def fit_shipped(settings: Settings, config: EvalConfig, progress: Progress | None = None) -> dict[str, Any]:
    """What ``brainkit/gate/data/shipped.json`` holds: by embedder, coefficients and thresholds.

    Under "other" are those of the first as if it gave no token vectors, for embedders that cannot be measured here.

    Coefficients: answerable questions with their documents present and hidden, nothing else. Thresholds: the lowest
    that keeps the hidden and the hand-written missing notes at ``alpha`` with confidence 1 - ``delta``; a default and
    no promise, as the notes they meet are others. The seed gate's is the cosine gate's: its rule has a threshold for
    the cosine and answers every lexical hit, which no threshold mends.

    Raises:
        LabelsError: there are too few labels.
    """
    labels = load(config.labels)
    fitted: dict[str, Any] = {}
    for embedder in EMBEDDERS:
        here = eval_home(settings.model_copy(update={"embedder": embedder}), config)
        with Brain.open(here) as brain:
            brain.import_paths([config.corpus], prune=True, progress=progress)
            labelled = gather(labels, brain.evidence, progress)
        fitted[embedder] = _fit(labelled, config)
        if embedder == EMBEDDERS[0]:
            fitted["other"] = _fit(labelled, config, PLAIN_FEATURES)
    return {
        "fitted_on": f"{len(labels)} bundled labels, alpha {config.alpha:g}, delta {config.delta:g}",
        "retrieval": str(config.settings[config.main]),
        "embedders": fitted,
    }


def _fit(labelled: Sequence[LabelledEvidence], config: EvalConfig, features: Sequence[str] = ()) -> dict[str, Any]:
    gate = fit_evidence([item for item in labelled if item.hidden or not item.stratum], features)
    return {
        "evidence": {"intercept": gate.intercept, "coefficients": dict(gate.coefficients)},
        "thresholds": {name: _threshold(_gate(name, gate), labelled, config) for name in GATES},
    }


def _gate(name: str, evidence: EvidenceGate) -> Gate:
    return evidence if name == "evidence" else make_gate("cosine" if name == "seed" else name, "minilm")


def _threshold(gate: Gate, labelled: Sequence[LabelledEvidence], config: EvalConfig) -> float:
    scores = [gate.score(item.evidence) for item in labelled if item.stratum == "missing_note"]
    found = exact_threshold(scores, config.alpha, config.delta)
    if found.threshold is None:
        raise LabelsError(f"{found.n} missing notes are too few to fit a threshold: {found.needed} are needed")
    return (math.floor(found.threshold * 1e6) + 1) / 1e6  # up: the score just below it must not pass
