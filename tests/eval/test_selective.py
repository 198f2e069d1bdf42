"""Risk against coverage, no-answer F1, truthfulness, reliability: by hand, against sklearn and scipy, at the limits."""

import doctest
import itertools
import math
import random

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.calibration import calibration_curve
from sklearn.metrics import f1_score, roc_auc_score

import brainkit.eval.selective as selective
from brainkit.errors import UsageError
from brainkit.eval.selective import (
    Judged,
    Truthfulness,
    aurc,
    bootstrap,
    calibration_error,
    excess_aurc,
    measure,
    no_answer_f1,
    reliability,
    risk_coverage,
    truthfulness,
    wrong_context,
)
from brainkit.gate import Count


def judged(answerable=True, *, context=True, score=0.5, answered=True):
    return Judged(answerable, context, score, answered)


@pytest.fixture(scope="module")
def many():
    """400 questions of every kind with scores from 0 to 1 in steps of .05, so with ties."""
    rng = random.Random(5)
    return [
        Judged(rng.random() < 0.6, rng.random() < 0.8, rng.randrange(21) / 20, rng.random() < 0.5) for _ in range(400)
    ]


# Risk and coverage


def test_risk_at_each_coverage_by_hand():
    scores, wrong = [0.2, 0.9, 0.7, 0.5], [True, False, True, False]  # best first: right, wrong, right, wrong
    assert risk_coverage(scores, wrong).tolist() == pytest.approx([0, 1 / 2, 1 / 3, 2 / 4])
    assert aurc(scores, wrong) == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    best = (0 + 0 + 1 / 3 + 2 / 4) / 4
    assert excess_aurc(scores, wrong) == pytest.approx(aurc(scores, wrong) - best)


def test_the_best_order_has_no_excess_and_the_worst_the_most():
    for wrong in itertools.product([False, True], repeat=5):
        areas = [excess_aurc(order, wrong) for order in itertools.permutations(range(5))]
        assert min(areas) == pytest.approx(0, abs=1e-12)
        assert excess_aurc([0 if bad else 1 for bad in wrong], wrong) == pytest.approx(0, abs=1e-12)
        assert excess_aurc([1 if bad else 0 for bad in wrong], wrong) == pytest.approx(max(areas))


@pytest.mark.parametrize("scores", [[1, 1, 1, 1, 1], [2, 1, 1, 1, 0], [3, 3, 1, 2, 2]])
@pytest.mark.parametrize("wrong", [[1, 0, 0, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 0, 0]])
def test_tied_scores_give_the_mean_over_all_orders_among_them(scores, wrong):
    apart = [
        [s + place / 100 for s, place in zip(scores, order, strict=True)] for order in itertools.permutations(range(5))
    ]
    risks = np.mean([risk_coverage(one, wrong) for one in apart], axis=0)
    assert risk_coverage(scores, wrong).tolist() == pytest.approx(risks.tolist())


def test_scores_that_say_nothing_have_the_share_of_wrong_answers_at_every_coverage():
    assert risk_coverage([0.5] * 8, [True, False] * 4).tolist() == [0.5] * 8


@pytest.mark.parametrize("share", [0.1, 0.37, 0.8])
def test_the_best_area_of_many_questions_is_that_of_the_paper(share):
    """Geifman et al. 2019: r + (1 - r) ln(1 - r), the integral of (c - (1 - r)) / c over c from 1 - r to 1."""
    n = 20_000
    wrong = np.arange(n) >= n * (1 - share)
    area = aurc(-np.arange(n), wrong)
    assert area == pytest.approx(share + (1 - share) * math.log(1 - share), abs=1e-4)
    assert area == pytest.approx(integrate.quad(lambda c: (c - 1 + share) / c, 1 - share, 1)[0], abs=1e-4)


def test_without_questions_there_is_no_area_and_scores_must_be_numbers():
    assert aurc([], []) is None
    assert excess_aurc([], []) is None
    for scores, wrong in (([math.nan], [True]), ([1.0], [True, False])):
        with pytest.raises(UsageError, match="as many finite scores as answers"):
            aurc(scores, wrong)


# Decisions


def test_no_answer_f1_is_sklearns_and_its_recall_squads(many):
    expected = f1_score([not one.answerable for one in many], [not one.answered for one in many])
    assert no_answer_f1(many) == pytest.approx(expected)
    # Three unanswerable, two of them deflected; four deflected in all: precision 1/2, recall (NoAns_f1) 2/3.
    ones = [judged(False, answered=a) for a in (True, False, False)] + [
        judged(answered=a) for a in (True, False, False)
    ]
    assert no_answer_f1(ones) == pytest.approx(2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3))


def test_no_answer_f1_at_its_limits():
    assert no_answer_f1([judged(False, answered=False), judged()]) == 1
    assert no_answer_f1([judged(False), judged()]) == 0
    assert no_answer_f1([judged()]) is None
    assert no_answer_f1([judged(False, answered=None)]) is None


@pytest.mark.parametrize(
    ("one", "counts", "score"),
    [
        (judged(), (1, 0, 0), 1),
        (judged(context=False), (0, 0, 1), -1),
        (judged(answered=False), (0, 1, 0), 0),
        (judged(context=False, answered=False), (0, 1, 0), 0),
        (judged(False), (0, 0, 1), -1),
        (judged(False, answered=False), (1, 0, 0), 1),
    ],
)
def test_truthfulness_of_each_kind_of_reply(one, counts, score):
    assert truthfulness([one]) == counts
    assert truthfulness([one]).score == score


def test_truthfulness_is_the_share_of_accurate_less_that_of_incorrect_replies():
    assert Truthfulness(accurate=5, missing=3, incorrect=2).score == pytest.approx(0.3)
    assert truthfulness([judged(answered=None)]).score is None


def test_wrong_context_is_of_the_answered_answerable_questions_alone():
    ones = [
        judged(), judged(context=False), judged(context=False, answered=False), judged(False, context=False),
        judged(context=False, answered=None),
    ]  # fmt: skip
    assert wrong_context(ones) == Count(1, 2)
    assert wrong_context([]).rate is None


# Calibration of probabilities


def test_the_reliability_diagram_is_sklearns(many):
    share, mean = calibration_curve([one.answerable for one in many], [one.score for one in many], n_bins=7)
    bars = reliability(many, 7)
    assert [bar.answerable.rate for bar in bars] == pytest.approx(share.tolist())
    assert [bar.mean for bar in bars] == pytest.approx(mean.tolist())
    assert sum(bar.answerable.n for bar in bars) == len(many)
    assert [bar.low for bar in bars] == pytest.approx([i / 7 for i in range(7)])


def test_bins_at_their_edges_and_without_questions():
    bars = reliability([judged(score=s) for s in (0.0, 0.1, 0.35, 1.0)])
    assert [bar.low for bar in bars] == pytest.approx([0.0, 0.1, 0.3, 0.9])
    assert [bar.high for bar in bars] == pytest.approx([0.1, 0.2, 0.4, 1.0])
    assert reliability([]) == []
    for score, bins in ((1.01, 10), (-0.01, 10), (0.5, 0)):
        with pytest.raises(UsageError, match="scores from 0 to 1"):
            reliability([judged(score=score)], bins)


def test_calibration_error_by_hand():
    # One bin of .82 and .88 with one of two answerable, one of .1 with none: (2 * |.85 - .5| + 1 * .1) / 3.
    ones = [judged(score=0.82), judged(False, score=0.88), judged(False, score=0.1)]
    assert calibration_error(ones) == pytest.approx((2 * 0.35 + 0.1) / 3)
    assert calibration_error([]) is None
    assert calibration_error([judged(score=1.0), judged(False, score=0.0)]) == 0


# Intervals


def test_bootstrap_of_a_mean_is_scipys(many):
    def share(ones):
        return sum(one.score for one in ones) / len(ones)

    figure = bootstrap(share, many, draws=4000)
    values = [one.score for one in many]
    oracle = stats.bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=1).confidence_interval
    assert figure.value == pytest.approx(sum(values) / 400)
    assert tuple(figure.interval) == pytest.approx((oracle.low, oracle.high), abs=0.005)
    assert bootstrap(share, many, draws=4000) == figure  # seeded
    assert bootstrap(share, many, draws=4000, seed=2) != figure
    narrow = bootstrap(share, many, confidence=0.5).interval
    assert narrow.high - narrow.low < figure.interval.high - figure.interval.low


@pytest.mark.slow
def test_bootstrap_intervals_hold_the_true_auroc_as_often_as_they_say(request):
    """Scores of normal distributions one apart: the true AUROC is Phi(1 / sqrt 2)."""
    repeats = 400 if request.config.option.markexpr == "slow" else 60
    rng, truth, held = np.random.default_rng(3), stats.norm.cdf(1 / math.sqrt(2)), 0
    for _ in range(repeats):
        ones = [Judged(bool(i % 2), True, float(rng.normal(i % 2)), None) for i in range(120)]
        low, high = bootstrap(selective._auroc, ones, draws=200).interval
        held += low <= truth <= high
    low, high = stats.binomtest(held, repeats).proportion_ci(0.999, "exact")
    assert low <= 0.95
    assert high >= 0.92  # percentile intervals are somewhat short


def test_where_too_few_draws_have_a_figure_there_is_no_interval():
    rare = [judged(False), *[judged()] * 1]
    assert bootstrap(lambda ones: 1.0 if len(set(ones)) == 1 else None, rare).value is None
    mostly = bootstrap(no_answer_f1, [judged(False), *[judged()] * 30])  # 1 - (30/31)^31 = .64 of the draws have one
    assert mostly.interval is not None
    never = bootstrap(lambda ones: 1.0 if ones == mixed else None, mixed := [judged(score=i / 9) for i in range(9)])
    assert (never.value, never.interval) == (1.0, None)
    assert bootstrap(no_answer_f1, [judged(False)]) == (0.0, None)
    for draws, confidence in ((0, 0.95), (10, 1.0)):
        with pytest.raises(UsageError, match="give draws >= 1"):
            bootstrap(no_answer_f1, mixed, draws=draws, confidence=confidence)


def test_all_figures_of_a_gate(many):
    quality = measure(many, probability=True)
    assert list(quality.figures) == [
        "AUROC", "AURC", "E-AURC", "no-answer F1", "truthfulness", "calibration error",
    ]  # fmt: skip
    area = roc_auc_score([one.answerable for one in many], [one.score for one in many])
    assert quality.figures["AUROC"].value == pytest.approx(area)
    wrong = [not (one.answerable and one.in_context) for one in many]
    assert quality.figures["AURC"].value == aurc([one.score for one in many], wrong)
    assert quality.truthfulness == truthfulness(many)
    for figure in quality.figures.values():
        assert figure.interval.low < figure.value < figure.interval.high
    plain = measure([one._replace(score=one.score * 9) for one in many], probability=False)
    assert plain.figures["calibration error"] == (None, None)
    assert plain.bins == []
    assert plain.figures["AURC"].value == pytest.approx(quality.figures["AURC"].value)


def test_examples():
    result = doctest.testmod(selective)
    assert result.failed == 0 < result.attempted
