"""Drift: against scipy's own test, and that a changed share of answerable questions is none."""

import numpy as np
import pytest
from scipy import stats

from brainkit.gate.drift import drift

RNG = np.random.default_rng(5)
YES, NO = RNG.normal(2, 1, 200), RNG.normal(0, 1, 150)


@pytest.mark.parametrize("shift", [0.0, 0.2, 0.5])
def test_with_one_kind_of_question_it_is_the_two_sample_test_of_scipy(shift):
    live = np.random.default_rng(6).normal(shift, 1, 120)
    found = drift(live, [], NO)
    expected = stats.ks_2samp(live, NO, method="asymp")
    assert found.distance == pytest.approx(expected.statistic, abs=1e-12)
    size = 120 * 150 / (120 + 150)
    assert found.p == pytest.approx(stats.kstwobign.sf(expected.statistic * size**0.5), abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue, abs=0.05)  # scipy corrects the same limit for small samples
    assert drift(live, NO, []) == found


def test_ties_are_counted_as_scipy_counts_them():
    live = np.repeat([0.1, 0.2, 0.3], 30)
    assert drift(live, [], [0.2] * 40).distance == pytest.approx(stats.ks_2samp(live, [0.2] * 40).statistic)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
def test_another_share_of_answerable_questions_is_no_drift(share):
    rng = np.random.default_rng(7)
    live = [*rng.choice(YES, round(200 * share)), *rng.choice(NO, round(200 * (1 - share)))]
    assert not drift(live, YES, NO).drifted


@pytest.mark.parametrize("live", [RNG.normal(5, 1, 100), RNG.normal(-3, 1, 100), [1.0] * 60])
def test_scores_that_no_mixture_gives_are_drift(live):
    found = drift(list(live), YES, NO)
    assert (found.drifted, found.n) == (True, len(live))
    assert found.p < 0.001


def test_it_cries_wolf_seldom():
    rng = np.random.default_rng(8)
    alarms = sum(
        drift([*rng.normal(2, 1, 60), *rng.normal(0, 1, 40)], rng.normal(2, 1, 80), rng.normal(0, 1, 80)).drifted
        for _ in range(200)
    )
    assert alarms <= stats.binom.ppf(0.999, 200, 0.01)


def test_few_questions_or_none_to_compare_with_say_nothing():
    assert drift([9.0] * 49, YES, NO) == (49, 0.0, 1.0)
    assert drift([9.0] * 100, [], []) == (100, 0.0, 1.0)
    assert drift([9.0] * 50, YES, NO).drifted
