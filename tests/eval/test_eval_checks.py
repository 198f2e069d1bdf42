"""What has to hold: each check at its edge, against scipy and by hand."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from brainkit.eval.checks import run_checks
from brainkit.eval.config import EvalConfig
from brainkit.eval.outcome import GateResult, RankedQuestion, SettingResult
from brainkit.gate import Calibration, Certificate, Count, CrossFit
from brainkit.ingestion import FileOutcome, ImportReport
from brainkit.labels import Label, Relevant

CONFIG = EvalConfig(
    corpus=Path("c"), labels=Path("q"), planted=None, settings={}, main="hybrid", gates=("score",), gate="score",
    alpha=0.1, delta=0.1, floors={}, slack=0.01,
)  # fmt: skip
CERTIFICATE = Certificate("score", 0.4, 0.1, 0.1, 60, 2, 22, 10, 5, {}, {})
LABELS = [Label("a", "?", True, (Relevant("a.md"),), must_pass=True), Label("b", "?", True, (Relevant("b.md"),))]


def setting(name, ndcg, hit=1.0):
    return SettingResult(name, name, {"nDCG@10": ndcg, "recall@10": 1.0, "MRR@10": 1.0, "hit@2": hit}, 2, 1.0)


def gate(x, n):
    calibration = Calibration(0.4, n, 2, 0.1, 0.1, 22)
    return GateResult("score", CrossFit((calibration, calibration), Count(5, 10), Count(x, n), {}), 0.9, {})


def checks(
    config=CONFIG,
    report=None,
    settings=None,
    gates=None,
    hits=(1.0, 1.0),
    certificate=CERTIFICATE,
    find_texts=lambda _: 0,
):
    ranked = [
        RankedQuestion(label.id, name, {"hit@2": hit if name == "hybrid" else 0.0}, 1, (), 1.0)
        for label, hit in zip(LABELS, hits, strict=True)
        for name in ("hybrid", "dense")
    ]
    found = run_checks(
        config, report or ImportReport(), settings or [setting("hybrid", 0.9)], gates or [gate(0, 60)], ranked, LABELS,
        certificate, find_texts,
    )  # fmt: skip
    return {check.name: check for check in found}


def test_all_pass_where_nothing_is_wrong():
    found = checks()
    assert list(found) == ["import", "labels", "best setting", "must pass", "false answers", "certificate"]
    assert all(check.passed for check in found.values())


@pytest.mark.parametrize("n", [1, 20, 60, 130])
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
def test_too_many_false_answers_are_those_a_gate_of_exactly_alpha_gives_in_less_than_one_of_twenty(n, alpha):
    for x in range(n + 1):
        found = checks(replace(CONFIG, alpha=alpha), gates=[gate(x, n)])["false answers"]
        assert found.passed == (stats.binom.sf(x - 1, n, alpha) >= 0.05)
        assert found.detail == f"score: {x} of {n} cross-fitted, {100 * alpha:.0f}% promised"


def test_nothing_to_judge_false_answers_by_is_a_failure():
    found = checks(gates=[gate(0, 0)])["false answers"]
    assert (found.passed, found.detail) == (False, "score: too few unanswerable labels to judge")


def test_an_incomplete_import_fails():
    report = ImportReport(failed=[FileOutcome("a", "b")], pending=7)
    assert checks(report=report)["import"][:3] == ("import", False, "1 files failed, 7 chunks wait")


@pytest.mark.parametrize(("floor", "passed"), [(0.9, True), (0.9000001, False)])
def test_a_floor_is_the_lowest_value_allowed(floor, passed):
    found = checks(replace(CONFIG, floors={"nDCG@10": floor, "hit@2": 0.5}))
    assert found["floor nDCG@10"].passed == passed
    assert found["floor hit@2"].passed


@pytest.mark.parametrize(("best", "passed"), [(0.91, True), (0.92, False), (0.5, True)])
def test_the_main_setting_may_fall_behind_by_the_slack(best, passed):
    found = checks(replace(CONFIG, slack=0.015), settings=[setting("hybrid", 0.9), setting("dense", best)])[
        "best setting"
    ]
    assert found.passed == passed
    winner = "dense" if best > 0.9 else "hybrid"
    assert found.detail == f"hybrid 0.900 nDCG@10, best is {winner} {max(best, 0.9):.3f}"


def test_a_must_pass_question_that_breaks_is_named_and_others_may_miss():
    assert checks(hits=(1.0, 0.0))["must pass"].passed
    broken = checks(hits=(0.0, 1.0))["must pass"]
    assert broken[:3] == (
        "must pass", False, "0 of 1 must-pass questions have their note among the first two; broken: a",
    )  # fmt: skip


def test_an_infeasible_certificate_fails_with_its_words():
    found = checks(certificate=replace(CERTIFICATE, threshold=None, n=5))["certificate"]
    assert not found.passed
    assert found.detail.startswith("Not certified: 5 ")


def test_planted_secrets_that_are_in_the_brain_are_counted(tmp_path):
    planted = tmp_path / "planted-fake-secrets.jsonl"
    planted.write_text("\n".join(json.dumps({"doc": "d", "secret": s, "kind": "k"}) for s in ("one", "two")) + "\n\n")
    config = replace(CONFIG, planted=planted)
    assert checks(config)["secrets"].passed
    found = checks(config, find_texts=lambda text: 3 * (text == "two"))["secrets"]
    assert found[:3] == ("secrets", False, "1 of 2 planted secrets are in the brain")
