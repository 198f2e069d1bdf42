"""The calibrator's Python side: certificate, messages, picture, and what a notebook keeps of it."""

import struct

import pytest
import traitlets
from scipy.stats import binom

from brainkit.errors import UsageError
from brainkit.widgets import Calibrator, open_workbench


@pytest.fixture
def calibrator(bench):
    return Calibrator(bench, alpha=0.3)


@pytest.fixture
def sent(calibrator, monkeypatch):
    """What the widget sends to the browser."""
    messages = []
    monkeypatch.setattr(calibrator, "send", lambda content, buffers=None: messages.append(content))
    return messages


def tell(calibrator, **message):
    calibrator._on_message(calibrator, message, [])


def test_it_starts_at_the_lowest_certified_threshold(calibrator):
    missing = sorted(calibrator.sample.of(calibrator.names.index("missing_note")), reverse=True)
    allowed = max(k for k in range(len(missing)) if binom.cdf(k, len(missing), 0.3) <= 0.1)
    assert len(missing) == 15
    assert sum(score >= calibrator.threshold for score in missing) == allowed
    assert calibrator.threshold == calibrator.certified > missing[allowed]
    assert calibrator.certificate.threshold == calibrator.threshold
    assert "at most 30% get an answer" in calibrator.promise


def test_the_browser_gets_scores_and_groups_as_bytes(calibrator):
    scores = [value for (value,) in struct.iter_unpack("<d", calibrator.scores)]
    assert scores == calibrator.sample.scores.tolist()
    assert list(calibrator.groups) == calibrator.sample.groups.tolist()
    assert len(scores) == 15 * 2 + 4


def test_a_smaller_alpha_asks_for_a_higher_threshold(calibrator):
    before = calibrator.certified
    calibrator.alpha = 0.2
    assert calibrator.certified > before
    calibrator.alpha = 0.05
    assert calibrator.certified is None
    assert calibrator.promise.startswith("Not certified")
    with pytest.raises(traitlets.TraitError, match="alpha = 0"):
        calibrator.alpha = 0


def test_what_is_used_is_kept_by_the_brain(calibrator, bench, sent):
    higher = calibrator.certified + 0.02
    tell(calibrator, type="use", threshold=higher)
    assert sent[-1]["ok"], sent
    kept = bench.brain.certificate()
    assert kept.threshold == higher == bench.brain.threshold().value == calibrator.in_force
    answerable = calibrator.sample.of(0)
    assert (kept.answered, kept.answerable) == ((answerable >= higher).sum(), 15)
    assert not bench.brain.stale()
    assert kept.passed == ()
    assert bench.brain.status()["labels"] == 19  # from them it is made anew when the notes change
    assert kept.strata["missing_note"].covered
    assert kept.strata["missing_note"].answered <= calibrator._lowest.strata["missing_note"].answered


def test_what_is_not_certified_is_not_used(calibrator, bench, sent):
    tell(calibrator, type="use", threshold=calibrator.certified - 0.01)
    assert not sent[-1]["ok"]
    assert "below the lowest certified threshold" in sent[-1]["text"]
    assert bench.brain.certificate() is None
    assert "is not certified" in calibrator.promise
    calibrator.alpha = 0.05
    with pytest.raises(UsageError, match="Not certified"):
        calibrator.use()


def test_a_question_opens_with_the_documents_the_gate_saw(calibrator, sent):
    numbers = [n for n, item in enumerate(calibrator._asked) if item.label == "bread.md0"]
    for number in numbers:
        tell(calibrator, type="open", index=number)
    (asked, hidden) = sent
    assert asked["documents"][0]["path"] == "bread.md"
    assert asked["documents"][0]["relevant"]
    assert "45 minutes" in asked["documents"][0]["text"]
    assert "bread.md" not in [d["path"] for d in hidden["documents"]]
    assert asked["evidence"]["best_cosine"] > hidden["evidence"]["best_cosine"]


def test_questions_travel_in_messages_only(calibrator, sent):
    tell(calibrator, type="ready")
    assert {item["question"] for item in sent[0]["items"]} >= {"Sourdough minutes", "Eiffel tower?"}
    assert sum(item["hidden"] for item in sent[0]["items"]) == 15
    state = {key: value for key, value in calibrator.get_state().items() if key not in {"_esm", "_css"}}
    assert "Sourdough" not in str(state)


def test_a_saved_notebook_shows_text_and_a_picture(calibrator):
    data, _ = calibrator._repr_mimebundle_()
    assert data["text/plain"] == repr(calibrator)
    assert "of 15 answerable, 0 of 4 off topic" in repr(calibrator)
    picture = calibrator.picture()
    assert picture.data[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture.data == calibrator.picture().data
    assert f"answered at {calibrator.threshold:.3f}" in picture.alt


def test_without_labels_it_says_what_to_do(brain, tmp_path):
    empty = open_workbench(tmp_path / "none.jsonl", settings=brain.settings)
    with pytest.raises(UsageError, match="04_label_questions"):
        Calibrator(empty)
    empty.close()


def test_labels_of_documents_that_are_gone_are_left_out(bench, labels_file, tmp_path):
    with labels_file.open("a") as file:
        file.write('{"id": "z", "question": "?", "answerable": true, "relevant": [{"doc": "gone.md"}]}\n')
    other = open_workbench(labels_file, settings=bench.brain.settings)
    assert (len(other.labels), other.left_out) == (19, 1)
    assert repr(other) == (
        "5 documents, 19 labelled questions: 15 the notes answer, 4 they do not; "
        "1 more name documents that are not in the brain"
    )
    other.close()
