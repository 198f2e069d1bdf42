"""Baselines on disk: written, read back, and every damage named."""

import json
from dataclasses import replace

import pytest

from brainkit.errors import UsageError
from brainkit.eval.comparison import Record
from brainkit.eval.records import label_digest, read_record, save_baseline

MADE = Record(
    "b", "hybrid", "hybrid(fusion=rrf)", "m" * 64, "0123", {"a": "l1", 'b"\u2028': "l2"},
    {"a": {"nDCG@10": 0.123457, "context": 1.0}, 'b"\u2028': {"nDCG@10": 0.0, "context": 0.0}},
)  # fmt: skip


def test_a_baseline_reads_back_and_is_one_line_a_question(tmp_path):
    file = tmp_path / "baseline.json"
    save_baseline(file, MADE)
    assert read_record(file) == replace(MADE, name=str(file))
    lines = file.read_text("utf-8").split("\n")
    assert sum('"label"' in line for line in lines) == 2
    assert all(line.count('"label"') <= 1 for line in lines)
    assert json.loads(file.read_text("utf-8"))["schema"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["baseline.json"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:100], "is damaged"),
        (lambda text: "[]", "it holds no object"),
        (lambda text: "\udcff", "is damaged"),
        (lambda text: text.replace('"schema": 1', '"schema": 9'), "has schema 9, this brainkit reads 1"),
        (lambda text: text.replace("0.123457", "7"), "7 is no metric's value"),
        (lambda text: text.replace("0.123457", '"high"'), "'high' is no metric's value"),
        (lambda text: text.replace("0.123457", "NaN"), "nan is no metric's value"),
        (lambda text: text.replace('"model"', '"modell"'), "KeyError: 'model'"),
        (lambda text: '{"questions": 3, "schema": 1}', "is neither a baseline nor the summary of a run"),
        (lambda text: "{}", "is neither a baseline nor the summary of a run"),
    ],
)
def test_a_damaged_baseline_is_named_with_what_to_do(tmp_path, change, message):
    file = tmp_path / "baseline.json"
    save_baseline(file, MADE)
    file.write_bytes(change(file.read_text("utf-8")).encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=message) as error:
        read_record(file)
    assert error.value.exit_code == 2
    assert "--update-baseline" in str(error.value)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="no such run, summary or baseline"):
        read_record(tmp_path / "nothing")
    save_baseline(tmp_path / "b.json", MADE)
    with pytest.raises(UsageError, match="holds hybrid alone, not dense"):
        read_record(f"{tmp_path / 'b.json'}:dense")
    with pytest.raises(UsageError, match="cannot be written"):
        save_baseline(tmp_path / "no" / "b.json", MADE)


def test_a_digest_changes_with_the_question_and_its_documents():
    digests = {
        label_digest(question, grades)
        for question in ("a", "b")
        for grades in ({}, {"d": 1}, {"d": 2}, {"e": 1}, {"d": 1, "e": 1})
    }
    assert len(digests) == 10
    assert label_digest("a", {"d": 1, "e": 2}) == label_digest("a", {"e": 2, "d": 1})
