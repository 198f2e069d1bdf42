"""How often a certified threshold breaks its promise: simulated calibrations, tied and discrete scores included.

A calibration draws n scores of unanswerable questions and sets the threshold; it breaks its promise if the share of all
unanswerable questions that reach the threshold is above alpha, which is known here, as the distribution is.

    python -m eval.benchmarks.guarantee
    python -m eval.benchmarks.guarantee --repeats 200 --alphas 0.1,0.2
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from scipy import stats

from brainkit.gate import Interval, clopper_pearson, exact_threshold, labels_needed
from eval.benchmarks.common import RESULTS, table

ALPHAS: Final = (0.01, 0.05, 0.1, 0.2, 0.3)
SIZES: Final = (22, 60, 100, 300)
CONFIDENCE: Final = 0.999
"""Of the interval of a simulated share: many cells are looked at, and none should fall out by chance."""
Draw = Callable[[np.random.Generator, int], np.ndarray]


class Scores(NamedTuple):
    """A distribution of an unanswerable question's score.

    Attributes:
        draw: that many scores.
        tail: share of questions that score at least as much.
        levels: all values it takes, ascending; none if it takes any.
    """

    draw: Draw
    tail: Callable[[float], float]
    levels: tuple[float, ...] = ()


class Cell(NamedTuple):
    """What was found for one distribution, alpha and number of labels.

    Attributes:
        broken: calibrations whose true share of false answers is above alpha.
        expected: probability of that by the binomial distribution, at most delta.
        naive: calibrations that break the promise where the threshold is just above the empirical quantile.
    """

    scores: str
    alpha: float
    n: int
    repeats: int
    broken: int
    expected: float
    naive: int

    @property
    def interval(self) -> Interval:
        """99.9 % Clopper-Pearson interval of the probability to break the promise."""
        return clopper_pearson(self.broken, self.repeats, CONFIDENCE)


def _discrete(shares: Sequence[float]) -> Scores:
    """Scores 0, 1, 2, ... that come up with these probabilities."""
    values = np.arange(len(shares), dtype=float)
    cumulated = np.cumsum(np.asarray(shares)[::-1])[::-1].round(12)

    def tail(threshold: float) -> float:
        level = math.ceil(threshold)
        return float(cumulated[level]) if level < len(shares) else 0.0

    def draw(rng: np.random.Generator, size: int) -> np.ndarray:
        return rng.choice(values, size, p=np.asarray(shares))

    return Scores(draw, tail, tuple(values))


DISTRIBUTIONS: Final[Mapping[str, Scores]] = {
    "continuous": Scores(lambda rng, size: rng.normal(size=size), lambda threshold: float(stats.norm.sf(threshold))),
    "30 levels": _discrete([1 / 30] * 30),
    "votes of five": _discrete([0.50, 0.20, 0.12, 0.08, 0.06, 0.04]),
    "yes or no": _discrete([0.85, 0.15]),
    "all the same": _discrete([1.0]),
}


def simulate(name: str, alpha: float, n: int, repeats: int, delta: float = 0.1) -> Cell:
    """Calibrate ``repeats`` times on ``n`` drawn scores, always the same ones.

    Args:
        name: of a distribution.
        alpha: highest share of false answers, 0..1.
        n: labels in a calibration.
        repeats: number of calibrations.
        delta: probability of a wrong promise, 0..1.
    """
    scores = DISTRIBUTIONS[name]
    rng = np.random.default_rng([n, round(1000 * alpha), list(DISTRIBUTIONS).index(name)])
    broken = naive = 0
    for _ in range(repeats):
        drawn = scores.draw(rng, n)
        threshold = exact_threshold(drawn.tolist(), alpha, delta).threshold
        broken += threshold is not None and scores.tail(threshold) > alpha
        naive += scores.tail(math.nextafter(float(np.quantile(drawn, 1 - alpha)), math.inf)) > alpha
    return Cell(name, alpha, n, repeats, broken, expected(scores, alpha, n, delta), naive)


def expected(scores: Scores, alpha: float, n: int, delta: float) -> float:
    """Probability that a calibration breaks its promise, 0..delta, by scipy's binomial distribution.

    It does if at most k of n scores reach the highest level that more than alpha of all questions reach: then a level
    below it sets the threshold. For continuous scores exactly alpha of them reach such a level.
    """
    k = next(k for k in range(-1, n + 1) if stats.binom.cdf(k + 1, n, alpha) > delta)
    reached = min((tail for level in scores.levels if (tail := scores.tail(level)) > alpha), default=alpha)
    return float(stats.binom.cdf(k, n, reached))


def shown(cells: Sequence[Cell], delta: float) -> str:
    """The table, shares in percent."""
    rows = []
    for cell in cells:
        low, high = cell.interval
        shares = [cell.broken / cell.repeats, cell.expected, cell.naive / cell.repeats]
        broken, known, naive = (f"{100 * share:.1f}" for share in shares)
        between = f"{100 * low:.1f} to {100 * high:.1f}"
        rows.append([cell.scores, f"{cell.alpha:g}", cell.n, broken, between, known, naive])
    columns = ["scores", "alpha", "labels", "broken, %", "99.9 % interval", "by the binomial, %", "naive quantile, %"]
    head = (
        f"# Promises broken\n\n{cells[0].repeats:,} simulated calibrations each, delta {delta:g}: at most "
        f"{100 * delta:g} % of them may break the promise.\n"
    )
    return f"{head}\n{table(columns, rows)}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Simulate, write and print the table; 1 if a share is above delta beyond chance."""
    about, _, examples = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        prog="python -m eval.benchmarks.guarantee", description=about, epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--repeats", type=int, default=2000, help="calibrations for each row")
    parser.add_argument("--alphas", default=",".join(map(str, ALPHAS)), help="highest shares of false answers")
    parser.add_argument("--labels", default=",".join(map(str, SIZES)), help="numbers of unanswerable labels")
    parser.add_argument("--delta", type=float, default=0.1, help="probability of a wrong promise")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the result")
    options = parser.parse_args(argv)
    alphas, sizes = [float(a) for a in options.alphas.split(",")], [int(n) for n in options.labels.split(",")]
    cells = [
        simulate(name, alpha, n, options.repeats, options.delta)
        for name in DISTRIBUTIONS
        for alpha in alphas
        for n in sizes
        if n >= labels_needed(alpha, options.delta)
    ]
    text = shown(cells, options.delta)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "guarantee.md").write_text(text, "utf-8")
    print(text)
    return int(any(cell.interval.low > options.delta for cell in cells))


if __name__ == "__main__":
    sys.exit(main())
