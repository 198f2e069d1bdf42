"""The gate that lets a language model read the notes: its yes or no beside what retrieval found."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from brainkit.errors import SettingsError
from brainkit.gate.judging import PROMPT_VERSION, JudgedEvidence
from brainkit.retrieval import Evidence

if TYPE_CHECKING:
    from brainkit.gate.gates import EvidenceGate

SUFFICIENCY: Final = "sufficiency"
UNCALIBRATED: Final = 0.9
"""Threshold without a certificate: nine to one that the notes hold the answer. A guess: no model ships to fit it on."""


@dataclass(frozen=True)
class SufficiencyGate:
    """Log-odds of the evidence gate plus those of a language model that reads the notes.

    A relevant note need not hold the answer (Joren et al. 2025, "Sufficient Context", arXiv:2411.06037), which no
    score of retrieval tells. As no language model ships there is nothing to fit weights on: both count in full, as if
    they were independent (naive Bayes), until ``fit_sufficiency`` has seen enough labels. The threshold is calibrated
    like that of any gate.

    Attributes:
        evidence: the gate for what retrieval found.
        judge: name of the language model.
        weight: of the language model's log-odds beside the other's, at least 0.
    """

    evidence: EvidenceGate
    judge: str = ""
    weight: float = 1.0
    name: str = SUFFICIENCY
    probability: bool = True

    @property
    def version(self) -> str:
        """Everything that changes a score: coefficients, the model, the prompt."""
        return json.dumps([self.evidence.version, self.judge, self.weight, PROMPT_VERSION])

    def score(self, evidence: Evidence) -> float:
        """Probability that the notes hold the answer, 0..1; 0 when nothing was found.

        Raises:
            SettingsError: the evidence comes from a brain that has no language model.
            LLMUnavailableError: the model does not answer.
        """
        if not self.evidence.score(evidence):
            return 0.0
        if not isinstance(evidence, JudgedEvidence):
            raise SettingsError("the sufficiency gate asks a language model: set BOR_LLM_BASE_URL")
        linear = self.evidence.linear(evidence) + self.weight * evidence.sufficiency
        return 1 / (1 + math.exp(-max(-500.0, min(500.0, linear))))
