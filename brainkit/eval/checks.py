"""What has to hold for an evaluation to pass: each check by name, with what was found."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from scipy.special import bdtrc

from brainkit.eval.comparison import Comparison
from brainkit.eval.config import EvalConfig
from brainkit.eval.outcome import Check, GateResult, RankedQuestion, SettingResult
from brainkit.gate import Certificate
from brainkit.ingestion import ImportReport
from brainkit.labels import Label

SIGNIFICANCE = 0.05
INCOMPARABLE, INFEASIBLE = 4, 5


def run_checks(
    config: EvalConfig,
    report: ImportReport,
    settings: Sequence[SettingResult],
    gates: Sequence[GateResult],
    ranked: Sequence[RankedQuestion],
    labels: Sequence[Label],
    certificate: Certificate,
    find_texts: Callable[[str], int],
    comparison: Comparison | None = None,
    *,
    drafts: bool = False,
) -> list[Check]:
    """All checks, in the order of the report.

    Args:
        config: what was asked for.
        report: of the import.
        settings: means by retrieval setting.
        gates: cross-fitted rates by gate.
        ranked: every answerable question under every setting.
        labels: the labelled questions.
        certificate: of the gate in use.
        find_texts: number of stored texts that hold a string.
        comparison: with the baseline, if there is one.
        drafts: the labels are drafts that nobody has reviewed: nothing is judged by them.
    """
    main = next(s for s in settings if s.name == config.main)
    found = [
        Check(
            "import",
            report.complete,
            str(len(report.failed)) + " files failed, " + str(report.pending) + " chunks wait",
        ),
        Check("labels", True, f"{len(labels)} labels fit the notes"),
    ]
    if not drafts:
        found += [
            *_floors(config, main),
            _fusion(config, main, settings),
            _must_pass(config, ranked, labels),
            *_regression(comparison),
            _false_answers(config, next(g for g in gates if g.name == config.gate)),
            Check("certificate", certificate.feasible, certificate.promise(), INFEASIBLE),
        ]
    if config.planted is not None:
        secrets = [json.loads(line)["secret"] for line in config.planted.read_text("utf-8").splitlines() if line]
        leaked = sum(find_texts(secret) > 0 for secret in secrets)
        found.append(Check("secrets", leaked == 0, f"{leaked} of {len(secrets)} planted secrets are in the brain"))
    return found


def _regression(comparison: Comparison | None) -> list[Check]:
    """Each gated metric against the baseline."""
    if comparison is None:
        return []
    if not comparison.comparable:
        return [Check("baseline", False, "; ".join(comparison.hindrances), INCOMPARABLE)]
    return [Check(f"regression {one.metric}", one.verdict != "regression", str(one)) for one in comparison.metrics]


def _floors(config: EvalConfig, main: SettingResult) -> list[Check]:
    return [
        Check(
            f"floor {name}", main.metrics[name] >= floor, f"{config.main}: {main.metrics[name]:.3f}, floor {floor:.3f}"
        )
        for name, floor in config.floors.items()
    ]


def _fusion(config: EvalConfig, main: SettingResult, settings: Sequence[SettingResult]) -> Check:
    best = max(settings, key=lambda s: s.metrics["nDCG@10"])
    gap = best.metrics["nDCG@10"] - main.metrics["nDCG@10"]
    return Check(
        "best setting",
        gap <= config.slack,
        f"{config.main} {main.metrics['nDCG@10']:.3f} nDCG@10, best is {best.name} {best.metrics['nDCG@10']:.3f}",
    )


def _must_pass(config: EvalConfig, ranked: Sequence[RankedQuestion], labels: Sequence[Label]) -> Check:
    wanted = {label.id for label in labels if label.must_pass and label.answerable}
    broken = sorted(
        row.label for row in ranked
        if row.label in wanted and row.setting == config.main and not row.metrics["hit@2"]
    )  # fmt: skip
    detail = f"{len(wanted) - len(broken)} of {len(wanted)} must-pass questions have their note among the first two"
    return Check("must pass", not broken, detail + (f"; broken: {', '.join(broken)}" if broken else ""))


def _false_answers(config: EvalConfig, gate: GateResult) -> Check:
    """Too many for alpha when a gate of exactly that rate would give as many with probability below .05."""
    count = gate.fit.false_answers
    if not count.n:
        return Check("false answers", False, f"{gate.name}: too few unanswerable labels to judge", INFEASIBLE)
    tail = 1.0 if count.x == 0 else float(bdtrc(count.x - 1, count.n, config.alpha))
    detail = f"{gate.name}: {count.x} of {count.n} cross-fitted, {config.alpha:.0%} promised"
    return Check("false answers", tail >= SIGNIFICANCE, detail)
