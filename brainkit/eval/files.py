"""The files of an evaluation, and which run is the latest; all but the times are the same for the same input.

results.jsonl (a line a question), summary.json, timings.json, calibration.json, run.trec and qrels.trec for other
tools, report.md and its picture; manifest.json is the journal's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from brainkit.eval.journal import RESULTS, new_folder, write
from brainkit.eval.outcome import SCHEMA, Outcome, rounded
from brainkit.eval.picture import histogram
from brainkit.eval.report import markdown
from brainkit.labels import Label

PICTURE = "scores.png"


def write_files(outcome: Outcome, labels: Sequence[Label], out: Path, folder: Path | None = None) -> Path:
    """Write the files of a run and point ``out/latest`` at them.

    Args:
        outcome: what was found.
        labels: that were asked.
        out: folder of all runs.
        folder: of this run; a new one, named after the time, if None.

    Returns:
        The folder.
    """
    folder = folder or new_folder(out)
    gate = outcome.gate_result(outcome.gate)
    histogram(gate.scores, labels, outcome.certificate.threshold, gate.name, folder / PICTURE)
    write(folder / RESULTS, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _results(outcome, labels)))
    write(folder / "summary.json", _json(outcome.to_dict()))
    times: dict[str, Any] = {
        "seconds": rounded(outcome.seconds),
        "ms_per_question": {s.name: s.milliseconds for s in outcome.settings},
        "judge_calls": outcome.judge_calls,
    }
    write(folder / "timings.json", _json(times))
    write(folder / "calibration.json", _json(_calibration(outcome)))
    write(folder / "qrels.trec", qrels(labels))
    write(folder / "run.trec", ranking(outcome))
    report = markdown(outcome, labels, PICTURE)
    write(folder / "report.md", report)
    _point_at(out / "latest", folder)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(report)
    return folder


def qrels(labels: Sequence[Label]) -> str:
    """Relevant documents in TREC's form: ``question 0 document grade``; white space in names stands as %20."""
    return "".join(
        f"{_word(label.id)} 0 {_word(doc)} {grade}\n"
        for label in labels
        if label.answerable
        for doc, grade in label.grades.items()
    )


def ranking(outcome: Outcome) -> str:
    """The main setting's first documents in TREC's form: ``question Q0 document rank score setting``.

    The score is the negative rank, so that tools which sort by it have no ties to break in an order of their own.
    """
    return "".join(
        f"{_word(row.label)} Q0 {_word(doc)} {place} {-place} {_word(outcome.main)}\n"
        for row in outcome.ranked
        if row.setting == outcome.main
        for place, doc in enumerate(row.top, 1)
    )


def _word(text: str) -> str:
    return "".join(quote(char) if char.isspace() or char == "%" else char for char in text)


def _json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _calibration(outcome: Outcome) -> dict[str, Any]:
    """The certificate in use, and each gate's cross-fitted thresholds."""
    data = outcome.to_dict()
    gates = [
        {name: gate[name] for name in ("name", "feasible", "thresholds", "answered", "false_answers")}
        for gate in data["gates"]
    ]
    return {"schema": SCHEMA, "certificate": data["certificate"], "cross_fitted": gates}


def _results(outcome: Outcome, labels: Sequence[Label]) -> list[dict[str, Any]]:
    """One row a question: its gate scores, and for answerable ones its metrics and first documents by setting."""
    ranked: dict[str, dict[str, Any]] = {label.id: {} for label in labels}
    for row in outcome.ranked:
        found = {"metrics": row.values, "first_relevant": row.first_relevant, "top": list(row.top)}
        ranked[row.label][row.setting] = found
    missed = {row.label: row.missed for row in outcome.ranked if row.setting == outcome.main}
    return [
        {
            "id": label.id,
            "question": label.question,
            "answerable": label.answerable,
            "kind": label.kind,
            "relevant": label.grades,
            "scores": {gate.name: round(gate.scores[label.id], 6) for gate in outcome.gates},
            "settings": ranked[label.id],
            "missed": missed.get(label.id, ""),
        }
        for label in labels
    ]


def _point_at(link: Path, folder: Path) -> None:
    """Make ``link`` lead to the folder: a symbolic link, or a text file where there are none."""
    part = link.with_name(f".latest.{os.getpid()}")
    part.unlink(missing_ok=True)
    try:
        part.symlink_to(folder.name, target_is_directory=True)
    except OSError:
        part.write_text(folder.name + "\n", "utf-8")
    part.replace(link)
