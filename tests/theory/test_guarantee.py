"""The promise of a certificate, by simulation: more false answers than alpha at most with probability delta."""

import numpy as np
import pytest
from scipy import stats

from brainkit.gate.calibration import clopper_pearson, exact_threshold

pytestmark = pytest.mark.slow
LEVELS = [(22, 0.1, 0.1), (60, 0.1, 0.1), (100, 0.05, 0.1), (100, 0.2, 0.05)]


@pytest.fixture
def repeats(request):
    """How many calibrations are simulated: 2,000 under ``-m slow``."""
    return 2000 if request.config.option.markexpr == "slow" else 300


def share_of_violations(draw, true_rate, n, alpha, delta, repeats):
    rng = np.random.default_rng([n, repeats])
    thresholds = (exact_threshold(draw(rng, n), alpha, delta).threshold for _ in range(repeats))
    return sum(true_rate(threshold) > alpha for threshold in thresholds)


@pytest.mark.parametrize(("n", "alpha", "delta"), LEVELS)
def test_continuous_scores_violate_as_often_as_the_binomial_says_and_never_more_than_delta(n, alpha, delta, repeats):
    violations = share_of_violations(lambda rng, size: rng.normal(size=size), stats.norm.sf, n, alpha, delta, repeats)
    k = int(stats.binom.ppf(delta, n, alpha)) - 1
    expected = stats.binom.cdf(k, n, alpha)
    low, high = clopper_pearson(violations, repeats, 0.999)
    assert low <= expected <= high
    assert expected <= delta
    assert low <= delta


@pytest.mark.parametrize(("n", "alpha", "delta"), LEVELS)
def test_tied_scores_violate_no_more_often(n, alpha, delta, repeats):
    violations = share_of_violations(
        lambda rng, size: rng.integers(0, 30, size).astype(float),
        lambda threshold: (29 - np.floor(threshold)) / 30,
        n,
        alpha,
        delta,
        repeats,
    )
    assert clopper_pearson(violations, repeats, 0.999).low <= delta


def test_the_simulation_would_notice_the_naive_threshold(repeats):
    """The empirical quantile, what most people take, breaks its promise about every second time."""
    rng = np.random.default_rng(0)
    broken = sum(1 - np.quantile(rng.uniform(size=60), 0.9) > 0.1 for _ in range(repeats))
    assert clopper_pearson(broken, repeats, 0.999).low > 0.3
