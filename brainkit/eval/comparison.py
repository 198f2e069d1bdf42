"""Hold one evaluation against another, question by question, and say whether anything got worse or only moved.

The rule was chosen by simulation. A mean that fell by more than .02 alone alarms on a fifth to a third of unchanged
runs of 30 to 100 questions; so a metric has regressed only if the paired test finds its fall (Holm-adjusted over the
gated metrics) **and** the fall is over the tolerance. A fall over the tolerance that may be chance is a warning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from brainkit.errors import BaselineError
from brainkit.eval.stats import PairedTest, bootstrap_interval, holm, sign_flip_test, smallest_detectable_drop
from brainkit.gate.calibration import Interval

LEVEL: Final = 0.05
HIT: Final = "hit@2"
CONTEXT: Final = "context"
"""1 if a relevant document, or a near-copy of one, is among those that an answer is given, else 0; broken and fixed
questions are told by it, or by hit@2 where it was not looked at."""
Verdict = Literal["identical", "no difference", "better", "warning", "regression"]


@dataclass(frozen=True)
class Record:
    """What an evaluation leaves to be compared with.

    Attributes:
        name: of the run or file.
        setting: name of the retrieval setting the values are of.
        retrieval: its string.
        model: fingerprint of the embedding model.
        corpus: digest of the notes.
        labels: digest of each answerable label, by id.
        values: of each metric, by label id.
        remarks: on missed questions, by label id: question, wanted documents, why.
    """

    name: str
    setting: str
    retrieval: str
    model: str
    corpus: str
    labels: Mapping[str, str] = field(repr=False)
    values: Mapping[str, Mapping[str, float]] = field(repr=False)
    remarks: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def metrics(self) -> frozenset[str]:
        """Names that every question has a value of."""
        each = [frozenset(values) for values in self.values.values()]
        return frozenset.intersection(*each) if each else frozenset()


@dataclass(frozen=True)
class MetricChange:
    """How the mean of one metric changed.

    Attributes:
        before: mean of the earlier run, 0..1.
        after: mean of this one.
        test: paired sign-flip test of the differences.
        p: its p-value, Holm-adjusted over the gated metrics.
        interval: 95 % bootstrap interval of the mean difference; None for fewer than two questions.
        detectable: the smallest fall that would have been found four times in five; None with too few questions.
    """

    metric: str
    before: float
    after: float
    test: PairedTest
    p: float
    interval: Interval | None
    detectable: float | None
    verdict: Verdict

    def __str__(self) -> str:
        """One line, as it stands in reports."""
        if self.verdict == "identical":
            return f"{self.metric} {self.after:.3f}: identical, no question of {self.test.n} changed{self._finds()}"
        spread = f", 95 % interval {self.interval.low:+.3f} to {self.interval.high:+.3f}" if self.interval else ""
        chance = f"p {self.p:.3f}" if self.p >= 0.001 else "p < 0.001"
        return (
            f"{self.metric} {self.before:.3f} -> {self.after:.3f} ({self.test.mean:+.3f}{spread}, {chance}, "
            f"{self.test.changed} of {self.test.n} questions changed): {self.verdict}{self._finds()}"
        )

    def _finds(self) -> str:
        if self.detectable is None:
            return "; so few questions can show no fall at all"
        return f"; a fall of {self.detectable:.3f} would have been found"


@dataclass(frozen=True)
class QuestionChange:
    """A question whose note is no longer, or now, among those an answer is given; ``remark`` says why it is missed."""

    label: str
    before: Mapping[str, float]
    after: Mapping[str, float]
    remark: str = ""


@dataclass(frozen=True)
class Comparison:
    """One evaluation against an earlier one.

    Attributes:
        before: name of the earlier one.
        after: name of this one.
        metrics: the gated ones.
        broken: questions whose answer was given a relevant note, and is not.
        fixed: the other way round.
        hindrances: why the two cannot be compared; then there are no metrics.
        notes: what differs and may explain a difference.
    """

    before: str
    after: str
    metrics: tuple[MetricChange, ...] = ()
    broken: tuple[QuestionChange, ...] = ()
    fixed: tuple[QuestionChange, ...] = ()
    hindrances: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def comparable(self) -> bool:
        """Whether they could be compared."""
        return not self.hindrances

    @property
    def regressed(self) -> tuple[MetricChange, ...]:
        """Metrics that got worse."""
        return tuple(one for one in self.metrics if one.verdict == "regression")

    @property
    def warned(self) -> tuple[MetricChange, ...]:
        """Metrics that fell by more than the tolerance, which may be chance."""
        return tuple(one for one in self.metrics if one.verdict == "warning")

    @property
    def identical(self) -> bool:
        """Whether no question changed in any metric."""
        return bool(self.metrics) and all(one.verdict == "identical" for one in self.metrics)

    @property
    def verdict(self) -> str:
        """``regression``, ``warning``, ``identical``, ``no regression`` or ``not comparable``."""
        if not self.comparable:
            return "not comparable"
        if self.identical:
            return "identical"
        return "regression" if self.regressed else "warning" if self.warned else "no regression"

    def to_dict(self) -> dict[str, Any]:
        """For summary.json and ``--json``."""
        return {
            "before": self.before,
            "verdict": self.verdict,
            "metrics": [_metric_dict(one) for one in self.metrics],
            "broken": [_question_dict(one) for one in self.broken],
            "fixed": [_question_dict(one) for one in self.fixed],
            "hindrances": list(self.hindrances),
            "notes": list(self.notes),
        }


def compare(
    before: Record, after: Record, *, gated: Sequence[str], tolerance: float, subset: bool = False
) -> Comparison:
    """``after`` against ``before``; whoever compares says by ``hindrances`` what else must be equal.

    Args:
        before: the earlier run.
        after: this run.
        gated: metrics to look at, which the p-values are adjusted over.
        tolerance: fall of a mean, 0..1, up to which nothing is said.
        subset: whether ``after`` may lack questions of ``before``.

    Raises:
        BaselineError: they have other questions, or a metric is missing; the message names them.
    """
    shared = _shared(before, after, subset=subset)
    if missing := sorted(set(gated) - (before.metrics & after.metrics)):
        raise BaselineError(f"{before.name} and {after.name} do not both have {', '.join(missing)}")
    return Comparison(
        before.name,
        after.name,
        metrics=tuple(_changes(before, after, shared, gated, tolerance)),
        broken=_moved(before, after, shared, -1),
        fixed=_moved(before, after, shared, +1),
        notes=tuple(_notes(before, after)),
    )


def _shared(before: Record, after: Record, *, subset: bool) -> list[str]:
    new = sorted(set(after.labels) - set(before.labels))
    gone = [] if subset else sorted(set(before.labels) - set(after.labels))
    shared = sorted(set(before.labels) & set(after.labels))
    changed = [one for one in shared if before.labels[one] != after.labels[one]]
    faults = [
        f"{len(ids)} questions are {how}: {', '.join(ids[:5])}{' ...' if len(ids) > 5 else ''}"
        for how, ids in (("new", new), ("gone", gone), ("changed", changed))
        if ids
    ]
    if faults or not shared:
        what = "; ".join(faults) or "they share no question"
        raise BaselineError(f"{after.name} and {before.name} were not asked the same: {what}")
    return shared


def _changes(
    before: Record, after: Record, shared: Sequence[str], gated: Sequence[str], tolerance: float
) -> list[MetricChange]:
    differences = {
        metric: [after.values[one][metric] - before.values[one][metric] for one in shared] for metric in gated
    }
    tests = {metric: sign_flip_test(values) for metric, values in differences.items()}
    adjusted = dict(zip(tests, holm([test.p for test in tests.values()]), strict=True))
    found = []
    for metric, test in tests.items():
        old, new = (math.fsum(one.values[key][metric] for key in shared) / len(shared) for one in (before, after))
        interval = bootstrap_interval(differences[metric]) if test.changed else None
        level = LEVEL / len(gated)  # the smallest p-value of a family is multiplied by its size
        detectable = smallest_detectable_drop(differences[metric], level=level)
        if detectable is None:
            detectable = _fewest_broken(len(shared), level)
        p = adjusted[metric]
        verdict = _verdict(test, p, tolerance)
        found.append(MetricChange(metric, old, new, test, p, interval, detectable, verdict))
    return found


def _verdict(test: PairedTest, p: float, tolerance: float) -> Verdict:
    if test.identical:
        return "identical"
    fell = -test.mean > tolerance + 1e-12
    if p < LEVEL:
        return "regression" if fell else "better" if test.mean > 0 else "no difference"
    return "warning" if fell else "no difference"


def _fewest_broken(questions: int, level: float) -> float | None:
    """Share of the questions that would have to break, none being fixed, for the exact test to find it."""
    fewest = math.floor(1 - math.log2(level)) + 1  # 2^(1 - fewest) < level
    return fewest / questions if fewest <= questions else None


def _moved(before: Record, after: Record, shared: Sequence[str], sign: int) -> tuple[QuestionChange, ...]:
    both = before.metrics & after.metrics
    told_by = CONTEXT if CONTEXT in both else HIT
    if told_by not in both:
        return ()
    return tuple(
        QuestionChange(one, before.values[one], after.values[one], after.remarks.get(one, ""))
        for one in shared
        if (after.values[one][told_by] - before.values[one][told_by]) * sign > 0
    )


def _notes(before: Record, after: Record) -> list[str]:
    named = (("retrieval", before.retrieval, after.retrieval), ("model", before.model, after.model),
             ("notes", before.corpus, after.corpus))  # fmt: skip
    return [f"another {what}: {_short(old)} -> {_short(new)}" for what, old, new in named if old != new]


def _short(text: str) -> str:
    return text if len(text) < 64 or "(" in text else text[:12]


def _metric_dict(one: MetricChange) -> dict[str, Any]:
    low, high = (round(one.interval.low, 6), round(one.interval.high, 6)) if one.interval else (None, None)
    return {
        "metric": one.metric,
        "before": round(one.before, 6),
        "after": round(one.after, 6),
        "difference": {"mean": round(one.test.mean, 6), "low": low, "high": high},
        "changed": one.test.changed,
        "questions": one.test.n,
        "p": round(one.p, 6),
        "detectable": None if one.detectable is None else round(one.detectable, 6),
        "verdict": one.verdict,
    }


def _question_dict(one: QuestionChange) -> dict[str, Any]:
    return {"id": one.label, "before": dict(one.before), "after": dict(one.after), "remark": one.remark}
