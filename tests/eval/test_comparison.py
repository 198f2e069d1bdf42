"""The regression rule: hand-counted changes, p-values against scipy, and its rates of alarm by simulation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from brainkit.errors import BaselineError
from brainkit.eval.comparison import CONTEXT, HIT, Record, compare
from brainkit.eval.stats import sign_flip_test

ONE = ("hit@2",)


def record(values, name="r", metric="hit@2", **changes):
    ids = [f"q{number:03}" for number in range(len(values))]
    made = Record(
        name, "hybrid", "hybrid()", "m" * 64, "c", dict.fromkeys(ids, "l"),
        {key: {metric: float(value)} for key, value in zip(ids, values, strict=True)},
    )  # fmt: skip
    return replace(made, **changes)


def moved(questions, broken, fixed=0):
    """Two runs: of so many questions some broke and some were fixed."""
    before = [1] * broken + [0] * fixed + [1] * (questions - broken - fixed)
    after = [0] * broken + [1] * fixed + [1] * (questions - broken - fixed)
    return record(before, "before"), record(after, "after")


def only(found):
    (change,) = found.metrics
    return change


@pytest.mark.parametrize(
    ("questions", "broken", "fixed", "verdict"),
    [
        (100, 0, 0, "identical"),
        (100, 6, 0, "regression"),  # 2 / 2^6 = .03
        (100, 5, 0, "warning"),  # 2 / 2^5 = .06, by five points
        (100, 2, 0, "no difference"),  # two points are the tolerance
        (1000, 12, 0, "no difference"),  # significant, and within the tolerance
        (1000, 21, 0, "regression"),
        (100, 0, 6, "better"),
        (100, 0, 5, "no difference"),
        (100, 5, 5, "no difference"),
        (30, 1, 0, "warning"),
    ],
)
def test_a_fall_counts_if_it_is_over_the_tolerance_and_more_than_chance(questions, broken, fixed, verdict):
    found = compare(*moved(questions, broken, fixed), gated=ONE, tolerance=0.02)
    assert only(found).verdict == verdict
    assert found.verdict == {"better": "no regression", "no difference": "no regression"}.get(verdict, verdict)
    assert (len(found.broken), len(found.fixed)) == (broken, fixed)
    assert bool(found.regressed) == (verdict == "regression")
    assert found.identical == (broken == fixed == 0)


@pytest.mark.parametrize(("broken", "fixed"), [(7, 1), (12, 2), (9, 9), (3, 0), (0, 8)])
def test_of_questions_that_hit_or_miss_it_is_the_binomial_test(broken, fixed):
    change = only(compare(*moved(200, broken, fixed), gated=ONE, tolerance=0.02))
    assert change.test.p == pytest.approx(stats.binomtest(broken, broken + fixed).pvalue, abs=0.01)
    assert change.test.mean == pytest.approx((fixed - broken) / 200)


def test_several_metrics_share_their_chances_of_a_false_alarm():
    before, after = moved(100, 6)
    both = [
        replace(one, values={key: {HIT: row[HIT], "other": row[HIT]} for key, row in one.values.items()})
        for one in (before, after)
    ]
    alone = only(compare(before, after, gated=ONE, tolerance=0.02))
    together = compare(*both, gated=(HIT, "other"), tolerance=0.02)
    assert alone.p == pytest.approx(2 / 2**6)
    assert [one.p for one in together.metrics] == pytest.approx([4 / 2**6] * 2)
    assert together.verdict == "warning"


def test_what_could_have_been_found_is_told_even_where_nothing_changed():
    change = only(compare(*moved(100, 0), gated=ONE, tolerance=0.02))
    assert change.detectable == 6 / 100  # 2 / 2^5 is over .05, 2 / 2^6 is not
    assert str(change) == "hit@2 1.000: identical, no question of 100 changed; a fall of 0.060 would have been found"
    assert only(compare(*moved(5, 0), gated=ONE, tolerance=0.02)).detectable is None


def test_broken_questions_are_told_by_the_context_and_say_why():
    before, after = moved(40, 2)
    after = replace(after, remarks={"q000": "nas.md: neither channel finds it"})
    found = compare(before, after, gated=ONE, tolerance=0.02)
    assert [(one.label, one.remark) for one in found.broken] == [
        ("q000", "nas.md: neither channel finds it"), ("q001", ""),
    ]  # fmt: skip
    with_context = [
        replace(one, values={key: {**row, CONTEXT: context} for key, row in one.values.items()})
        for one, context in ((before, 1.0), (after, 1.0))
    ]
    assert compare(*with_context, gated=ONE, tolerance=0.02).broken == ()


def test_other_questions_cannot_be_compared():
    before, after = record([1, 1, 1], "old"), record([1, 1], "new")
    with pytest.raises(
        BaselineError, match=r"new and old were not asked the same: 1 questions are gone: q002"
    ) as error:
        compare(before, after, gated=ONE, tolerance=0.02)
    assert error.value.exit_code == 4
    assert compare(before, after, gated=ONE, tolerance=0.02, subset=True).identical
    with pytest.raises(BaselineError, match="1 questions are new: q002"):
        compare(after, before, gated=ONE, tolerance=0.02, subset=True)
    reworded = replace(after, labels={"q000": "l", "q001": "x"})
    with pytest.raises(BaselineError, match="1 questions are changed: q001"):
        compare(after, reworded, gated=ONE, tolerance=0.02)
    with pytest.raises(BaselineError, match="do not both have nDCG@10"):
        compare(after, after, gated=("nDCG@10",), tolerance=0.02)


def test_another_model_or_retrieval_is_noted():
    before, after = moved(40, 0)
    found = compare(before, replace(after, model="n" * 64, retrieval="dense(30)"), gated=ONE, tolerance=0.02)
    assert found.notes == ("another retrieval: hybrid() -> dense(30)", "another model: mmmmmmmmmmmm -> nnnnnnnnnnnn")


# The rates, by simulation: a tenth of the questions come out otherwise, half of them better, half of them worse


def alarms(questions, lose, win, runs, seed):
    """Share of runs that a fall of the mean alone, and the rule, call worse."""
    rng = np.random.default_rng(seed)
    by_mean = by_rule = 0
    for _ in range(runs):
        drawn = rng.random(questions)
        differences = np.where(drawn < lose, -1.0, np.where(drawn < lose + win, 1.0, 0.0))
        fell = -differences.mean() > 0.02 + 1e-12
        by_mean += fell
        if fell:  # the rule needs it, too
            before = record((differences <= 0).astype(float))
            after = record((differences >= 0).astype(float))
            by_rule += compare(before, after, gated=ONE, tolerance=0.02).verdict == "regression"
    return by_mean / runs, by_rule / runs


@pytest.mark.parametrize("questions", [30, 100])
def test_an_unchanged_system_seldom_alarms(questions):
    by_mean, by_rule = alarms(questions, 0.05, 0.05, 200, seed=questions)
    assert 0.15 < by_mean < 0.45  # a fall of the mean by two points is no sign of anything
    assert by_rule <= 0.05


def test_ten_points_are_found_with_a_hundred_questions_and_not_with_thirty():
    assert alarms(30, 0.1, 0, 100, seed=1)[1] < 0.3
    assert alarms(100, 0.1, 0, 100, seed=1)[1] > 0.85


def test_the_draws_are_the_same_every_time():
    differences = np.random.default_rng(3).normal(size=80)
    assert sign_flip_test(differences) == sign_flip_test(differences)
