"""The calibrator's figures against hand counts and scikit-learn."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score, roc_curve

from brainkit.eval.selective import aurc
from brainkit.gate import LabelledEvidence, make_gate
from brainkit.retrieval import Evidence
from brainkit.widgets.numbers import Sample, flips, histogram, make_sample, risk_coverage, roc, tally

NAMES = ("answerable", "off_topic", "missing_note")


def sample(scores, groups):
    return Sample(np.array(scores, np.float64), np.array(groups, np.uint8), NAMES)


SMALL = sample([0.9, 0.8, 0.8, 0.4, 0.3, 0.1], [0, 2, 0, 2, 0, 1])


def test_a_question_is_answered_when_its_score_reaches_the_threshold():
    assert [(row.name, row.n, row.answered) for row in tally(SMALL, 0.8)] == [
        ("answerable", 3, 2), ("off_topic", 1, 0), ("missing_note", 2, 1),
    ]  # fmt: skip
    assert [row.answered for row in tally(SMALL, np.nextafter(0.8, 1))] == [1, 0, 0]


def test_the_interval_is_that_of_scipy():
    for row in tally(SMALL, 0.8):
        expected = binomtest(row.answered, row.n).proportion_ci(0.95, "exact")
        assert (row.low, row.high) == pytest.approx((expected.low, expected.high))


def test_every_question_is_in_one_bar():
    scores = sample([0.0, 0.25, 0.5, 0.75, 1.0, 0.2], [0, 0, 1, 2, 0, 2])
    # Four bars with edges at the quarters: an edge belongs to the bar above it, the top to the last one.
    assert histogram(scores, 4) == (0.0, 1.0, [[1, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 1]])


def test_the_roc_is_that_of_sklearn():
    rng = np.random.default_rng(5)
    scores, groups = rng.normal(size=300).round(1), rng.integers(0, 3, 300)
    found = roc(sample(scores, groups))
    false, true, _ = roc_curve(groups == 0, scores, drop_intermediate=False)
    assert found.points == [pytest.approx(point) for point in zip(false, true, strict=True)]
    assert found.area == pytest.approx(roc_auc_score(groups == 0, scores))


def test_risk_and_coverage_by_hand():
    # Down the scores: yes; yes and no together; no; yes; no.
    found = risk_coverage(SMALL)
    assert found.points == [
        pytest.approx(p) for p in [(1 / 6, 0), (3 / 6, 1 / 3), (4 / 6, 2 / 4), (5 / 6, 2 / 5), (1, 3 / 6)]
    ]
    assert found.area == pytest.approx((0 + 2 * (1 / 3) + 2 / 4 + 2 / 5 + 3 / 6) / 6)


def test_without_ties_the_area_is_that_of_the_evaluation():
    rng = np.random.default_rng(6)
    scores, groups = rng.normal(size=200), rng.integers(0, 3, 200)
    assert risk_coverage(sample(scores, groups)).area == pytest.approx(aurc(scores.tolist(), (groups > 0).tolist()))


def test_flips_are_those_between_the_thresholds_nearest_to_the_new_one_first():
    assert flips(SMALL, 0.2, 0.8) == [3, 4]
    assert flips(SMALL, 0.85, 0.2) == [4, 3, 1, 2]
    assert flips(SMALL, 0.5, 0.5) == []


@pytest.mark.parametrize(("scores", "groups"), [([], []), ([0.2], [0]), ([0.2, 0.2], [1, 1])], ids=["0", "1", "equal"])
def test_what_cannot_be_told_is_none(scores, groups):
    few = sample(scores, groups)
    assert roc(few).area is None
    assert (risk_coverage(few).area is None) == (not scores)
    assert sum(map(sum, histogram(few).counts)) == len(scores)


def test_a_sample_puts_the_answerable_first_and_keeps_the_order_of_the_strata():
    kinds = ["unknown kind", "missing_detail", "", "off_topic"]
    asked = [LabelledEvidence(str(n), kind, Evidence(best_cosine=n / 10)) for n, kind in enumerate(kinds)]
    made = make_sample(asked, make_gate("cosine", "minilm"))
    assert made.names == ("answerable", "off_topic", "missing_detail", "unknown kind")
    assert made.groups.tolist() == [3, 2, 0, 1]
    assert made.scores.tolist() == pytest.approx([0.0, 0.1, 0.2, 0.3])
