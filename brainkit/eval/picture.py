"""The first picture: how the gate's scores spread, answerable against unanswerable, with the threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from brainkit.labels import Label

ORDER = ("answerable", "off_topic", "missing_note", "missing_detail", "false_premise")
COLOURS = ("#2a6f97", "#bcb8b1", "#8d99ae", "#e09f3e", "#9e2a2b")


def histogram(
    scores: Mapping[str, float], labels: Sequence[Label], threshold: float | None, gate: str, path: Path
) -> None:
    """Write a PNG: the answerable questions above, the unanswerable ones stacked by stratum below, on one axis."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # half a second to import
    from matplotlib.figure import Figure

    groups = {name: [scores[x.id] for x in labels if (x.stratum or "answerable") == name] for name in ORDER}
    groups = {name: values for name, values in groups.items() if values}
    everything = [value for values in groups.values() for value in values]
    low, high = min(everything), max(everything)
    edges = [low + (high - low or 1.0) * i / 30 for i in range(31)]
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    upper, lower = figure.subplots(2, 1, sharex=True)
    yes = groups.pop("answerable", [])
    upper.hist(yes, edges, color=COLOURS[0], label=f"answerable ({len(yes)})")
    if groups:
        lower.hist(
            list(groups.values()), edges, stacked=True, color=[COLOURS[ORDER.index(name)] for name in groups],
            label=[f"{name.replace('_', ' ')} ({len(values)})" for name, values in groups.items()],
        )  # fmt: skip
    for axes in (upper, lower):
        if threshold is not None:
            axes.axvline(threshold, color="black", linewidth=1, linestyle="--")
        if axes is upper or groups:
            axes.legend(frameon=False, fontsize=8)
        axes.set_ylabel("questions")
        axes.spines[["top", "right"]].set_visible(False)
    if threshold is not None:
        upper.set_title(f"answered at {threshold:.3f} and above", fontsize=9, loc="right")
    upper.set_title(f"Scores of the {gate} gate", fontsize=11, loc="left")
    lower.set_xlabel("score")
    figure.savefig(path, dpi=120, metadata={"Software": None})
