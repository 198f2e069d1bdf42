"""The form of one label."""

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brainkit.labels.hiding
import brainkit.labels.model
from brainkit.errors import LabelsError
from brainkit.labels import STRATA, HiddenVariant, Label, Relevant, hidden_variant

FULL = {
    "id": "dns-port",
    "question": "Which port does the resolver listen on?",
    "answerable": True,
    "relevant": [{"doc": "dns/eule.md", "quote": "port 5335", "grade": 2}],
    "reference": "5335",
    "kind": "exact_token",
    "tags": ["dns"],
    "must_pass": True,
    "source": "hand",
}


def test_the_strata_are_the_four_of_the_design():
    assert STRATA == ("off_topic", "missing_note", "missing_detail", "false_premise")


def test_a_full_label_goes_both_ways_in_the_order_of_the_file():
    label = Label.from_dict(FULL)
    assert label.relevant == (Relevant("dns/eule.md", "port 5335", 2),)
    assert label.to_dict() == FULL
    assert list(label.to_dict()) == list(FULL)


def test_what_a_caller_may_leave_out_takes_its_default_and_unknown_keys_are_ignored():
    given_dict = {"id": "a", "question": "q?", "answerable": True, "relevant": [{"doc": "a.md"}], "colour": "red"}
    assert Label.from_dict(given_dict) == Label("a", "q?", True, (Relevant("a.md", "", 1),), "", "", (), False, "")
    assert Label.from_dict({**given_dict, "kind": None, "relevant": None}).relevant == ()


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"id": None}, ["id is missing", "question"]),
        ({"question": 7}, ["question = 7", "text"]),
        ({"answerable": "yes"}, ["answerable = 'yes'", "true or false"]),
        ({"answerable": None}, ["answerable is missing"]),
        ({"must_pass": 1}, ["must_pass = 1", "true or false"]),
        ({"relevant": "dns.md"}, ["relevant = 'dns.md'", "a list"]),
        ({"relevant": ["dns.md"]}, ["relevant[0] = 'dns.md'", "an object"]),
        ({"relevant": [{"doc": "a"}, {"quote": "x"}]}, ["relevant[1]: doc is missing"]),
        ({"relevant": [{"doc": "a", "grade": 0}]}, ["relevant[0]: grade = 0", "1 up"]),
        ({"relevant": [{"doc": "a", "grade": True}]}, ["relevant[0]: grade = True"]),
        ({"tags": ["a", 3]}, ["tags[1] = 3", "text"]),
        ({"reference": "x" * 500}, []),
        ({"kind": "a\0b"}, ["kind", "NUL"]),
        ({"kind": "\ud800"}, ["kind", "surrogates"]),
        ({"question": ["x" * 500]}, ["question", "..."]),
    ],
)
def test_errors_name_the_line_the_field_the_value_and_what_is_allowed(change, parts):
    if not parts:
        assert Label.from_dict({**FULL, **change}).reference == "x" * 500
        return
    with pytest.raises(LabelsError) as caught:
        Label.from_dict({**FULL, **change}, "questions.jsonl:12")
    message = str(caught.value)
    assert message.startswith("questions.jsonl:12: ")
    assert len(message) < 250
    for part in parts:
        assert part in message


def test_something_that_is_no_object_is_refused():
    with pytest.raises(LabelsError, match=r"here = \[1\] is not allowed: give an object"):
        Label.from_dict([1], "here")


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
labels = st.builds(
    Label,
    id=texts,
    question=texts,
    answerable=st.booleans(),
    relevant=st.lists(st.builds(Relevant, texts, texts, st.integers(1, 9)), max_size=3).map(tuple),
    reference=texts,
    kind=texts,
    tags=st.lists(texts, max_size=3).map(tuple),
    must_pass=st.booleans(),
    source=texts,
)


@settings(deadline=None)
@given(labels)
def test_any_label_survives_the_way_through_a_dict(label):
    assert Label.from_dict(label.to_dict()) == label


def test_grades_keep_the_best_of_two_quotes_in_one_document():
    label = Label("a", "q", True, (Relevant("x.md", "one", 1), Relevant("y.md"), Relevant("x.md", "two", 3)))
    assert label.grades == {"x.md": 3, "y.md": 1}


def test_stratum_and_near_documents():
    assert Label("a", "q", True, kind="german").stratum == ""
    assert Label("a", "q", False, kind="missing_detail").stratum == "missing_detail"
    assert Label("a", "q", False).stratum == "unspecified"
    assert Label("a", "q", False, tags=("x", "about:dns/uhu.md")).about == ("dns/uhu.md",)


def test_hiding_excludes_every_relevant_document_once():
    label = Label("a", "q?", True, (Relevant("x.md", "1"), Relevant("x.md", "2"), Relevant("y.md")))
    assert hidden_variant(label) == HiddenVariant("a", "q?", ("x.md", "y.md"), "missing_note")


@pytest.mark.parametrize("label", [Label("a", "q", True), Label("a", "q", False, (Relevant("x.md"),))])
def test_a_label_without_a_document_cannot_hide_one(label):
    with pytest.raises(LabelsError, match="'a' has no document to hide"):
        hidden_variant(label)


@pytest.mark.parametrize("module", [brainkit.labels.model, brainkit.labels.hiding])
def test_examples_in_the_docstrings(module):
    assert doctest.testmod(module).failed == 0
