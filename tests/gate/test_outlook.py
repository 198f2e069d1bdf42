"""What more labels would buy: by hand, and by drawing such labels."""

import numpy as np
import pytest
from scipy import stats

from brainkit.gate.calibration import exact_threshold
from brainkit.gate.outlook import labels_to_cover, outlooks


@pytest.mark.parametrize(
    ("answered", "n", "more"),
    [
        (0, 0, 22),  # .9 ** 22 = .098: the fewest there can be
        (0, 21, 1),
        (0, 22, 0),  # covered already
        (1, 38, 0),
        (1, 30, 22),  # with 52 labels 2 are tolerated and 52 / 30 expected; with 38, 1 and 1.27
        (2, 20, 0),  # a tenth is answered: no number of labels shows that it is less
        (8, 20, 0),
    ],
)
def test_labels_to_cover_by_hand(answered, n, more):
    assert labels_to_cover(answered, n, 0.1, 0.1) == more


def test_a_rate_next_to_alpha_is_out_of_reach_and_ends():
    assert labels_to_cover(999, 10_000, 0.1, 0.1) == 0


@pytest.mark.parametrize(("answered", "n"), [(1, 25), (3, 60), (2, 40)])
def test_so_many_labels_pass_the_binomial_test_at_the_same_rate_and_fewer_do_not(answered, n):
    total = n + labels_to_cover(answered, n, 0.1, 0.1)
    assert stats.binom.cdf(np.ceil(answered * total / n), total, 0.1) <= 0.1
    fewer = [size for size in range(n, total) if stats.binom.cdf(np.ceil(answered * size / n), size, 0.1) <= 0.1]
    assert fewer == []


def test_outlook_by_hand():
    no, yes = [i / 100 for i in range(22)], [i / 100 for i in range(0, 44, 2)]
    # 44 labels tolerate 1: tail 2/45, of 23 places 1.02, so the highest score, .21: 11 of 22 lie above it.
    # 88 labels tolerate 4: tail 5/89, place 1.29, the same.
    assert outlooks([no], yes, 0.1, 0.1) == ((22, 0.5), (66, 0.5))


def test_too_few_labels_look_to_the_first_number_that_is_enough():
    found = outlooks([[0.1] * 10], [0.2, 0.05], 0.1, 0.1)
    assert found == ((12, 0.5), (34, 0.5), (78, 0.5))
    assert [one.more for one in outlooks([[0.1] * 10, [0.3] * 30], [0.2], 0.1, 0.1)] == [12, 64, 168]


def test_without_questions_of_both_sorts_nothing_is_expected():
    assert outlooks([], [0.1], 0.1, 0.1) == outlooks([[]], [0.1], 0.1, 0.1) == outlooks([[0.1]], [], 0.1, 0.1) == ()


def test_the_expectation_is_what_drawn_labels_give():
    """From 2,000 labels of each kind, what 240 or 480 of them certify on average."""
    rng = np.random.default_rng(3)
    no, yes = rng.normal(0, 1, 2000), rng.normal(1.5, 1, 2000)
    for size in (240, 480):
        drawn = [exact_threshold(rng.choice(no, size), 0.1, 0.1).threshold for _ in range(200)]
        seen = np.mean([(yes >= threshold).mean() for threshold in drawn])
        # ``outlooks`` looks at twice the labels there are; every 2000 / (size / 2)-th of them stands for all
        few = np.sort(no)[:: 2 * len(no) // size]
        assert outlooks([list(few)], list(yes), 0.1, 0.1)[0].answered == pytest.approx(seen, abs=0.03)
