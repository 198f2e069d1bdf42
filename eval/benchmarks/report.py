"""The results as markdown tables and as a picture of cost against size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.benchmarks.common import number, table

_SIGNIFICANT = 0.05


def header(results: Mapping[str, Any]) -> str:
    """Date, machine and versions in a paragraph, and what must be known of the figures, if they say anything."""
    of = results["machine"]
    note = results.get("note", "")
    versions = ", ".join(f"{name} {version}" for name, version in of["versions"].items())
    return (
        f"Measured {of['date']} on {of['system']}, {of['cores']} cores, {of['memory_gb']} GB; "
        f"load at the start {of['load_at_start']}. {versions}.\n" + (f"\n{note}\n" if note else "")
    )


def retrieval(results: Mapping[str, Any]) -> str:
    """Both tables of the retrieval benchmark."""
    parts = ["# Retrieval, side by side\n", header(results)]
    if results["sets"]:
        parts += ["## Quality\n", _quality(results["sets"])]
    if results["cost"]:
        parts += ["## Cost of a question, without embedding it\n", _cost(results["cost"])]
    return "\n".join(parts)


def _quality(sets: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    ways = list(dict.fromkeys(row["way"] for rows in sets.values() for row in rows))
    by = {(name, row["way"]): row for name, rows in sets.items() for row in rows}
    lines = [[way, *(_judged(by.get((name, way))) for name in sets)] for way in ways]
    return (
        table(["nDCG@10 / recall@10 / hit@2", *sets], lines)
        + "\n\n`*`: nDCG@10 differs from brainkit's on the same questions (p < .05, sign-flip test, Holm-corrected).\n"
    )


def _judged(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    star = "*" if row.get("p", 1) < _SIGNIFICANT else ""
    return f"{row['nDCG@10']:.3f}{star} / {row['recall@10']:.3f} / {row['hit@2']:.3f}"


def _cost(rows: Sequence[Mapping[str, Any]]) -> str:
    ours = {row["size"]: row["cpu_ms"] for row in rows if row["way"] == "brainkit"}
    lines = [[row["way"], f"{row['size']:,}", *_figures(row, ours.get(row["size"]))] for row in rows]
    columns = [
        "way", "chunks", "CPU ms", "x brainkit", "CPU p95 ms", "p50 ms", "p95 ms", "questions", "MB", "of it indexes",
        "load CPU s", "load s", "then build s",
    ]  # fmt: skip
    return table(columns, lines) + "\n"


def _figures(row: Mapping[str, Any], ours: float | None) -> list[str]:
    ratio = row["cpu_ms"] / ours if ours else None
    times = (row["cpu_ms"], ratio, row.get("cpu_p95_ms"), row["p50_ms"], row["p95_ms"])
    rest = (row["total_mb"], row["index_mb"], row["load_cpu_s"], row["load_s"], row["build_s"])
    return [*map(number, times), str(row["n"]), *map(number, rest)]


def picture(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """CPU milliseconds of a question against the number of chunks, both logarithmic, a line for each way."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for way in dict.fromkeys(row["way"] for row in rows):
        points = sorted((row["size"], row["cpu_ms"]) for row in rows if row["way"] == way)
        ours = way == "brainkit"
        axes.plot(
            [x for x, _ in points], [max(y, 0.01) for _, y in points],
            marker="o", label=way, linewidth=3 if ours else 1.3, color="black" if ours else None,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="chunks", ylabel="CPU ms of a question, client and server")
    axes.grid(visible=True, which="both", alpha=0.2)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)
