"""The gates: each turns a Recall's evidence into one score; the question is answered when it reaches the threshold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Final, Protocol

from brainkit.errors import SettingsError
from brainkit.gate.plugins import plugin_gate, plugin_names
from brainkit.gate.sufficiency import SUFFICIENCY, UNCALIBRATED, SufficiencyGate
from brainkit.retrieval import Evidence

GATES: Final = ("seed", "cosine", "score", "evidence")
"""Those that need nothing but the evidence; there is ``sufficiency`` too, and what other packages bring."""


class Gate(Protocol):
    """A way to score evidence; ``version`` changes when the same evidence would get another score."""

    @property
    def name(self) -> str:
        """What BOR_GATE calls it."""

    @property
    def version(self) -> str:
        """Goes into a certificate's fingerprint."""

    def score(self, evidence: Evidence) -> float:
        """Finite, higher means more surely answerable; compares within one brain; lowest for ``Evidence()``."""


@dataclass(frozen=True)
class SeedGate:
    """The original rule: deflect when the best cosine is below the threshold and no chunk holds a term of the question.

    A lexical hit answers whatever the cosine, so it scores above every cosine. On real notes nearly every question has
    a lexical hit: the rule then cannot tell them apart, and a certified threshold answers nothing.
    """

    name: str = "seed"
    version: str = "1"

    def score(self, evidence: Evidence) -> float:
        """2 with a lexical hit, else the best cosine: -1..1."""
        return 2.0 if evidence.lexical_hits else evidence.best_cosine


@dataclass(frozen=True)
class CosineGate:
    """Best cosine alone."""

    name: str = "cosine"
    version: str = "1"

    def score(self, evidence: Evidence) -> float:
        """Best cosine: -1..1."""
        return evidence.best_cosine


@dataclass(frozen=True)
class ScoreGate:
    """The absolute convex score of the best candidate: half cosine, half BM25 share."""

    name: str = "score"
    version: str = "1"

    def score(self, evidence: Evidence) -> float:
        """``Evidence.best_score``: -0.5..1."""
        return evidence.best_score


LATE_FEATURES: Final = ("lead", "passage_cosine", "passage_match", "word_match", "name_match")
"""What the evidence gate looks at where the embedder gives token vectors."""
PLAIN_FEATURES: Final = ("lead", "best_score")
"""What it looks at where it does not."""
FEATURES: Final = (*LATE_FEATURES, "best_score")
"""All of them."""


@dataclass(frozen=True)
class EvidenceGate:
    """A logistic model on a few numbers of the evidence; its coefficients are fitted on the bundled labels alone.

    Attributes:
        intercept: of the linear part.
        coefficients: by feature, none negative; a feature that is not named counts nothing.
        probability: says to those who compare gates that the score is one.
    """

    intercept: float
    coefficients: Mapping[str, float]
    name: str = "evidence"
    probability: bool = True

    @property
    def version(self) -> str:
        """The coefficients themselves."""
        return json.dumps([self.intercept, dict(self.coefficients)], sort_keys=True)

    def score(self, evidence: Evidence) -> float:
        """Fitted probability that the question is answerable, 0..1; 0 when nothing was found."""
        if evidence.best_cosine == -1.0 and not evidence.lexical_hits:
            return 0.0
        return 1 / (1 + math.exp(-max(-500.0, min(500.0, self.linear(evidence)))))

    def linear(self, evidence: Evidence) -> float:
        """The log-odds behind the score."""
        values = (weight * float(getattr(evidence, name)) for name, weight in self.coefficients.items())
        return math.fsum((self.intercept, *values))


@lru_cache(maxsize=1)
def shipped() -> Mapping[str, Any]:
    """What was fitted on the bundled labels: by embedder, thresholds and coefficients; with date and counts."""
    text = resources.files("brainkit.gate").joinpath("data/shipped.json").read_text("utf-8")
    return dict(json.loads(text))


def gate_names() -> list[str]:
    """Names of all gates there are: brainkit's own, then those of other packages."""
    own = [*GATES, SUFFICIENCY]
    return [*own, *(name for name in plugin_names() if name not in own)]


def make_gate(name: str, embedder: str, judge: str = "") -> Gate:
    """The gate called ``name``; brainkit's own are looked at first, then those of other packages.

    Args:
        name: one of ``gate_names()``.
        embedder: whose vectors it sees (a value of BOR_EMBEDDER).
        judge: the language model that ``sufficiency`` asks; part of that gate's version.

    Raises:
        SettingsError: there is no such gate, or another package's does not work.
    """
    simple: dict[str, Gate] = {"seed": SeedGate(), "cosine": CosineGate(), "score": ScoreGate()}
    if name in simple:
        return simple[name]
    if name in {"evidence", SUFFICIENCY}:
        fitted = _fitted(embedder)["evidence"]
        evidence = EvidenceGate(fitted["intercept"], fitted["coefficients"])
        return evidence if name == "evidence" else SufficiencyGate(evidence, judge)
    if name in plugin_names():
        return plugin_gate(name, embedder)
    raise SettingsError(f"BOR_GATE = {name!r} is not allowed: give one of {', '.join(gate_names())}")


def shipped_threshold(gate: str, embedder: str) -> float:
    """The threshold used when there is no certificate; of a gate of another package, its own."""
    if gate == SUFFICIENCY:
        return UNCALIBRATED
    if gate in GATES:
        return float(_fitted(embedder)["thresholds"][gate])
    return float(plugin_gate(gate, embedder).default_threshold)


def _fitted(embedder: str) -> Mapping[str, Any]:
    """What was fitted for an embedder; for one never measured, for the default one as if without token vectors."""
    by_embedder = shipped()["embedders"]
    return dict(by_embedder.get(embedder, by_embedder["other"]))
