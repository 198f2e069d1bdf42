"""The labeller's Python side: judgements on disk at each key, undo, the pool of documents."""

import json
import signal
import subprocess
import sys

import pytest

from brainkit.errors import LabelsError, UsageError
from brainkit.labels import Label, Relevant, load, save
from brainkit.widgets import Labeller, logged_questions
from brainkit.widgets.judgements import Judgement, Judgements, label_id
from brainkit.widgets.pool import pool, unlabelled

QUESTIONS = ["Which battery does the UPS take?", "Which port is it?", "What did the roof cost?"]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "mine.jsonl"


def test_each_judgement_is_on_disk_and_sorted(file):
    made = Judgements(file)
    made.take(Judgement("b?", "relevant", "one.md"))
    made.take(Judgement("b?", "relevant", "two.md"))
    made.take(Judgement("a?", "unanswerable", "off_topic"))
    made.take(Judgement("b?", "not", "one.md"))
    found = {label.question: label for label in load(file)}
    assert found["b?"].grades == {"two.md": 1}
    assert (found["a?"].answerable, found["a?"].kind) == (False, "off_topic")
    assert [label.id for label in load(file)] == sorted(label_id(question) for question in ("a?", "b?"))


def test_undo_takes_back_key_by_key_also_in_a_later_session(file):
    made = Judgements(file)
    for judgement in [("q?", "relevant", "a.md"), ("q?", "not", "b.md"), ("q?", "unanswerable", "missing_note")]:
        made.take(Judgement(*judgement))
    later = Judgements(file)
    assert later.undo() == Judgement("q?", "unanswerable", "missing_note")
    assert load(file)[0].grades == {"a.md": 1}
    assert later.state("q?").marks == {"a.md": True, "b.md": False}
    later.undo()
    later.undo()
    assert load(file) == []
    assert later.undo() is None


def test_what_a_label_has_no_place_for_is_kept_too(file):
    Judgements(file).take(Judgement("q?", "not", "a.md"))
    Judgements(file).take(Judgement("r?", "skip"))
    assert not file.exists()
    assert Judgements(file).state("q?").marks == {"a.md": False}
    assert Judgements(file).state("r?").settled


def test_labels_of_others_and_edits_by_hand_stay(file):
    other = Label("x", "Other?", True, (Relevant("o.md", "words"),), tags=("t",))
    save(file, [other])
    made = Judgements(file)
    made.take(Judgement("q?", "relevant", "a.md"))
    (own,) = [label for label in load(file) if label.id != "x"]
    edited = Label(**{**{f: getattr(own, f) for f in own.__slots__}, "relevant": (Relevant("a.md", "by hand"),)})
    save(file, [other, edited])
    made.take(Judgement("q?", "relevant", "b.md"))
    found = {label.id: label for label in load(file)}
    assert found["x"] == other
    assert found[own.id].relevant == (Relevant("a.md", "by hand"), Relevant("b.md"))


@pytest.mark.parametrize(
    "judgement",
    [("q?", "perhaps", ""), ("q?", "unanswerable", "unknown"), (" ", "skip", "")],
    ids=["action", "kind", "none"],
)
def test_a_wrong_judgement_is_refused_before_anything_is_written(file, judgement):
    with pytest.raises(UsageError, match="not allowed"):
        Judgements(file).take(Judgement(*judgement))
    assert list(file.parent.iterdir()) == []


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(LabelsError, match="cannot be written"):
        Judgements(tmp_path / "missing" / "mine.jsonl").take(Judgement("q?", "skip"))


def test_a_broken_line_of_the_journal_costs_no_more_than_itself(file):
    Judgements(file).take(Judgement("q?", "relevant", "a.md"))
    journal = Judgements(file).journal
    journal.write_text(journal.read_text("utf-8") + '{"question": "r?", "act', "utf-8")
    assert Judgements(file).last == Judgement("q?", "relevant", "a.md")


def test_nothing_is_lost_when_the_kernel_is_killed_after_a_key(file):
    code = (
        "import os, signal, pathlib, sys\n"
        "from brainkit.widgets.judgements import Judgement, Judgements\n"
        "made = Judgements(pathlib.Path(sys.argv[1]))\n"
        "made.take(Judgement('q?', 'not', 'a.md'))\n"
        "made.take(Judgement('q?', 'relevant', 'b.md'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert load(file)[0].grades == {"b.md": 1}
    assert Judgements(file).state("q?").marks == {"a.md": False, "b.md": True}
    assert list(file.parent.glob("*.part")) == list(file.parent.glob(".*.part")) == []


def test_the_pool_holds_what_any_setting_finds(brain):
    found = pool(brain, "Which battery does the UPS take?")
    assert found[0].name == "ups.md"
    assert "RBC7" in found[0].passage
    assert found[0].found == {"meaning": 1, "words": 1, "both": 1}
    by_words = {document.path for document in brain.recall("battery UPS", retrieval="lexical(30)").documents}
    assert by_words < {candidate.name for candidate in found}  # others are near by meaning alone


def test_two_sources_with_one_path_are_told_apart(brain, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "ups.md").write_text("# UPS\n\nThe attic's battery is an RBC2.\n", "utf-8")
    brain.import_paths([tmp_path / "more"])
    names = {candidate.name for candidate in pool(brain, "Which battery does the UPS take?")}
    assert {"notes:ups.md", "more:ups.md"} <= names


def test_questions_come_from_the_log_newest_first_and_once(brain):
    for question in ("Which battery?", "Which port?", "Which battery?"):
        brain.ask(question)
    assert logged_questions(brain) == ["Which battery?", "Which port?"]
    assert unlabelled([" Which  battery?", "which battery?", "New?", ""], ["New?"]) == ["Which  battery?"]


def test_the_labeller_goes_from_question_to_question(brain, file):
    labeller = Labeller(brain, file, QUESTIONS)
    assert repr(labeller) == "Labeller of mine.jsonl: 3 of 3 questions to judge"
    labeller.judge("relevant", "ups.md")
    assert labeller._current == QUESTIONS[0]  # there may be more documents that answer it
    labeller.judge("done")
    labeller.judge("skip")
    assert labeller._current == QUESTIONS[2]
    labeller.judge("unanswerable", "missing_note")
    assert [label.question for label in labeller.labels if label.answerable] == QUESTIONS[:1]
    labeller.undo()
    assert labeller._current == QUESTIONS[2]
    again = Labeller(brain, file, QUESTIONS)
    assert repr(again) == "Labeller of mine.jsonl: 1 of 3 questions to judge"


def test_questions_with_a_label_of_their_own_are_not_asked(brain, labels_file):
    assert Labeller(brain, labels_file, ["sourdough  minutes", "New?"])._queue == ["New?"]


def test_secrets_in_questions_do_not_reach_the_disk(brain, file):
    secret = "gh" + "p_" + "aB3" * 12
    labeller = Labeller(brain, file, [f"Is {secret} still valid?"])
    labeller.add(f"What is {secret} for?")
    labeller.judge("skip")
    labeller.judge("unanswerable", "missing_note")
    written = "".join(path.read_text("utf-8") for path in (file, labeller._judgements.journal))
    assert secret not in written
    assert "REDACTED" in written


def test_messages_are_answered_with_the_state(brain, file, monkeypatch):
    labeller = Labeller(brain, file, QUESTIONS)
    sent = []
    monkeypatch.setattr(labeller, "send", lambda content, buffers=None: sent.append(content))
    for message in (
        {"type": "ready"},
        {"type": "judge", "action": "relevant", "what": "ups.md"},
        {"type": "judge", "action": "perhaps"},
        {"type": "open", "name": "ups.md"},
        {"type": "undo"},
    ):
        labeller._on_message(labeller, message, [])
    assert [message["type"] for message in sent] == ["state", "state", "failed", "opened", "state"]
    assert sent[0]["candidates"][0]["mark"] is None
    assert sent[1]["candidates"][0]["mark"] is True
    assert (sent[1]["labels"], sent[4]["labels"]) == (1, 0)
    assert "RBC7" in sent[3]["text"]
    assert json.dumps(sent)
    assert "battery" not in str({k: v for k, v in labeller.get_state().items() if k not in {"_esm", "_css"}})
