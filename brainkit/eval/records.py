"""Evaluations on disk that can be compared: a baseline file, and the folder of a run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from brainkit.errors import UsageError
from brainkit.eval.comparison import Record

BASELINE_SCHEMA: Final = 1


def label_digest(question: str, grades: Mapping[str, int]) -> str:
    """Twelve hexadecimal digits that change with a label's question or its relevant documents."""
    told = json.dumps([question, sorted(grades.items())], ensure_ascii=False)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def save_baseline(file: Path, record: Record) -> None:
    """Write a baseline: one line a question, so that a diff shows what changed; all or nothing.

    Raises:
        UsageError: it cannot be written.
    """
    head = {
        "schema": BASELINE_SCHEMA, "setting": record.setting, "retrieval": record.retrieval, "model": record.model,
        "corpus": record.corpus,
    }  # fmt: skip
    rows = [
        json.dumps(one, ensure_ascii=False)
        + ": "
        + json.dumps({"label": record.labels[one], **{k: round(v, 6) for k, v in record.values[one].items()}})
        for one in sorted(record.values)
    ]
    text = json.dumps(head, indent=2, ensure_ascii=False).rstrip("}\n ") + ',\n  "questions": {\n    '
    text += ",\n    ".join(rows) + "\n  }\n}\n"
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        part.write_text(text, "utf-8")
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UsageError(f"baseline {file} cannot be written: {error.strerror or error}") from error


def read_record(place: str | Path) -> Record:
    """The evaluation that lies in a run's folder, beside a summary.json, or in a baseline file.

    Args:
        place: the path; ``PATH:SETTING`` names another retrieval setting of a run than its main one.

    Raises:
        UsageError: there is nothing there, it cannot be read, or has no such setting.
    """
    path, setting = Path(place), ""
    if not path.exists():
        head, colon, tail = str(place).rpartition(":")
        if not colon or not Path(head).exists():
            raise UsageError(f"{place}: no such run, summary or baseline")
        path, setting = Path(head), tail
    if path.is_dir():
        path = path / "summary.json"
    data = _json(path)
    try:
        if "questions" in data:
            return _baseline(path, data, setting)
        return _run(path, data, setting)
    except (KeyError, TypeError, AttributeError, ValueError, StopIteration) as error:
        raise UsageError(
            f"{path} is neither a baseline nor the summary of a run, or is damaged "
            f"({type(error).__name__}: {error}); make it anew with --update-baseline"
        ) from error


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"{path} is damaged ({error}); make it anew with --update-baseline") from error
    if not isinstance(data, dict):
        raise UsageError(f"{path} is damaged (it holds no object); make it anew with --update-baseline")
    return data


def _baseline(path: Path, data: Mapping[str, Any], setting: str) -> Record:
    if data["schema"] != BASELINE_SCHEMA:
        raise UsageError(
            f"{path} has schema {data['schema']}, this brainkit reads {BASELINE_SCHEMA}; "
            "make it anew with --update-baseline"
        )
    if setting not in {"", data["setting"]}:
        raise UsageError(f"{path} holds {data['setting']} alone, not {setting}")
    values = {
        one: {name: _number(value) for name, value in row.items() if name != "label"}
        for one, row in data["questions"].items()
    }
    labels = {one: str(row["label"]) for one, row in data["questions"].items()}
    return Record(str(path), data["setting"], data["retrieval"], data["model"], data["corpus"], labels, values)


def _run(path: Path, data: Mapping[str, Any], setting: str) -> Record:
    chosen = setting or data["main"]
    known = {one["name"]: one["retrieval"] for one in data["settings"]}
    if chosen not in known:
        raise UsageError(f"{path.parent} has no setting {chosen!r}; it has {', '.join(known)}")
    results = path.with_name("results.jsonl")
    try:
        lines = results.read_text("utf-8").split("\n")
    except OSError as error:
        raise UsageError(f"{results} cannot be read: {error.strerror or error}") from error
    rows = [json.loads(line) for line in lines if line]
    asked = [row for row in rows if row["answerable"] and chosen in row["settings"]]
    return Record(
        f"{path.parent}:{setting}" if setting else str(path.parent),
        chosen,
        known[chosen],
        data["fingerprint"]["embedding model"],
        data["corpus_digest"],
        {row["id"]: label_digest(row["question"], row["relevant"]) for row in asked},
        {row["id"]: {k: _number(v) for k, v in row["settings"][chosen]["metrics"].items()} for row in asked},
        {row["id"]: row["missed"] for row in asked if row.get("missed") and chosen == data["main"]},
    )


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is no metric's value")
    return float(value)
