"""The files of an evaluation: results.jsonl, summary.json, timings.json, report.md, a picture, and which is latest."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from brainkit.eval.outcome import Outcome, rounded
from brainkit.eval.picture import histogram
from brainkit.eval.report import markdown
from brainkit.labels import Label

PICTURE = "scores.png"


def write_files(outcome: Outcome, labels: Sequence[Label], out: Path) -> Path:
    """Write a folder named after the time below ``out`` and point ``out/latest`` at it; returns the folder."""
    folder = _new_folder(out)
    gate = outcome.gate_result(outcome.gate)
    histogram(gate.scores, labels, outcome.certificate.threshold, gate.name, folder / PICTURE)
    lines = [json.dumps(row, ensure_ascii=False) for row in _results(outcome, labels)]
    (folder / "results.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "summary.json").write_text(json.dumps(outcome.to_dict(), indent=2) + "\n", "utf-8")
    times: dict[str, Any] = {
        "seconds": rounded(outcome.seconds),
        "ms_per_question": {s.name: s.milliseconds for s in outcome.settings},
        "judge_calls": outcome.judge_calls,
    }
    (folder / "timings.json").write_text(json.dumps(times, indent=2) + "\n", "utf-8")
    (folder / "report.md").write_text(markdown(outcome, labels, PICTURE), "utf-8")
    _point_at(out / "latest", folder)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(markdown(outcome, labels, PICTURE))
    return folder


def _results(outcome: Outcome, labels: Sequence[Label]) -> list[dict[str, Any]]:
    """One row a question: its gate scores, and for answerable ones its metrics and first documents by setting."""
    ranked: dict[str, dict[str, Any]] = {label.id: {} for label in labels}
    for row in outcome.ranked:
        found = {"metrics": rounded(row.metrics), "first_relevant": row.first_relevant, "top": list(row.top)}
        ranked[row.label][row.setting] = found
    return [
        {
            "id": label.id,
            "question": label.question,
            "answerable": label.answerable,
            "kind": label.kind,
            "relevant": label.grades,
            "scores": {gate.name: round(gate.scores[label.id], 6) for gate in outcome.gates},
            "settings": ranked[label.id],
        }
        for label in labels
    ]


def _new_folder(out: Path) -> Path:
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    number = 0
    while True:
        folder = out / (stamp + (f"-{number}" if number else ""))
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder


def _point_at(link: Path, folder: Path) -> None:
    """Make ``link`` lead to the folder: a symbolic link, or a text file where there are none."""
    part = link.with_name(f".latest.{os.getpid()}")
    part.unlink(missing_ok=True)
    try:
        part.symlink_to(folder.name, target_is_directory=True)
    except OSError:
        part.write_text(folder.name + "\n", "utf-8")
    part.replace(link)
