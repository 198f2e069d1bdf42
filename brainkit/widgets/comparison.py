"""Gates side by side on the same labelled questions, and whether they differ by more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brainkit.errors import UsageError
from brainkit.eval.config import EvalConfig
from brainkit.eval.crossfit import judge_gate
from brainkit.eval.outcome import GateResult
from brainkit.eval.report import decimals, percent, with_interval
from brainkit.eval.stats import PairedTest, holm, sign_flip_test
from brainkit.gate import Count, Scored, cross_fit
from brainkit.labels import STRATA, Label
from brainkit.widgets.workbench import Workbench

if TYPE_CHECKING:
    import pandas as pd

GATES = ("seed", "cosine", "score", "evidence")


class Pair(NamedTuple):
    """Gate ``a`` against ``b`` on the same questions of one kind: by how much the share that ``a`` answers is larger.

    ``p`` is adjusted for all comparisons of the table.
    """

    a: str
    b: str
    kind: str
    test: PairedTest
    p: float


@dataclass(frozen=True)
class Comparison:
    """Cross-fitted results of several gates.

    Attributes:
        results: by gate.
        pairs: every two gates, on the answerable and on the unanswerable questions; those without a threshold left out.
        alpha: highest share of false answers the thresholds were certified for.
        delta: probability that one breaks it.
    """

    results: Sequence[GateResult]
    pairs: Sequence[Pair]
    alpha: float
    delta: float

    def table(self) -> pd.DataFrame:
        """One row a gate: AUROC, percent answered and false answers by stratum, with 95 % intervals."""
        import pandas as pd

        found = {name for result in self.results for name in result.fit.strata}
        strata = [name for name in (*STRATA, *sorted(found - set(STRATA))) if name in found]
        rows = [
            {
                "AUROC": decimals(result.auroc),
                "answered %": with_interval(result.fit.answered),
                "false answers %": with_interval(result.fit.false_answers),
                **{
                    f"{name.replace('_', ' ')} %": with_interval(result.fit.strata.get(name, Count(0, 0)))
                    for name in strata
                },
            }
            for result in self.results
        ]
        return pd.DataFrame(rows, index=pd.Index([result.name for result in self.results], name="gate"))

    def significance(self) -> pd.DataFrame:
        """One row a pair of gates and kind of question: difference in points, questions that changed, adjusted p."""
        import pandas as pd

        rows = [
            {
                "gates": f"{pair.a} - {pair.b}",
                "questions": pair.kind,
                "difference": f"{100 * pair.test.mean:+.1f}",
                "changed": f"{pair.test.changed} of {pair.test.n}",
                "p (Holm)": f"{pair.p:.4f}",
                "significant": "yes" if pair.p < 0.05 else "no",
            }
            for pair in self.pairs
        ]
        columns = ["gates", "questions", "difference", "changed", "p (Holm)", "significant"]
        return pd.DataFrame(rows, columns=columns).set_index(["gates", "questions"])

    def __repr__(self) -> str:
        return "; ".join(
            f"{r.name}: {percent(r.fit.answered)} answered, {percent(r.fit.false_answers)} false answers"
            for r in self.results
        )


def compare_gates(
    bench: Workbench, gates: Sequence[str] = GATES, *, alpha: float = 0.1, delta: float = 0.1
) -> Comparison:
    """Judge gates by name on labels that did not set them (see ``judge_gate``), and test every two of them.

    Raises:
        UsageError: no labelled question, or alpha or delta is out of range.
        SettingsError: there is no such gate.
    """
    if not bench.labels:
        raise UsageError(f"{bench.file}: no labelled question; make some with 04_label_questions.ipynb")
    config = EvalConfig(
        Path(), bench.file, None, {}, main="", gates=tuple(gates), gate="", alpha=alpha, delta=delta, floors={}, slack=0
    )
    embedder = bench.brain.settings.embedder
    results = [judge_gate(name, bench.labels, bench.labelled, embedder, config) for name in gates]
    first = _first_half(bench.labels, alpha, delta)
    decided = {result.name: _decisions(result, first) for result in results if result.fit.feasible}
    return Comparison(results, _pairs(bench.labels, decided), alpha, delta)


def _first_half(labels: Sequence[Label], alpha: float, delta: float) -> frozenset[str]:
    """The first half of the split that every gate is judged by: it depends on ids and strata alone."""
    halves: list[frozenset[str]] = []

    def remember(half: frozenset[str]) -> Mapping[str, float]:
        halves.append(half)
        return {}

    yes = [Scored(label.id, 0.0) for label in labels if label.answerable]
    no = [Scored(label.id, 0.0, label.stratum) for label in labels if not label.answerable]
    cross_fit(no, yes, alpha=alpha, delta=delta, refit=remember)
    return halves[0]


def _decisions(result: GateResult, first: frozenset[str]) -> dict[str, bool]:
    """Whether each question is answered, by the threshold of the half it is not in."""
    of_first, of_second = (calibration.threshold for calibration in result.fit.calibrations)
    assert of_first is not None
    assert of_second is not None
    return {name: score >= (of_second if name in first else of_first) for name, score in result.scores.items()}


def _pairs(labels: Sequence[Label], decided: Mapping[str, Mapping[str, bool]]) -> list[Pair]:
    """The more promising gate, which is the later one, comes first in a pair."""
    tests = []
    for earlier, later in combinations(decided, 2):
        for kind, answerable in (("answerable", True), ("unanswerable", False)):
            asked = [label.id for label in labels if label.answerable == answerable]
            differences = [float(decided[later][name]) - float(decided[earlier][name]) for name in asked]
            tests.append((later, earlier, kind, sign_flip_test(differences)))
    return [Pair(*test, p) for test, p in zip(tests, holm([test[-1].p for test in tests]), strict=True)]
