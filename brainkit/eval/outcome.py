"""What an evaluation found, as plain frozen data; everything that is printed or written is made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from brainkit.eval.comparison import CONTEXT, Comparison, Record
from brainkit.eval.records import label_digest
from brainkit.eval.selective import Bin, Figure, GateQuality
from brainkit.gate import Certificate, Count, CrossFit
from brainkit.labels import Label

SCHEMA = 3


class Check(NamedTuple):
    """Something that has to hold; ``detail`` says what was found, ``code`` what a run leaves with if it does not."""

    name: str
    passed: bool
    detail: str
    code: int = 1


class ChannelRanks(NamedTuple):
    """Rank of a document from 1 in the fused ranking and in either channel; 0 where it was not found."""

    fused: int
    dense: int
    lexical: int


@dataclass(frozen=True)
class RankedQuestion:
    """One answerable question under one retrieval setting.

    Attributes:
        metrics: value of each metric, by its name.
        first_relevant: rank of the first relevant document from 1; 0 if it was not found.
        top: paths of the first ten documents.
        milliseconds: of this setting's own part, after the searches that all settings share.
        in_context: whether a relevant document is among those an answer is given; None where it was not looked at.
        channels: where each relevant document stands, by its name; only of questions that the main setting misses.
    """

    label: str
    setting: str
    metrics: Mapping[str, float]
    first_relevant: int
    top: tuple[str, ...]
    milliseconds: float
    in_context: bool | None = None
    channels: Mapping[str, ChannelRanks] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, float]:
        """Metrics to six digits, and ``context`` where it was looked at, as they are compared."""
        context = {} if self.in_context is None else {CONTEXT: float(self.in_context)}
        return rounded(self.metrics) | context

    @property
    def missed(self) -> str:
        """Why its documents are missed, in words; "" where that was not looked at."""
        return "; ".join(_missed(doc, ranks) for doc, ranks in self.channels.items())


@dataclass(frozen=True)
class SettingResult:
    """Means of one retrieval setting over all answerable questions.

    ``milliseconds`` is the median of whole recalls, one by one, of a sample of the questions; their embeddings and the
    token vectors of the chunks are in memory by then.
    """

    name: str
    retrieval: str
    metrics: Mapping[str, float]
    questions: int
    milliseconds: float


@dataclass(frozen=True)
class GateResult:
    """One gate: cross-fitted rates, AUROC over all labelled questions (None with one kind only), its score of each.

    ``quality`` holds its other figures.
    """

    name: str
    fit: CrossFit
    auroc: float | None
    scores: Mapping[str, float] = field(repr=False)
    quality: GateQuality | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Hardness:
    """How hard the labels are: nDCG@10 of words alone, AUROC and medians of the best cosine alone."""

    lexical_ndcg: float
    cosine_auroc: float | None
    median_cosine: Mapping[str, float]


@dataclass(frozen=True)
class Outcome:
    """A whole evaluation.

    Attributes:
        comparison: with the baseline; None without one.
        corpus_digest: of the files of the corpus.
        questions: the labels that were asked.
        interrupted: why not all labels were asked; "" if they were.
        filtered: the labels were chosen by a filter.
        drafts: labels that nobody has reviewed: left out, or the only ones, and then nothing is judged by them.
    """

    corpus: Mapping[str, int]
    labels: Mapping[str, int]
    settings: Sequence[SettingResult]
    gates: Sequence[GateResult]
    certificate: Certificate
    hardness: Hardness
    checks: Sequence[Check]
    ranked: Sequence[RankedQuestion]
    main: str
    gate: str
    alpha: float
    delta: float
    fingerprint: Mapping[str, str]
    import_line: str
    imported: bool
    complete: bool
    seconds: Mapping[str, float]
    judge_calls: int = 0
    comparison: Comparison | None = None
    corpus_digest: str = ""
    questions: Sequence[Label] = field(default=(), repr=False)
    interrupted: str = ""
    filtered: bool = False
    drafts: int = 0

    @property
    def judged(self) -> bool:
        """Whether anything is judged by the labels: not where all are drafts."""
        return self.drafts < len(self.questions) or not self.drafts

    @property
    def warnings(self) -> list[str]:
        """What is to be looked at and fails nothing unless ``strict``."""
        return [str(one) for one in self.comparison.warned] if self.comparison else []

    def exit_code(self, *, strict: bool = False) -> int:
        """What the command leaves with: 3 incomplete, 1 a check failed, 4 not comparable, 5 not calibrated, or 0."""
        if not self.complete or self.interrupted:
            return 3
        codes = {check.code for check in self.checks if not check.passed}
        if strict and self.warnings:
            codes.add(1)
        if self.comparison is not None and not self.comparison.comparable:
            codes.add(4)
        return min(codes, default=0)

    def record(self, name: str = "this run") -> Record:
        """The main setting's values, to be compared."""
        rows = {row.label: row for row in self.ranked if row.setting == self.main}
        return Record(
            name,
            self.main,
            self.setting_result(self.main).retrieval,
            self.fingerprint.get("embedding model", ""),
            self.corpus_digest,
            {one.id: label_digest(one.question, one.grades) for one in self.questions if one.id in rows},
            {key: row.values for key, row in rows.items()},
            {key: row.missed for key, row in rows.items() if row.missed},
        )

    @property
    def passed(self) -> int:
        """Number of checks that passed."""
        return sum(check.passed for check in self.checks)

    @property
    def failed(self) -> int:
        """Number of checks that failed."""
        return len(self.checks) - self.passed

    def gate_result(self, name: str) -> GateResult:
        """The result of one gate."""
        return next(gate for gate in self.gates if gate.name == name)

    def setting_result(self, name: str) -> SettingResult:
        """The result of one retrieval setting."""
        return next(setting for setting in self.settings if setting.name == name)

    def to_dict(self) -> dict[str, Any]:
        """summary.json: the same for the same input, so without times and what the database counts."""
        certificate = self.certificate.to_dict()
        for passing in ("created", "since", "corpus"):
            certificate.pop(passing)
        return {
            "schema": SCHEMA,
            "verdict": {
                "passed": self.passed,
                "failed": self.failed,
                "complete": self.complete and not self.interrupted,
                "warnings": self.warnings,
            },
            "corpus": dict(self.corpus),
            "corpus_digest": self.corpus_digest,
            "drafts": self.drafts,
            "interrupted": self.interrupted,
            "labels": dict(self.labels),
            "settings": [
                {"name": s.name, "retrieval": s.retrieval, "questions": s.questions, "metrics": rounded(s.metrics)}
                for s in self.settings
            ],
            "gates": [_gate_dict(gate) for gate in self.gates],
            "certificate": certificate,
            "hardness": {
                "lexical_ndcg@10": round(self.hardness.lexical_ndcg, 6),
                "cosine_auroc": rounded_or_none(self.hardness.cosine_auroc),
                "median_cosine": rounded(self.hardness.median_cosine),
            },
            "checks": [{"name": c.name, "passed": c.passed, "detail": c.detail} for c in self.checks],
            "comparison": self.comparison.to_dict() if self.comparison else None,
            "main": self.main,
            "gate": self.gate,
            "alpha": self.alpha,
            "delta": self.delta,
            "fingerprint": dict(self.fingerprint),
        }


def rounded(values: Mapping[str, float]) -> dict[str, float]:
    """Values to six digits, as they are written to files."""
    return {name: round(value, 6) for name, value in values.items()}


def rounded_or_none(value: float | None) -> float | None:
    """A value to six digits, if there is one."""
    return None if value is None else round(value, 6)


def _missed(doc: str, ranks: ChannelRanks) -> str:
    """Where a document stands and, from that, which part loses it."""
    fused, dense, lexical = (f"at {rank}" if rank else "nowhere" for rank in ranks)
    if not ranks.dense and not ranks.lexical:
        why = "neither channel finds it"
    elif 0 < min(rank or 10_000 for rank in ranks[1:]) <= 2:
        why = "one channel has it in front, the fusion or reranker moves it back"
    else:
        why = "both channels have others in front"
    return f"{doc}: ranked {fused}, by meaning {dense}, by words {lexical}: {why}"


def _gate_dict(gate: GateResult) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": gate.name,
        "auroc": rounded_or_none(gate.auroc),
        "feasible": gate.fit.feasible,
        "thresholds": [c.threshold for c in gate.fit.calibrations],
        "answered": _count_dict(gate.fit.answered),
        "false_answers": _count_dict(gate.fit.false_answers),
        "strata": {name: _count_dict(value) for name, value in gate.fit.strata.items()},
    }
    if gate.quality:
        found |= {
            "figures": {name: _figure_dict(figure) for name, figure in gate.quality.figures.items()},
            "replies": gate.quality.truthfulness._asdict(),
            "wrong_context": _count_dict(gate.quality.wrong_context),
            "reliability": [_bin_dict(one) for one in gate.quality.bins],
        }
    return found


def _count_dict(count: Count) -> dict[str, Any]:
    low, high = count.interval
    return {"x": count.x, "n": count.n, "low": round(low, 6), "high": round(high, 6)}


def _figure_dict(figure: Figure) -> dict[str, Any]:
    low, high = figure.interval or (None, None)
    return {"value": rounded_or_none(figure.value), "low": rounded_or_none(low), "high": rounded_or_none(high)}


def _bin_dict(one: Bin) -> dict[str, Any]:
    return {
        "from": one.low,
        "to": one.high,
        "mean_score": round(one.mean, 6),
        "answerable": _count_dict(one.answerable),
    }
