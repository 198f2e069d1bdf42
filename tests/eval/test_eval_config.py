"""settings.toml: its defaults, and every wrong key or value named with what is allowed."""

from pathlib import Path

import pytest

from brainkit.errors import RetrievalSettingsError, UsageError
from brainkit.eval.config import load_config
from brainkit.retrieval import RetrievalSettings

MINIMAL = '[settings]\na = "dense(30)"\n'


def write(tmp_path, text):
    file = tmp_path / "settings.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_what_is_left_out_takes_its_default(tmp_path):
    config = load_config(write(tmp_path, MINIMAL))
    assert (config.main, config.gate, config.gates) == ("a", "score", ("seed", "cosine", "score", "evidence"))
    assert (config.alpha, config.delta, config.slack, config.floors, config.extensions) == (0.1, 0.1, 0.002, {}, ())
    assert config.settings == {"a": RetrievalSettings.parse("dense(30)")}
    assert (config.corpus, config.labels) == (tmp_path / "corpus", tmp_path / "questions.jsonl")
    assert config.planted is None


def test_everything_given_is_taken(tmp_path):
    (tmp_path / "planted-fake-secrets.jsonl").write_text("")
    text = (
        'main = "b"\ngate = "cosine"\ngates = ["seed"]\nalpha = 0.2\ndelta = 0.05\nslack = 0\nextensions = ["j2"]\n'
        '[floors]\n"nDCG@10" = 0.5\n"hit@2" = 1\n' + MINIMAL + 'b = "lexical(9)"\n'
    )
    config = load_config(write(tmp_path, text))
    assert (config.main, config.gate, config.gates) == (
        "b",
        "cosine",
        ("seed", "cosine"),
    )  # the gate in use is judged too
    assert (config.alpha, config.delta, config.slack) == (0.2, 0.05, 0.0)
    assert (config.floors, config.extensions) == ({"nDCG@10": 0.5, "hit@2": 1.0}, ("j2",))
    assert config.planted == tmp_path / "planted-fake-secrets.jsonl"
    other = load_config(write(tmp_path, text), Path("/notes"), Path("/q.jsonl"))
    assert (other.corpus, other.labels, other.planted) == (Path("/notes"), Path("/q.jsonl"), None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "not valid TOML"),
        (b"\xff\xfe", "not valid TOML"),
        ("", r"main = '' is none of \[settings\]: it is empty"),
        ("colour = 1\n" + MINIMAL, "unknown key 'colour'; allowed are alpha, corpus, delta, "),
        ('main = "c"\n' + MINIMAL, "main = 'c' is none of .*: a"),
        ("main = 3\n" + MINIMAL, "main = 3 is not allowed: give text in quotation marks"),
        ('gate = "sead"\n' + MINIMAL, "gate 'sead' is none of seed, cosine"),
        ('gates = "seed"\n' + MINIMAL, r"gates = 'seed' is not allowed: give a list of texts"),
        ("gates = [1]\n" + MINIMAL, "give a list of texts"),
        ('gates = ["x"]\n' + MINIMAL, "gate 'x' is none of"),
        ("alpha = 0\n" + MINIMAL, "alpha = 0 is not allowed: give a number between 0 and 1"),
        ("alpha = 1.5\n" + MINIMAL, "alpha = 1.5 is not allowed"),
        ("delta = true\n" + MINIMAL, "delta = True is not allowed"),
        ("delta = nan\n" + MINIMAL, "delta = nan is not allowed"),
        ('slack = "much"\n' + MINIMAL, "slack = 'much' is not allowed: give a number from 0 to 1"),
        ('extensions = "ini"\n' + MINIMAL, "extensions = 'ini' is not allowed: give a list"),
        ("settings = 5", r"settings = 5 is not allowed: give a table: \[settings\]"),
        ("[settings]\na = 5", r"\[settings\]: a = 5 is not allowed: give text"),
        ('[floors]\n"nDCG@5" = 0.5\n' + MINIMAL, r"\[floors\]: unknown key 'nDCG@5'; allowed are MRR@10, hit@2"),
        ('[floors]\n"hit@2" = 80\n' + MINIMAL, r"\[floors\]: hit@2 = 80 is not allowed"),
        ("floors = 1\n" + MINIMAL, "floors = 1 is not allowed"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path, text, message):
    with pytest.raises(UsageError, match=r"settings\.toml.*" + message) as caught:
        load_config(write(tmp_path, text))
    assert caught.value.exit_code == 2


def test_a_retrieval_string_that_does_not_parse(tmp_path):
    with pytest.raises(RetrievalSettingsError, match="dense=0 is not allowed"):
        load_config(write(tmp_path, '[settings]\na = "dense(0)"\n'))


def test_a_file_that_is_not_there_says_where_to_run(tmp_path):
    with pytest.raises(
        UsageError, match=r"cannot be read \(No such file or directory\); run this in a folder that has"
    ):
        load_config(tmp_path / "no.toml")
