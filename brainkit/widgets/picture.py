"""The calibrator's static picture: histogram by stratum, ROC and risk-coverage, at one threshold."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from IPython.display import Image

from brainkit.widgets.numbers import Curve, Sample, histogram, risk_coverage, roc, tally

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#3b82c4", "#7a8594", "#c77700", "#8a63d2", "#d1495b", "#1f8a83")
"""Of the groups, as in calibrator.css; each stands out from a light and from a dark ground."""
WIDTH = 860


def calibration_picture(sample: Sample, threshold: float, gate: str) -> Image:
    """The picture as a PNG, with what it shows as its alternative text."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # half a second to import
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.6, 3.9), layout="constrained")
    FigureCanvasAgg(figure)
    axes: dict[str, Axes] = figure.subplot_mosaic("aab;aac")
    _draw_histogram(axes["a"], sample, threshold, gate)
    yes, *others = tally(sample, threshold)
    asked, let_through = sum(row.n for row in others), sum(row.answered for row in others)
    answered = yes.answered + let_through
    here = (let_through / asked, yes.answered / yes.n) if asked and yes.n else None
    _draw_curve(axes["b"], roc(sample), here, ("false answers", "answered"), "AUROC")
    total = len(sample.scores)
    here = (answered / total, let_through / answered) if answered else None
    _draw_curve(axes["c"], risk_coverage(sample), here, ("coverage", "risk"), "AURC")
    raw = io.BytesIO()
    figure.savefig(raw, dpi=110, metadata={"Software": None})
    shares = ", ".join(f"{row.answered} of {row.n} {row.name.replace('_', ' ')}" for row in (yes, *others))
    alt = f"Scores of the {gate} gate; answered at {threshold:.3f}: {shares}"
    return Image(data=raw.getvalue(), width=WIDTH, alt=alt)  # type: ignore[no-untyped-call]


def _draw_histogram(axes: Axes, sample: Sample, threshold: float, gate: str) -> None:
    """Answerable questions upwards, the others stacked downwards, on one axis of scores."""
    low, high, counts = histogram(sample)
    bins = len(counts[0])
    width = (high - low) / bins
    left = [low + width * place for place in range(bins)]
    below = [0] * bins
    for group, name in enumerate(sample.names):
        label = f"{name.replace('_', ' ')} ({sum(counts[group])})"
        drawn: Any = counts[group] if group == 0 else [-count for count in counts[group]]
        bottom = None if group == 0 else [-depth for depth in below]
        axes.bar(left, drawn, width * 0.92, bottom, align="edge", color=COLOURS[group % len(COLOURS)], label=label)
        if group:
            below = [depth + count for depth, count in zip(below, counts[group], strict=True)]
    axes.axhline(0, color="black", linewidth=0.8)
    axes.axvline(threshold, color="black", linewidth=1.2, linestyle="--")
    axes.set_title(f"Scores of the {gate} gate, answered at {threshold:.3f} and above", fontsize=10, loc="left")
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    axes.set_xlabel("score")
    axes.set_ylabel("questions")
    axes.legend(frameon=False, fontsize=8, loc="best")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_curve(axes: Axes, curve: Curve, here: tuple[float, float] | None, names: tuple[str, str], area: str) -> None:
    if curve.points:
        axes.plot(*zip(*curve.points, strict=True), color=COLOURS[0], linewidth=1.5)
    if here:
        axes.plot(*here, "o", color="black", markersize=5)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=names[0], ylabel=names[1])
    axes.set_title("" if curve.area is None else f"{area} {curve.area:.3f}", fontsize=9, loc="right")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
