"""A certificate: the calibrated threshold, what it promises and for which brain; a JSON file in the brain's home."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brainkit.errors import CertificateError
from brainkit.gate.outlook import Outlook
from brainkit.gate.promise import promise

FORMAT = 1
SAMPLE = 200
"""Scores of each kind that a certificate keeps at most."""


@dataclass(frozen=True)
class StratumRate:
    """How one stratum fared at the certificate's threshold.

    Attributes:
        n: unanswerable questions in it.
        answered: how many of them got an answer.
        low: lower end of the exact 95 % interval of the rate.
        high: upper end.
        covered: whether the exact binomial test certifies the stratum at this threshold.
        missing: further labels that are expected to cover it (0 when covered, or when more would not help).
    """

    n: int
    answered: int
    low: float
    high: float
    covered: bool
    missing: int = 0


@dataclass(frozen=True)
class Certificate:
    """A promise about false answers.

    Attributes:
        gate: name of the gate.
        threshold: answer iff score >= threshold; None if infeasible.
        alpha: highest share of unanswerable questions that may be answered.
        delta: probability that the promise is wrong.
        n: unanswerable questions the threshold was set on.
        k: false answers among them that the exact binomial rule tolerates.
        needed: smallest number of such questions with which any threshold can be certified.
        answerable: answerable questions that were asked.
        answered: how many of them are answered at the threshold.
        strata: rates by stratum.
        fingerprint: what the threshold is only good for, by part.
        joint: whether the promise is of every stratum at once, rather than of each.
        basis: ``labels``, or what a mere estimate was made from.
        corpus: state of the notes it was made with, see ``corpus_state``.
        since: when the first certificate under this fingerprint was made, ISO 8601, UTC.
        fitted: what the gate's own fit left, see ``refit``; None for the shipped coefficients.
        passed: ids of the unanswerable labels that were answered at the threshold.
        answerable_scores: some of their scores, sorted, at most ``SAMPLE``, spread evenly.
        unanswerable_scores: the same.
        outlook: what more labels would buy; not in the file.
        created: ISO 8601, UTC.
    """

    gate: str
    threshold: float | None
    alpha: float
    delta: float
    n: int
    k: int
    needed: int
    answerable: int
    answered: int
    strata: Mapping[str, StratumRate]
    fingerprint: Mapping[str, str]
    joint: bool = False
    basis: str = "labels"
    corpus: str = ""
    since: str = ""
    fitted: Mapping[str, Any] | None = field(default=None, repr=False)
    passed: tuple[str, ...] = ()
    answerable_scores: tuple[float, ...] = field(default=(), repr=False)
    unanswerable_scores: tuple[float, ...] = field(default=(), repr=False)
    outlook: tuple[Outlook, ...] = field(default=(), compare=False, repr=False)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def feasible(self) -> bool:
        """Whether there were questions enough for a threshold."""
        return self.threshold is not None

    @property
    def certified(self) -> bool:
        """Whether the promise holds; False for an estimate, which has a threshold and no promise."""
        return self.feasible and self.basis == "labels"

    @property
    def covers(self) -> tuple[str, ...]:
        """Strata the promise holds for."""
        return tuple(name for name, rate in self.strata.items() if rate.covered)

    def promise(self) -> str:
        """The certificate in one sentence."""
        return promise(self)

    def mismatch(self, fingerprint: Mapping[str, str]) -> list[str]:
        """Parts in which a brain differs from the one this certificate was made for."""
        keys = sorted({*self.fingerprint, *fingerprint})
        return [key for key in keys if self.fingerprint.get(key) != fingerprint.get(key)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what is in the file, the outlook, and the promise in words."""
        return {
            **self._kept(),
            "outlook": [one._asdict() for one in self.outlook],
            "promise": self.promise(),
        }

    def _kept(self) -> dict[str, Any]:
        """What the file holds."""
        data = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}
        del data["outlook"]
        derived = {"feasible": self.feasible, "certified": self.certified, "covers": list(self.covers)}
        return {"format": FORMAT, **data, **derived}

    def save(self, path: Path) -> None:
        """Write the file at once or not at all.

        Raises:
            CertificateError: it cannot be written.
        """
        part = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(self._kept(), indent=2, sort_keys=True) + "\n", "utf-8")
            part.replace(path)
        except OSError as error:
            raise CertificateError(f"{path} cannot be written: {error.strerror or error}") from error

    @classmethod
    def load(cls, path: Path) -> Certificate:
        """Read a file that ``save`` wrote.

        Raises:
            CertificateError: the file is damaged, of another kind or of another format.
        """
        try:
            if path.exists() and not path.is_file():
                raise OSError("not a regular file")  # noqa: TRY301 - told like every other fault of the file
            data = json.loads(path.read_text("utf-8"))
            if data.pop("format") != FORMAT:
                raise CertificateError(
                    f"{path.name} was written by another version of brainkit: run `brainkit calibrate`"
                )
            for derived in ("feasible", "certified", "covers"):
                data.pop(derived, None)
            for name in ("passed", "answerable_scores", "unanswerable_scores"):
                data[name] = tuple(data.get(name, ()))
            data["strata"] = {name: StratumRate(**rate) for name, rate in data["strata"].items()}
            data["fingerprint"] = dict(data["fingerprint"])
            certificate = cls(**data)
            # The promise computes with the numbers: what is none shows here, not at a question.
            usable = certificate._plausible() and bool(certificate.promise())
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            raise CertificateError(
                f"{path.name} cannot be read ({type(error).__name__}): run `brainkit calibrate`"
            ) from error
        if not usable:
            raise CertificateError(f"{path.name} holds values that cannot be: run `brainkit calibrate`")
        return certificate

    def _plausible(self) -> bool:
        """Whether the numbers can have come from a calibration; none is a bool in disguise."""
        numbers = [self.alpha, self.delta, *([] if self.threshold is None else [self.threshold])]
        numbers += [*self.answerable_scores, *self.unanswerable_scores]
        datetime.fromisoformat(self.since or self.created)
        counts = [self.n, self.k + 1, self.needed, self.answerable, self.answered]
        return (
            all(type(value) in {int, float} and math.isfinite(value) for value in numbers)
            and all(type(value) is int and value >= 0 for value in counts)
            and 0 < self.alpha < 1
            and 0 < self.delta < 1
            and self.k <= self.n
            and self.answered <= self.answerable
            and all(isinstance(text, str) for text in (self.created, self.basis, self.corpus, self.since, *self.passed))
            and str(self.fingerprint.get("gate", "")).split(" ")[0] == self.gate
        )


def digest(text: str) -> str:
    """Short sha256 of a text, for fingerprints."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
