"""The exact threshold, its intervals and its cross-fitted rates, against tables, MAPIE and scipy."""

import doctest
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mapie.risk_control import BinaryClassificationController, control_fwer
from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value
from scipy import stats

import brainkit.gate.calibration
from brainkit.errors import UsageError
from brainkit.gate.calibration import (
    Count,
    Interval,
    Scored,
    allowed_false_answers,
    clopper_pearson,
    cross_fit,
    exact_threshold,
    labels_needed,
)

# Wilks' tables for 90 % confidence: labels needed for 0, 1, 2 and 5 false answers.
WILKS = {0.05: (45, 77, 105, 184), 0.10: (22, 38, 52, 91), 0.20: (11, 18, 25, 45)}
CASES = [(n, alpha, delta) for n in (22, 38, 60, 91, 150) for alpha in (0.05, 0.1, 0.2) for delta in (0.05, 0.1)]


@pytest.mark.parametrize("alpha", WILKS)
def test_labels_needed_are_those_of_the_published_tables(alpha):
    for false_answers, needed in zip((0, 1, 2, 5), WILKS[alpha], strict=True):
        assert labels_needed(alpha, 0.1, false_answers) == needed
        assert allowed_false_answers(needed, alpha, 0.1) == false_answers
        assert allowed_false_answers(needed - 1, alpha, 0.1) == false_answers - 1


@pytest.mark.parametrize(("n", "alpha", "delta"), CASES)
def test_allowed_count_is_the_last_one_under_delta_in_scipys_binomial(n, alpha, delta):
    k = allowed_false_answers(n, alpha, delta)
    assert k == -1 or stats.binom.cdf(k, n, alpha) <= delta
    assert stats.binom.cdf(k + 1, n, alpha) > delta


def test_allowed_count_without_and_with_very_many_labels():
    assert allowed_false_answers(0, 0.1, 0.1) == -1
    assert allowed_false_answers(1, 0.1, 0.1) == -1
    assert allowed_false_answers(1, 0.95, 0.1) == 0
    assert allowed_false_answers(100_000, 0.1, 0.1) == stats.binom.ppf(0.1, 100_000, 0.1) - 1
    assert labels_needed(0.95, 0.1) == 1


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.30000000000000004, -5.0]), max_size=120), st.sampled_from([0.1, 0.2]))
def test_whatever_ties_there_are_no_more_than_k_reach_the_threshold(scores, alpha):
    found = exact_threshold(scores, alpha, 0.1)
    assert found.n == len(scores)
    assert found.needed == WILKS[alpha][0]
    assert found.feasible == (found.threshold is not None) == (found.k >= 0) == (found.n >= found.needed)
    if found.threshold is not None:
        assert sum(score >= found.threshold for score in scores) <= found.k
        lower = math.nextafter(found.threshold, -math.inf)
        assert sum(score >= lower for score in scores) > found.k, "a lower threshold would have done"


def test_all_equal_scores_pass_none_of_them():
    found = exact_threshold([0.5] * 100, 0.1, 0.1)
    assert found.threshold == math.nextafter(0.5, 1)
    assert found.k == 5


@pytest.mark.parametrize(("n", "alpha", "delta"), CASES)
def test_never_stricter_than_mapie_and_equal_where_mapie_does_not_round(n, alpha, delta):
    rng = np.random.default_rng(n)
    no, yes = rng.uniform(0.01, 0.8, n), rng.uniform(0.3, 0.99, 40)
    ours = exact_threshold(no, alpha, delta)
    strictest_first = np.nextafter(np.sort(no)[::-1], 1)

    # The p-values of Learn-then-Test for 0, 1, 2, ... false answers; a hair less, as MAPIE rounds n * (k / n) up.
    p_values = compute_hoeffding_bentkus_p_value((np.arange(n) - 1e-9).clip(0) / n, n, alpha, binary=True)[:, 0]
    assert len(control_fwer(p_values, delta, "fixed_sequence")) - 1 == ours.k

    for method in ("fixed_sequence", "bonferroni_holm"):
        controller = BinaryClassificationController(
            predict_function=lambda x: np.column_stack([1 - x[:, 0], x[:, 0]]),
            risk="fpr",
            target_level=alpha,
            confidence_level=1 - delta,
            list_predict_params=strictest_first,
            fwer_method=method,
        )
        with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *_, **__: None)  # it warns where nothing can be certified
            controller.calibrate(np.r_[no, yes][:, None], np.r_[np.zeros(n, int), np.ones(40, int)])
        certified = controller.valid_predict_params
        if ours.threshold is None:
            assert len(certified) == 0
        elif len(certified):
            assert min(certified) >= ours.threshold


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_clopper_pearson_equals_scipys(confidence):
    for n in (1, 2, 10, 38, 400):
        for x in {0, 1, n // 3, n - 1, n}:
            expected = stats.binomtest(x, n).proportion_ci(confidence, method="exact")
            assert clopper_pearson(x, n, confidence) == pytest.approx((expected.low, expected.high), rel=1e-10)


def test_clopper_pearson_at_its_ends():
    assert clopper_pearson(0, 0) == Interval(0.0, 1.0)
    assert clopper_pearson(0, 10).low == 0.0
    assert clopper_pearson(10, 10).high == 1.0
    assert clopper_pearson(1, 10) == pytest.approx((0.0025, 0.4450), abs=5e-5)  # printed tables


def questions(n, stratum="missing_note", offset=0.0):
    return [Scored(f"{stratum}{i}", offset + i / 1000, stratum) for i in range(n)]


def test_cross_fit_counts_by_hand():
    # 22 a half at .1 / .1: no false answer allowed, each threshold lies just above the best of its half.
    unanswerable = questions(44)
    answerable = [Scored(f"yes{i}", 0.5) for i in range(6)] + [Scored(f"weak{i}", -1.0) for i in range(4)]
    found = cross_fit(unanswerable, answerable, alpha=0.1, delta=0.1, seed=1)
    assert found.feasible
    assert [(c.n, c.k) for c in found.calibrations] == [(22, 0), (22, 0)]
    assert found.answered == Count(6, 10)
    assert found.answered.rate == 0.6
    lower = min(c.threshold for c in found.calibrations)
    assert max(c.threshold for c in found.calibrations) == math.nextafter(0.043, 1)
    assert found.false_answers == Count(sum(s.score >= lower for s in unanswerable), 44)
    assert found.strata == {"missing_note": found.false_answers}
    assert found.false_answers.interval == clopper_pearson(found.false_answers.x, 44)


def test_cross_fit_by_stratum_adds_up_and_deals_each_stratum_evenly():
    unanswerable = questions(31, "off_topic", -1) + questions(40, "missing_note") + questions(5, "false_premise", 1)
    found = cross_fit(unanswerable, [], alpha=0.1, delta=0.1)
    assert list(found.strata) == ["false_premise", "missing_note", "off_topic"]
    assert {name: count.n for name, count in found.strata.items()} == {
        "false_premise": 5,
        "missing_note": 40,
        "off_topic": 31,
    }
    assert sum(count.x for count in found.strata.values()) == found.false_answers.x
    assert [c.n for c in found.calibrations] == [38, 38]
    halves = brainkit.gate.calibration._halves(unanswerable, 0)
    for stratum, size in (("off_topic", 31), ("missing_note", 40), ("false_premise", 5)):
        ones = sum(halves[s.question] for s in unanswerable if s.stratum == stratum)
        assert abs(2 * ones - size) <= 1


def test_cross_fit_depends_on_the_seed_and_not_on_the_order():
    unanswerable, answerable = questions(60), [Scored(f"y{i}", i / 500) for i in range(50)]
    first = cross_fit(unanswerable, answerable, alpha=0.1, delta=0.1, seed=3)
    assert cross_fit(unanswerable[::-1], answerable[::-1], alpha=0.1, delta=0.1, seed=3) == first
    assert any(cross_fit(unanswerable, answerable, alpha=0.1, delta=0.1, seed=s) != first for s in range(4, 9))


def test_both_forms_of_a_question_stay_in_one_half():
    hidden = questions(44)
    shown = [Scored(s.question, s.score) for s in hidden]
    for seed in range(20):
        found = cross_fit(hidden, shown, alpha=0.1, delta=0.1, seed=seed)
        assert found.answered == found.false_answers  # same score, same threshold


def test_a_half_without_threshold_judges_nothing():
    few = cross_fit(questions(30), [Scored("y", 9.0)], alpha=0.1, delta=0.1)
    assert not few.feasible
    assert few.answered == few.false_answers == few.strata["missing_note"] == Count(0, 0)
    assert few.answered.rate is None
    assert few.answered.interval == Interval(0.0, 1.0)
    one = cross_fit(questions(43), [], alpha=0.1, delta=0.1)
    assert not one.feasible
    assert one.false_answers.n == 21
    assert cross_fit([], [], alpha=0.1, delta=0.1).strata == {}


@pytest.mark.parametrize(
    "call",
    [
        lambda: allowed_false_answers(10, 0.0, 0.1),
        lambda: allowed_false_answers(10, 0.1, 1.0),
        lambda: allowed_false_answers(-1, 0.1, 0.1),
        lambda: labels_needed(math.nan, 0.1),
        lambda: labels_needed(0.1, 0.1, -1),
        lambda: exact_threshold([0.1, math.nan], 0.1, 0.1),
        lambda: exact_threshold([math.inf], 0.1, 0.1),
        lambda: clopper_pearson(3, 2),
        lambda: clopper_pearson(-1, 2),
        lambda: clopper_pearson(1, 2, 1.0),
        lambda: cross_fit(questions(44), [Scored("y", math.nan)], alpha=0.1, delta=0.1),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_is_allowed(call):
    with pytest.raises(UsageError, match=r"is not allowed: (give|every score must be)"):
        call()


def test_examples_in_the_docstrings():
    assert doctest.testmod(brainkit.gate.calibration).failed == 0
