"""Labels against the notes they speak of."""

import pytest

from brainkit.labels import STRATA, Label, Problem, Relevant, check

NOTES = {"dns/eule.md": "# DNS\nunbound listens\n   on port 5335.\n", "dns/uhu.md": "secondary"}


def yes(id_="a", question="Which port?", doc="dns/eule.md", quote="listens on port 5335"):
    return Label(id_, question, True, (Relevant(doc, quote),))


def no(id_="n", question="Which colour?", kind="missing_detail", tags=()):
    return Label(id_, question, False, kind=kind, tags=tags)


def test_a_right_set_has_no_problem():
    assert check([yes(), yes("b", "No quote?", quote=""), no(tags=("about:dns/uhu.md",))], NOTES) == []
    assert check([], {}) == []


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (yes(quote="port  5335"), None),
        (yes(quote="port 5336"), "the quote 'port 5336' is not in 'dns/eule.md' word for word"),
        (yes(quote="Port 5335"), "the quote 'Port 5335' is not in 'dns/eule.md' word for word"),
        (yes(quote="y" * 99), f"the quote '{'y' * 57}...' is not in 'dns/eule.md' word for word"),
        (yes(doc="dns/eule.mb"), "relevant document 'dns/eule.mb' is not there; did you mean 'dns/eule.md'?"),
        (yes(doc="zzzz"), "relevant document 'zzzz' is not there"),
        (yes(question=" \n"), "the question is empty"),
        (yes(id_=" "), "the id is empty"),
        (
            Label("a", "q", True),
            "answerable, but names no relevant document; add one or set answerable to false",
        ),
        (
            Label("a", "q", False, (Relevant("dns/uhu.md"),), kind="missing_detail"),
            "unanswerable, but names relevant documents; move a near one to a tag 'about:dns/uhu.md'",
        ),
        (
            no(kind="missing_notes"),
            "unanswerable, with kind 'missing_notes'; did you mean 'missing_note'?; allowed are " + ", ".join(STRATA),
        ),
        (
            no(kind=""),
            "unanswerable, with kind ''; allowed are off_topic, missing_note, missing_detail, false_premise",
        ),
        (
            no(tags=("about:dns/huhu.md",)),
            "document 'dns/huhu.md' of the tag 'about:dns/huhu.md' is not there; did you mean 'dns/uhu.md'?",
        ),
    ],
)
def test_each_problem_in_words(label, message):
    assert check([label], NOTES) == ([] if message is None else [Problem(label.id, message)])


def test_an_id_and_a_question_may_occur_once():
    found = check([yes("a"), yes("a", "Other?"), yes("c", " which   PORT? ")], NOTES)
    assert found == [
        Problem("a", "this id is used more than once; give each label its own"),
        Problem("c", "asks the same as 'a'; drop or reword one"),
    ]
