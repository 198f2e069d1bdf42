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
from brainkit.retrieval import Evidence

GATES: Final = ("seed", "cosine", "score", "evidence")


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


FEATURES: Final = ("best_cosine", "margin", "best_lexical", "coverage", "chunk_coverage", "agreement")
"""What the evidence gate looks at, in the order of its coefficients."""


@dataclass(frozen=True)
class EvidenceGate:
    """A logistic model on six features; its coefficients are fitted on the bundled labels alone.

    Attributes:
        intercept: of the linear part.
        coefficients: one for each of ``FEATURES``.
    """

    intercept: float
    coefficients: tuple[float, ...]
    name: str = "evidence"

    @property
    def version(self) -> str:
        """The coefficients themselves."""
        return json.dumps([self.intercept, *self.coefficients])

    def score(self, evidence: Evidence) -> float:
        """Fitted probability that the question is answerable, 0..1; 0 when nothing was found."""
        if evidence.best_cosine == -1.0 and not evidence.lexical_hits:
            return 0.0
        pairs = zip(self.coefficients, FEATURES, strict=True)
        linear = self.intercept + sum(weight * float(getattr(evidence, name)) for weight, name in pairs)
        return 1 / (1 + math.exp(-max(-500.0, min(500.0, linear))))


@lru_cache(maxsize=1)
def shipped() -> Mapping[str, Any]:
    """What was fitted on the bundled labels: by embedder, thresholds and coefficients; with date and counts."""
    text = resources.files("brainkit.gate").joinpath("data/shipped.json").read_text("utf-8")
    return dict(json.loads(text))


def make_gate(name: str, embedder: str) -> Gate:
    """The gate called ``name``, for vectors of ``embedder`` (a value of BOR_EMBEDDER).

    Raises:
        SettingsError: there is no such gate.
    """
    simple: dict[str, Gate] = {"seed": SeedGate(), "cosine": CosineGate(), "score": ScoreGate()}
    if name in simple:
        return simple[name]
    if name != "evidence":
        raise SettingsError(f"BOR_GATE = {name!r} is not allowed: give one of {', '.join(GATES)}")
    fitted = _fitted(embedder)["evidence"]
    return EvidenceGate(float(fitted["intercept"]), tuple(float(fitted["coefficients"][f]) for f in FEATURES))


def shipped_threshold(gate: str, embedder: str) -> float:
    """The threshold used when there is no certificate; for an embedder never measured, that of the default embedder."""
    return float(_fitted(embedder)["thresholds"][gate])


def _fitted(embedder: str) -> Mapping[str, Any]:
    by_embedder = shipped()["embedders"]
    return dict(by_embedder.get(embedder, by_embedder["minilm"]))
