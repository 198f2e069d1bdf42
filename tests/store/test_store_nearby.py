"""Words that no chunk holds: typing mistakes corrected, German compounds whole and in parts."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

import brainkit.store.nearby
from brainkit.store import question_terms
from brainkit.store.nearby import MOST_COMPOUNDS, Form, mistakes, near_forms

ENGLISH = [
    "kubernet",
    "network",
    "postgresql",
    "cach",
    "certif",
    "shell",
    "stick",
    "batteri",
    "cat",
    "table",
    "overnight",
]
GERMAN = ["warmepump", "klein", "garten", "zertifikat", "server", "arbeitsplatz", "parkplatz", "heizungspump", "bad"]


@pytest.fixture
def lexicon(database):
    with database.connection() as connection:
        for language, lexemes in (("english", ENGLISH), ("german", GERMAN)):
            for number, lexeme in enumerate(lexemes):
                connection.execute("insert into lexeme_stats values (%s, %s, %s)", (language, lexeme, 10 - number))
    return database


def near(lexicon, word):
    (term,) = question_terms(word)
    return [form.lexeme for form in near_forms(lexicon, {7: term}).get(7, [])]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("kuberntes", ["kubernet"]),  # one left out
        ("kubbernetes", ["kubernet"]),  # one too many
        ("kubermetes", ["kubernet"]),  # another
        ("netwrok", ["network"]),  # exchanged
        ("postgersqll", ["postgresql"]),  # two mistakes in a long word
        ("cahce", ["cach"]),
        ("zertifkat", ["zertifikat"]),
        ("batterys", ["batteri"]),
    ],
)
def test_typing_mistakes(lexicon, word, meant):
    assert near(lexicon, word) == meant


@pytest.mark.parametrize(
    "word", ["spell", "stock", "cable", "bat", "cta", "etwork", "zeppelin", "k3s9node2", "oversights"]
)
def test_other_words_are_no_mistakes(lexicon, word):
    assert near(lexicon, word) == ([] if word != "oversights" else ["overnight"])


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("Kleingarten", ["klein", "garten"]),
        ("Serverzertifikat", ["server", "zertifikat"]),
        ("Serverszertifikate", ["server", "zertifikat"]),
        ("Pumpe", ["heizungspump", "warmepump"]),
        ("Pumpen", ["heizungspump", "warmepump"]),
        ("Platz", ["arbeitsplatz", "parkplatz"]),
        ("Gartenbad", []),  # a part of three letters may be anything
    ],
)
def test_german_compounds(lexicon, word, found):
    assert sorted(near(lexicon, word)) == sorted(found)


def test_forms_tell_their_language_and_known_words_are_not_asked_about(lexicon):
    terms = dict(enumerate(question_terms("netwrok Kleingarten zeppelin")))
    assert near_forms(lexicon, terms) == {
        0: [Form("english", "network")],
        1: [Form("german", "klein"), Form("german", "garten")],
    }
    assert near_forms(lexicon, {}) == {}


def test_no_more_compounds_than_a_question_can_bear(lexicon):
    with lexicon.connection() as connection:
        for number in range(20):
            connection.execute("insert into lexeme_stats values ('german', %s, 1)", (chr(97 + number) * 4 + "platz",))
    found = near(lexicon, "Platz")
    assert len(found) == MOST_COMPOUNDS
    assert found[:2] == ["arbeitsplatz", "parkplatz"]  # the commonest


def test_words_like_patterns_are_words(lexicon):
    for word in ("n_twork", "netw%rk", "net\\work", "'network", "日本語日本語", "ßßßßßß"):
        near_forms(lexicon, dict(enumerate(question_terms(word))))


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [("", "", 0), ("a", "", 1), ("ab", "ba", 1), ("kitten", "sitting", 3), ("ca", "abc", 3), ("abcd", "acbd", 1)],
)
def test_mistakes_are_those_of_optimal_string_alignment(one, other, count):
    assert mistakes(one, other, 9) == mistakes(other, one, 9) == count
    assert mistakes(one, other, 1) == min(count, 2)


@given(st.text("abc", max_size=7), st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_mistakes_count_like_a_distance(one, other, third):
    assert (mistakes(one, other, 20) == 0) == (one == other)
    assert mistakes(one, other, 20) <= max(len(one), len(other))
    assert mistakes(one + third, other + third, 20) <= mistakes(one, other, 20)


def test_examples_in_the_docstrings():
    assert doctest.testmod(brainkit.store.nearby).failed == 0
