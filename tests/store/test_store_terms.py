"""Text into the terms that are indexed and asked for; the stems are those the Snowball project publishes."""

import concurrent.futures
import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

import brainkit.store.lexicon
import brainkit.store.terms
from brainkit.store import detect_language, document_terms, question_terms
from brainkit.store.lexicon import quoted, tsvector_literal


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("INV/2026/00037", ["inv/2026/00037", "inv", "2026", "00037"]),
        ("10.0.0.7", ["10.0.0.7", "10", "0", "0", "7"]),
        ("/etc/nginx/nginx.conf", ["etc/nginx/nginx.conf", "etc", "nginx", "nginx.conf", "nginx", "conf"]),
        ("k3s-node-02", ["k3s-node-02", "k3s", "node", "02"]),
        ("maxRowsPerPage", ["maxrowsperpage", "max", "rows", "per", "page"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("backup_dir", ["backup_dir", "backup", "dir"]),
        ("v1.31.4+k3s1", ["v1.31.4+k3s1", "v1.31.4", "v1", "31", "4", "k3s1"]),
        ("ina@fernhof.example", ["ina@fernhof.example", "ina", "fernhof.example", "fernhof", "example"]),
        ("00:1a:2b", ["00:1a:2b", "00", "1a", "2b"]),
        ("self-hosted and/or _private_", ["self", "hosted", "and", "or", "private"]),
        ("pages/_app.js", ["pages/_app.js", "pages", "app.js", "app", "js"]),
        ("über Größe STRASSE Straße", ["über", "grösse", "strasse", "strasse"]),
        ("Gru\u0308n Grün", ["grün", "grün"]),
        ("it's the server\u2019s, don't", ["it", "the", "server", "don"]),
        ("日本語 text", ["日本語", "text"]),
        ("", []),
        (" \x00 -- ... ''' \U0001f600 ", []),
    ],
)  # fmt: skip
def test_words_and_identifiers_whole_and_in_parts(text, terms):
    assert document_terms(text, "simple") == terms


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://10.0.0.7:8080/status", "10.0.0.7"),
        ("https://git.fernhof.example/nest.git", "git.fernhof.example"),
        ("see /etc/nginx/nginx.conf", "nginx.conf"),
        ("(INV/2026/00037)", "inv/2026/00037"),
        ("host=k3s-node-02;", "K3S-NODE-02"),
        ("`RESTIC_PASSWORD_FILE`", "restic_password_file"),
    ],
)
def test_a_name_inside_a_longer_one_is_found_whole(url, asked):
    whole = question_terms(asked)[0]
    assert whole.text == asked.lower()
    assert whole.english in document_terms(url, "english")


@pytest.mark.parametrize(
    ("word", "stem"),
    [("häuser", "haus"), ("häusern", "haus"), ("aufeinanderfolgenden", "aufeinanderfolg"), ("kategorien", "kategori")],
)
def test_german_stems(word, stem):
    assert document_terms(word, "german") == [stem]
    assert question_terms(word)[0].german == stem


@pytest.mark.parametrize(
    ("word", "stem"),
    [("backups", "backup"), ("consistency", "consist"), ("knightly", "knight"), ("restarting", "restart")],
)
def test_english_stems(word, stem):
    assert document_terms(word, "english") == [stem]


def test_stop_words_are_left_out_in_the_documents_own_language_only():
    text = "the backup und die Sicherung"
    assert document_terms(text, "english") == ["backup", "und", "die", "sicherung"]
    assert document_terms(text, "german") == ["the", "backup", "sicher"]
    assert document_terms(text, "simple") == text.lower().split()


def test_a_question_drops_the_stop_words_of_its_own_language():
    assert [term.text for term in question_terms("Wo steht die Sicherung, und was kostet sie?")] == [
        "steht", "sicherung", "kostet",
    ]  # fmt: skip
    assert [term.text for term in question_terms("Where did the backup die, and what was it?")] == ["backup", "die"]
    assert question_terms("Where is it?") == question_terms("Was ist das?") == question_terms("") == []


def test_a_question_asks_for_each_term_once_and_in_every_language():
    (term,) = question_terms("Häuser häuser HÄUSER")
    assert term == ("häuser", "häuser", "haus", "häuser")


@pytest.mark.parametrize(
    ("text", "prose", "language"),
    [
        ("Where is the backup of the database?", True, "english"),
        ("Wo ist die Sicherung der Datenbank?", True, "german"),
        ("Die Wärmepumpe wurde am 3. Mai gewartet, und der Filter ist neu.", True, "german"),
        ("", True, "english"),
        ("nginx", True, "english"),
        ("replicas image ports containers " * 20, True, "simple"),
        ("replicas image ports containers " * 20, False, "english"),
        ("image: nginx # das ist der alte Port, und er wird nicht mehr benutzt", False, "german"),
    ],
)
def test_language_of_a_text(text, prose, language):
    assert detect_language(text, prose=prose) == language


@given(st.text(max_size=300), st.sampled_from(["english", "german", "simple"]))
def test_no_text_gives_an_empty_or_endless_term(text, language):
    terms = document_terms(text, language)
    assert all(0 < len(term) <= 120 and not term.isspace() for term in terms)
    assert all(part for term in question_terms(text) for part in term)


@given(st.text(max_size=200))
def test_what_a_text_asks_for_it_finds_in_itself(text):
    for language in ("english", "german", "simple"):
        held = set(document_terms(text, language))
        stop = brainkit.store.terms._STOP[language]
        assert all(getattr(term, language) in held for term in question_terms(text) if term.text not in stop)


def test_very_long_words_are_cut_alike_in_documents_and_questions():
    word = "x1" * 5000
    assert document_terms(word, "english") == [question_terms(word)[0].english] == [word[:120]]


def test_stemming_in_many_threads_at_once():
    words = [f"{a}{b}ungen" for a in "bcdfghkl" for b in ("ack", "einricht", "wart", "erneuer")] * 50
    expected = [word.removesuffix("ungen") for word in words[:32]]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: document_terms(" ".join(words), "german"), range(16)):
            assert found == document_terms(" ".join(words), "german")
    assert [term.removesuffix("ung") for term in found[:32]] == expected


def test_tsvector_literal():
    assert tsvector_literal([]) == ""
    assert tsvector_literal(["o'brien", "a\\b", "o'brien"]) == r"'o''brien':1,3 'a\\b':2"
    many = tsvector_literal(["x"] * 20_000)
    assert many.endswith(",16383")  # PostgreSQL's highest position
    assert quoted("'\\") == r"'''\\'"


@pytest.mark.parametrize("module", [brainkit.store.terms, brainkit.store.lexicon])
def test_examples_in_the_docstrings(module):
    assert doctest.testmod(module).failed == 0
