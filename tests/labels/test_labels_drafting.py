"""Drafted questions, and what feedback says of a question."""

import pytest

from brainkit.errors import UsageError
from brainkit.labels import STRATA, Label, Relevant, Topic, drafted, label_of, settled, verdict_of

TOPICS = [
    Topic("n:nas.md", "english", "NAS", "NAS > Disks", "text one"),
    Topic("n:nas.md", "english", "NAS", "NAS", "text two"),
    Topic("n:dns.md", "german", "Netz", "", "text three"),
    Topic("n:log.txt", "simple", "log", "", ""),
]


def test_plain_sentences_in_the_language_of_the_note():
    assert [label.question for label in drafted(TOPICS)] == [
        "What did I write about NAS: Disks?",
        "What did I write about NAS?",
        "Was habe ich über Netz geschrieben?",
        "What did I write about log?",
    ]
    first = drafted(TOPICS)[0]
    assert (first.answerable, first.relevant, first.source) == (True, (Relevant("n:nas.md"),), "draft")


def test_what_a_writer_gives_is_taken_unless_it_is_nothing():
    found = drafted(TOPICS, lambda text: f" {text}? \n" if "t" in text else " ")
    assert [label.question for label in found][2:] == ["text three?", "What did I write about log?"]


@pytest.mark.parametrize("text", ["missed", " MISSED", "should have answered", "Should_have answered "])
def test_verdicts_are_known_however_they_are_written(text):
    assert verdict_of(text) == "missed"


@pytest.mark.parametrize("text", ["", "rightly", "should", "not right"])
def test_other_words_are_no_verdicts(text):
    with pytest.raises(UsageError, match="give one of right, wrong, missed"):
        verdict_of(text)


@pytest.mark.parametrize("verdict", ["right", "wrong", "missed"])
@pytest.mark.parametrize("deflected", [True, False])
def test_only_a_right_answer_is_a_label_by_itself(verdict, deflected):
    said = label_of("0a", "Where?", ["n:a.md", "n:b.md"], verdict, deflected=deflected)
    assert (said.review == "") == (verdict == "right" and not deflected)
    assert bool(said.label.relevant) == (said.review == "")
    assert said.label.source == "feedback"


def test_a_person_s_decision_makes_it_a_label_like_any_other():
    open_label = label_of("0a", "Where?", [], "missed", deflected=True).label
    for kind in STRATA:
        done = settled(open_label, kind=kind)
        assert (done.stratum, done.relevant, done.source) == (kind, (), "reviewed")
    done = settled(open_label, document="n:a.md")
    assert (done.answerable, done.relevant, done.source) == (True, (Relevant("n:a.md"),), "reviewed")
    by_hand = Label("q", "Where?", False, kind="off_topic", source="me")
    assert settled(by_hand) == by_hand
    assert settled(by_hand, document="n:a.md").stratum == ""
