"""The benchmark of questions at the same time, run small: every way is measured, and no connection is left over."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_every_way_has_a_row(tmp_path):
    notes, labels = tmp_path / "notes", tmp_path / "questions.jsonl"
    notes.mkdir()
    (notes / "ups.md").write_text("# UPS\n\nThe battery is an RBC7.\n")
    label = {"id": "q1", "question": "Which battery?", "answerable": True, "relevant": [{"doc": "ups.md"}]}
    labels.write_text(json.dumps(label) + "\n")
    options = ["--embedder", "wordllama", "--questions", "4", "--rounds", "1", "--threads", "1,2", "--processes", "2"]
    command = [sys.executable, "-m", "eval.benchmarks.concurrency", *options, "--notes", str(notes)]
    command += ["--labels", str(labels), "--out", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "concurrency.json").read_text())["rows"]
    ways = [("threads", 1), ("threads", 2), ("processes", 2)]
    expected = [(call, *way) for call in ("recall", "ask") for way in ways]
    assert [(row["call"], row["kind"], row["workers"]) for row in rows] == expected
    for row in rows:
        assert row["per_second"] > 0
        assert 1 <= row["connections"] <= 2 + 2  # of two threads of this process, and of two others
    assert (tmp_path / "concurrency.md").read_text() in done.stdout + "\n"
