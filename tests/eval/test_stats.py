"""Tests of significance, intervals and areas against scipy, scikit-learn and published examples."""

import doctest
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn.metrics import roc_auc_score

import brainkit.eval.stats
from brainkit.errors import UsageError
from brainkit.eval.stats import auroc, bootstrap_interval, holm, sign_flip_test, smallest_detectable_drop
from brainkit.gate.calibration import clopper_pearson


@pytest.fixture
def repeats(request):
    """How many experiments a simulation makes: more under ``-m slow``."""
    return 1000 if request.config.option.markexpr == "slow" else 150


def test_darwins_maize():
    """Fisher's own example, 15 pairs: 863 of 32,768 sign patterns lie beyond on one side (1,726 in both)."""
    eighths = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    found = sign_flip_test(eighths, draws=40_000)
    assert not found.exact
    assert found.mean == pytest.approx(314 / 15)
    low, high = clopper_pearson(round(found.p * 40_001) - 1, 40_000, 0.999)
    assert low <= 1726 / 32768 <= high


@pytest.mark.parametrize("size", [1, 2, 5, 10, 14])
def test_exact_p_equals_scipys_permutation_test(size):
    rng = np.random.default_rng(size)
    for differences in (rng.normal(0.3, 1, size), rng.choice([-0.1, 0.2, 0.3], size)):
        expected = (
            scipy_stats.permutation_test(
                (differences,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=False
            )
            if size > 1
            else None
        )
        found = sign_flip_test([*differences, 0.0, 0.0])
        assert found.exact
        assert found.p == pytest.approx(expected.pvalue if expected else 1.0)
        assert (found.n, found.changed) == (size + 2, size)


def test_sampled_p_is_near_the_exact_one_never_0_and_repeats_by_seed():
    rng = np.random.default_rng(3)
    differences = rng.normal(0.25, 1, 60)
    found = sign_flip_test(differences, draws=4000)
    t_test = scipy_stats.ttest_1samp(differences, 0).pvalue
    assert not found.exact
    assert found.p == pytest.approx(t_test, abs=0.02)
    assert sign_flip_test(differences, draws=4000) == found
    assert sign_flip_test(differences, draws=4000, seed=1) != found
    assert sign_flip_test([1.0] * 200, draws=2500).p == 1 / 2501


def test_nothing_changed():
    for differences in ([], [0.0], [0.0] * 50):
        found = sign_flip_test(differences)
        assert (found.p, found.mean, found.changed, found.identical) == (1.0, 0.0, 0, True)
    assert not sign_flip_test([0.1]).identical
    assert sign_flip_test([0.1]).p == 1.0  # one pair proves nothing
    assert sign_flip_test([0.1] * 6).p == pytest.approx(2 / 64)


def test_sums_equal_on_paper_count_as_equal():
    # .1 + .2 - .3 is 5.6e-17 in floating point, yet the pattern is as extreme as its mirror image.
    assert sign_flip_test([0.1, 0.2, -0.3]).p == 1.0


@pytest.mark.slow
def test_under_no_difference_p_is_small_no_more_often_than_it_says(repeats):
    rng = np.random.default_rng(5)
    for size in (8, 30):
        small = sum(sign_flip_test(rng.laplace(size=size), draws=400).p <= 0.05 for _ in range(repeats))
        assert clopper_pearson(small, repeats, 0.999).low <= 0.05


def test_bootstrap_interval_agrees_with_scipys_and_repeats_by_seed():
    values = np.random.default_rng(1).beta(2, 1, 80)
    found = bootstrap_interval(values)
    expected = scipy_stats.bootstrap((values,), np.mean, method="percentile", random_state=2).confidence_interval
    assert found == pytest.approx((expected.low, expected.high), abs=0.004)
    assert bootstrap_interval(values) == found
    assert bootstrap_interval(values, seed=9) != found
    narrower = bootstrap_interval(values, confidence=0.5)
    assert found.low < narrower.low < narrower.high < found.high


def test_bootstrap_of_0_1_and_equal_values():
    assert bootstrap_interval([]) is None
    assert bootstrap_interval([0.7]) is None
    assert bootstrap_interval([0.7, 0.7, 0.7]) == (0.7, 0.7)


def test_holm_as_printed_by_r():
    # p.adjust(c(.01, .02, .03, .04, .05), "holm") and the usual textbook example
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([0.3]) == [0.3]
    assert holm([]) == []


def test_auroc_equals_scikit_learns_with_and_without_ties():
    rng = np.random.default_rng(2)
    for yes, no in (
        (rng.normal(1, 1, 70), rng.normal(0, 1, 50)),
        (rng.integers(0, 4, 40), rng.integers(-1, 3, 60)),
    ):
        expected = roc_auc_score(np.r_[np.ones(len(yes)), np.zeros(len(no))], np.r_[yes, no])
        assert auroc(yes, no) == pytest.approx(expected, abs=1e-12)


def test_auroc_at_its_ends():
    assert auroc([2, 3], [0, 1]) == 1.0
    assert auroc([0, 1], [2, 3]) == 0.0
    assert auroc([1, 1], [1, 1, 1]) == 0.5
    assert auroc([], [1]) is None
    assert auroc([1], []) is None


def test_detectable_drop_of_a_known_spread():
    # z(.975) + z(.8) = 2.8016; 100 differences of +-1 have s = sqrt(100 / 99)
    assert smallest_detectable_drop([1, -1] * 50) == pytest.approx(2.8016 * math.sqrt(100 / 99) / 10, abs=1e-4)
    assert smallest_detectable_drop([1, -1] * 50, power=0.9) > smallest_detectable_drop([1, -1] * 50)


def test_detectable_drop_cannot_be_told():
    assert smallest_detectable_drop([]) is None
    assert smallest_detectable_drop([0.5]) is None
    assert smallest_detectable_drop([0.0] * 100) is None
    assert smallest_detectable_drop([0.1, -0.2, 0.3, 0.1, 0.0]) is None  # 2 / 2**5 > .05: no pattern can be significant


@pytest.mark.slow
def test_a_drop_of_the_detectable_size_is_found_as_often_as_promised(repeats):
    rng = np.random.default_rng(4)
    spread = rng.normal(0, 0.3, 60)
    drop = smallest_detectable_drop(spread)
    found = sum(sign_flip_test(rng.normal(-drop, spread.std(ddof=1), 60), draws=400).p < 0.05 for _ in range(repeats))
    low, high = clopper_pearson(found, repeats, 0.999)
    assert low <= 0.8 <= high


@pytest.mark.parametrize(
    "call",
    [
        lambda: sign_flip_test([0.1, math.nan]),
        lambda: sign_flip_test([0.1], draws=0),
        lambda: bootstrap_interval([math.inf, 1.0]),
        lambda: bootstrap_interval([1.0, 2.0], confidence=1.0),
        lambda: holm([0.1, 1.5]),
        lambda: holm([math.nan]),
        lambda: auroc([math.nan], [1.0]),
        lambda: smallest_detectable_drop([1.0, math.nan]),
        lambda: smallest_detectable_drop([1.0, 2.0], power=1.0),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_is_allowed(call):
    with pytest.raises(UsageError, match=r"is not allowed: (give|every)"):
        call()


def test_examples_in_the_docstrings():
    assert doctest.testmod(brainkit.eval.stats).failed == 0
