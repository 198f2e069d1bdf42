"""Simulated calibrations: broken as often as the binomial says, for continuous, tied and discrete scores alike."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

ROOT = Path(__file__).parents[2]
DELTA = 0.1
CELLS = [(0.05, 100), (0.1, 22), (0.1, 60), (0.2, 60), (0.3, 100)]
DISTRIBUTIONS = ["continuous", "30 levels", "votes of five", "yes or no", "all the same"]


@pytest.fixture
def guarantee(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("eval.benchmarks.guarantee")


@pytest.fixture
def repeats(request):
    """How many calibrations are simulated: 2,000 under ``-m slow``."""
    return 2000 if request.config.option.markexpr == "slow" else 300


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "n"), CELLS)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_promises_are_broken_as_often_as_the_binomial_says_and_at_most_with_delta(guarantee, name, alpha, n, repeats):
    cell = guarantee.simulate(name, alpha, n, repeats, DELTA)
    assert cell.interval.low <= cell.expected <= cell.interval.high
    assert cell.expected <= DELTA
    assert cell.interval.low <= DELTA


def test_all_distributions_are_looked_at(guarantee):
    assert list(guarantee.DISTRIBUTIONS) == DISTRIBUTIONS


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_shares_of_a_distribution_are_those_of_what_it_draws(guarantee, name):
    scores = guarantee.DISTRIBUTIONS[name]
    drawn = scores.draw(np.random.default_rng(0), 20_000)
    for threshold in (-0.5, 0.0, 1e-9, 0.7, 1.0, 2.3, 29.0, 30.0):
        low, high = stats.binomtest(int(np.sum(drawn >= threshold)), 20_000).proportion_ci(0.9999, "exact")
        assert low <= scores.tail(threshold) <= high


def test_how_often_a_promise_is_broken_by_hand(guarantee):
    scores = guarantee.DISTRIBUTIONS
    # 22 labels at .1: none may pass, so the highest of 22 sets the threshold: broken if none is in the best tenth.
    assert guarantee.expected(scores["continuous"], 0.1, 22, 0.1) == pytest.approx(0.9**22)
    # Of 30 levels the best four are more than a tenth of all: broken if none of 22 is among them.
    assert guarantee.expected(scores["30 levels"], 0.1, 22, 0.1) == pytest.approx((26 / 30) ** 22)
    # 15 % say yes, which at .1 must not pass: broken if none of 22 said it.
    assert guarantee.expected(scores["yes or no"], 0.1, 22, 0.1) == pytest.approx(0.85**22)
    # At .2 they may, and the threshold above "no" is the lowest there is.
    assert guarantee.expected(scores["yes or no"], 0.2, 22, 0.1) == 0
    assert guarantee.expected(scores["all the same"], 0.1, 22, 0.1) == 0
    assert guarantee.expected(scores["continuous"], 0.1, 21, 0.1) == 0  # too few labels: no threshold, no promise


def test_the_table_is_printed_and_written(guarantee, tmp_path, capsys):
    assert guarantee.main(["--repeats", "20", "--alphas", "0.05,0.2", "--labels", "22", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "guarantee.md").read_text("utf-8")
    assert capsys.readouterr().out == f"{text}\n"
    rows = [line for line in text.splitlines() if " | 0.2 | 22 | " in line]
    assert len(rows) == len(DISTRIBUTIONS)
    assert " 0.05 " not in text  # 22 labels are too few for it
    assert " | 4.8 | " in rows[0]  # .8^22 + 22 * .2 * .8^21


def test_a_broken_guarantee_leaves_with_1(guarantee, tmp_path, monkeypatch):
    naive = guarantee.exact_threshold
    monkeypatch.setattr(guarantee, "exact_threshold", lambda scores, alpha, delta: naive(scores, 3 * alpha, delta))
    arguments = ["--repeats", "60", "--alphas", "0.1", "--labels", "60", "--out", str(tmp_path)]
    assert guarantee.main(arguments) == 1
