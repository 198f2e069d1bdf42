"""The promise of a certificate, by simulation: more false answers than alpha at most with probability delta."""

import numpy as np
import pytest
from scipy import stats

from brainkit.gate.calibration import clopper_pearson, exact_threshold, joint_threshold

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


JOINT = {
    "one kind binds": ([0.0, -3.0, -3.0], [22, 60, 38]),
    "all alike": ([0.0, 0.0, 0.0], [60, 60, 60]),
    "few labels of the hardest": ([0.0, -0.5, 0.3], [100, 60, 22]),
}


@pytest.mark.parametrize(("means", "sizes"), JOINT.values(), ids=JOINT)
@pytest.mark.parametrize("tied", [False, True])
def test_jointly_any_of_the_kinds_breaks_its_promise_at_most_with_probability_delta(means, sizes, tied, repeats):
    """At the whole delta each: no share of it is kept back for the number of kinds."""
    rng = np.random.default_rng(sizes)
    scores = np.round if tied else np.asarray  # rounded to whole numbers: many ties

    def rate(threshold, mean):
        return stats.norm.sf(np.ceil(threshold) - 0.5 if tied else threshold, mean)

    broken = 0
    for _ in range(repeats):
        drawn = [scores(rng.normal(mean, size=size)) for mean, size in zip(means, sizes, strict=True)]
        threshold = joint_threshold(drawn, 0.1, 0.1).threshold
        broken += max(rate(threshold, mean) for mean in means) > 0.1
    assert clopper_pearson(broken, repeats, 0.999).low <= 0.1
    if not tied and means[1] == -3.0:  # the bound is met: with a share of delta for each it would be a third
        expected = stats.binom.cdf(0, 22, 0.1)
        low, high = clopper_pearson(broken, repeats, 0.999)
        assert low <= expected <= high
        assert low > 0.1 / 3


def test_the_simulation_would_notice_thresholds_of_the_easiest_kind(repeats):
    rng = np.random.default_rng(1)
    broken = 0
    for _ in range(repeats):
        drawn = [rng.normal(mean, size=60) for mean in (0.0, 1.0)]
        threshold = min(exact_threshold(scores, 0.1, 0.1).threshold for scores in drawn)
        broken += stats.norm.sf(threshold, 1.0) > 0.1
    assert clopper_pearson(broken, repeats, 0.999).low > 0.9
