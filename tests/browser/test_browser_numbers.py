"""The calibrator's figures in JavaScript and in Python, on the same vectors."""

import random

import numpy as np
import pytest

from brainkit.widgets.front import front
from brainkit.widgets.numbers import Sample, flips, histogram, risk_coverage, roc, tally

NAMES = ("answerable", "off_topic", "missing_note")
RUN = """
async ([source, scores, groups, names, threshold, before]) => {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const { numbers } = await import(url);
  const sample = numbers.makeSample(Float64Array.from(scores), Uint8Array.from(groups), names);
  return { tally: numbers.tally(sample, threshold), histogram: numbers.histogram(sample, 48), roc: numbers.roc(sample),
           risk: numbers.riskCoverage(sample), flips: numbers.flips(sample, before, threshold) };
}
"""


def vectors():
    draw = random.Random(3)
    spread = [draw.gauss(0.5, 0.2) for _ in range(400)]
    yield "spread", spread, [draw.randrange(3) for _ in spread]
    tied = [draw.choice([-0.25, 0.0, 0.1, 0.1 + 1e-16, 0.7]) for _ in range(90)]
    yield "tied", tied, [draw.randrange(3) for _ in tied]
    yield "all equal", [0.4] * 12, [0, 1, 2] * 4
    yield "one kind", [0.1, 0.9, 0.5], [0, 0, 0]
    yield "no answerable", [0.1, 0.9, 0.5], [1, 2, 2]
    yield "single", [0.3], [0]
    yield "none", [], []
    large = [draw.random() for _ in range(5000)]
    yield "large", large, [int(score + draw.random() < 1) for score in large]


@pytest.fixture(scope="module")
def page(chromium):
    page = chromium.new_page()
    yield page
    page.close()


@pytest.mark.parametrize(("scores", "groups"), [pytest.param(s, g, id=name) for name, s, g in vectors()])
@pytest.mark.parametrize("threshold", [-1.0, 0.1, 0.4, 0.55, 2.0])
def test_both_find_the_same(page, scores, groups, threshold):
    sample = Sample(np.array(scores, np.float64), np.array(groups, np.uint8), NAMES)
    found = page.evaluate(RUN, [front("numbers.js"), scores, groups, list(NAMES), threshold, 0.4])
    here = tally(sample, threshold)
    assert [(t["name"], t["n"], t["answered"]) for t in found["tally"]] == [t[:3] for t in here]
    for there, row in zip(found["tally"], here, strict=True):
        assert (there["low"], there["high"]) == pytest.approx((row.low, row.high), abs=1e-9)
    bars = histogram(sample)
    assert found["histogram"] == {"low": bars.low, "high": bars.high, "counts": bars.counts}
    assert found["flips"] == flips(sample, 0.4, threshold)
    for there, curve in ((found["roc"], roc(sample)), (found["risk"], risk_coverage(sample))):
        assert [tuple(point) for point in there["points"]] == [pytest.approx(point) for point in curve.points]
        assert there["area"] == (None if curve.area is None else pytest.approx(curve.area, abs=1e-12))
