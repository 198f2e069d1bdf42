"""The extractive answer: on topic, verbatim, cited, short; and what is said when there is none."""

import uuid

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainkit.answering import Source, deflection, extract, reply_to, suggest
from brainkit.answering.deflect import OPENINGS
from brainkit.gate import Decision
from brainkit.retrieval import Evidence, Recall, RecalledChunk, RecalledDocument

UPS = """# UPS

The cellar UPS is an Eaton 5P. Its battery was changed on 12. March 2024.

| part | number |
|------|--------|
| battery | RBC7 |
| fuse | F-16A |

## Shutdown
Hosts go down in this order:
- k3s nodes first
- then amsel
"""
COMPOSE = "services:\n  paperless:\n    image: paperless-ngx:2.14\n    ports:\n      - 8971:8000\n"


def document(content, path="lab/ups.md", title="UPS", source="notes"):
    return RecalledDocument(uuid.uuid5(uuid.NAMESPACE_URL, source + path), source, path, title, 1.0, lambda _: content)


def chunk_of(doc, text, heading="", score=0.5):
    return RecalledChunk(1, doc.id, doc.source, doc.path, doc.title, heading, text, score, 1, 1, score, score)


def texts(question, *documents, weights=None, **kwargs):
    return [quote.text for quote in extract(question, documents, (), weights or {}, **kwargs)]


def squeezed(text):
    return "".join(text.split())


def test_the_sentence_that_shares_the_words_is_quoted_and_the_others_are_not():
    assert texts("When was the battery of the UPS changed?", document(UPS)) == [
        "Its battery was changed on 12. March 2024."
    ]


def test_a_row_comes_with_the_head_of_its_table_and_an_item_with_its_introduction():
    (row,) = extract("What is the number of the fuse part?", [document(UPS)], (), {})
    assert (row.text, row.lead, row.heading) == ("| fuse | F-16A |", "| part | number |", "UPS")
    quotes = extract("In which order do hosts go down at shutdown?", [document(UPS)], (), {})
    assert {quote.lead for quote in quotes} == {"Hosts go down in this order:"}
    assert [quote.text for quote in quotes] == ["- k3s nodes first", "- then amsel"]


def test_a_line_of_yaml_is_quoted_whole_below_its_key():
    (quote,) = extract("Which image does paperless run?", [document(COMPOSE, "compose.yaml")], (), {})
    assert (quote.text, quote.lead) == ("image: paperless-ngx:2.14", "paperless:")


def test_words_that_are_rare_in_the_notes_weigh_more():
    note = document("The fuse is old.\n\nThe RBC7 was bought.\n")
    question = "fuse RBC7"
    assert texts(question, note, weights={"fuse": 1.0, "rbc7": 6.0}) == ["The RBC7 was bought."]
    assert texts(question, note, weights={"fuse": 6.0, "rbc7": 1.0}) == ["The fuse is old."]


def test_meaning_decides_where_words_do_not():
    note = document("Der Strom fiel aus.\n\nDer Hund bellt.\n")

    def similarity(question, passages):
        assert question == "power cut"
        return np.array([0.9 if "Strom" in text else 0.1 for text in passages])

    assert texts("power cut", note, similarity=similarity) == ["Der Strom fiel aus."]


def test_without_vectors_words_alone_decide():
    blind = lambda _, passages: np.full(len(passages), np.nan)  # noqa: E731
    question = "When was the battery changed?"
    assert texts(question, document(UPS), similarity=blind) == texts(question, document(UPS))


def test_what_stands_in_the_best_chunk_goes_before_the_same_words_elsewhere():
    one, two = document("Port 80 here.\n", "a.md"), document("Port 81 here.\n", "b.md")
    assert extract("port", [one, two], [chunk_of(two, "Port 81 here.")], {})[0].path == "b.md"


def test_the_same_passage_in_two_documents_is_quoted_once():
    assert texts(
        "battery changed", document("- The battery changed.\n"), document("The battery  changed.\n", "b.md")
    ) == ["- The battery changed."]


def test_quotes_stand_in_reading_order_of_the_documents():
    first, second = document("Port a.\n\nThe port 443 tls.\n", "a.md"), document("The port 443 tls too.\n", "b.md")
    found = extract("port 443 tls", [first, second], (), {})
    assert [(q.path, q.text) for q in found] == [("a.md", "The port 443 tls."), ("b.md", "The port 443 tls too.")]


def test_never_more_than_600_characters_and_any_single_line_fits():
    many = document("\n".join(f"- port {i:03} of the switch is free for use" for i in range(100)))
    found = extract("free port switch", [many], (), {})
    assert 500 < sum(len(q.text) for q in found) <= 600
    long = "password_file: " + "x" * 580
    (quote,) = extract("password_file", [document("a" * 50 + ":\n  " + long, "x.yaml")], (), {})
    assert quote.text == long


def test_the_best_passage_is_quoted_even_where_none_is_near():
    far = lambda _, passages: np.full(len(passages), -0.5)  # noqa: E731
    assert len(texts("unrelated", document("Alpha beta.\n\nGamma delta.\n"), similarity=far)) >= 1


def test_nothing_to_quote_gives_nothing():
    for content in ("", "\n\n---\n", "# Title only\n", "| a |\n|---|\n"):
        assert texts("anything", document(content)) == []
    assert extract("anything", [], (), {}) == []


def test_a_very_long_document_is_searched_where_retrieval_found_it():
    content = "\n\n".join(f"Filler paragraph number {i}." for i in range(5000)) + "\n\nThe fridge is in the cellar.\n"
    doc = document(content)
    found = extract(
        "fridge", [doc], [chunk_of(doc, "Filler paragraph number 4999.\n\nThe fridge is in the cellar.")], {}
    )
    assert [q.text for q in found] == ["The fridge is in the cellar."]


LINES = st.sampled_from(
    ["", "# H", "- port item", "| port | a |", "|---|---|", "Port text. More.", "  port: 1", "```", "ports:", "x"]
)


@given(st.lists(LINES, max_size=40), st.sampled_from(["a.md", "b.yaml", "c.txt"]))
def test_whatever_the_document_quotes_are_verbatim_and_few(lines, path):
    content = "\n".join(lines)
    reply = reply_of("port text", document(content, path))
    assert sum(len(q.text) for q in reply.quotes) <= 600
    shown = reply.text.splitlines() if not reply.deflected else []
    quoted = [line for line in shown if line and not line.startswith("[")]
    assert sum(len(line.strip()) for line in quoted) <= 600
    assert all(squeezed(line) in squeezed(content) for line in quoted)
    assert not any(line.strip() in {"|---|---|", "-", "ports:", "```"} for line in quoted[-1:])


def reply_of(
    question, *documents, answer=True, passes=lambda _: True, titles=("UPS",), chunks=(), cite=lambda s: s.path
):
    recall = Recall(question, tuple(chunks), documents, Evidence(lexical_hits=1), "dense(30)", {})
    decision = Decision(answer, 0.5, 0.4, "score", "certified: ...", recall)
    return reply_to(decision, None, passes, lambda: titles, cite)


def test_an_answer_names_path_and_heading_above_the_quotes():
    reply = reply_of("In which order do hosts go down?", document(UPS))
    assert reply.text == (
        "[lab/ups.md] (Shutdown)\n  Hosts go down in this order:\n    - k3s nodes first\n    - then amsel"
    )
    assert reply.sources == (Source("notes", "lab/ups.md", "UPS"),)
    assert (reply.deflected, reply.suggestions) == (False, ())


def test_a_heading_that_is_the_title_is_not_said_twice_and_lines_of_a_command_stay_below_each_other():
    assert reply_of("Eaton", document(UPS)).text == "[lab/ups.md]\n  The cellar UPS is an Eaton 5P."
    script = document("restic backup \\\n  --tag nightly\n", "run.sh")
    assert reply_of("restic tag", script).text == "[run.sh]\n  restic backup \\\n    --tag nightly"


def test_only_quoted_documents_are_sources_and_those_of_one_path_are_told_apart():
    one, two = document("The port is 80.\n", "a.md", source="lab"), document("The port is 81.\n", "a.md", source="life")
    other = document("Nothing of that.\n", "c.md")
    reply = reply_of("Which port is it?", one, two, other, cite=lambda s: f"{s.source}:{s.path}")
    assert [source[:2] for source in reply.sources] == [("lab", "a.md"), ("life", "a.md")]
    assert reply.text == "[lab:a.md]\n  The port is 80.\n\n[life:a.md]\n  The port is 81."


def test_an_answer_without_anything_to_quote_is_a_deflection():
    reply = reply_of("port", document("---\n"))
    assert reply.deflected
    assert reply.sources == reply.quotes == ()


def test_to_dict_is_plain_data():
    data = reply_of("Eaton", document(UPS)).to_dict()
    assert data.pop("id")
    assert data == {
        "question": "Eaton",
        "text": "[lab/ups.md]\n  The cellar UPS is an Eaton 5P.",
        "deflected": False,
        "sources": [{"source": "notes", "path": "lab/ups.md", "title": "UPS"}],
        "suggestions": [],
        "decision": {"answer": True, "score": 0.5, "threshold": 0.4, "gate": "score", "reason": "certified: ..."},
        "degraded": "",
        "model": "",
        "note": "",
        "cut": False,
        "unsupported": [],
        "removed_citations": 0,
        "usage": None,
    }


# When the notes hold nothing


def test_every_opening_says_the_phrase_and_is_short():
    assert all(text.startswith("I haven't done anything like that") for text in OPENINGS["english"])
    assert all(text.startswith("So etwas habe ich noch nicht gemacht") for text in OPENINGS["german"])
    assert all(len(text) < 100 and text.endswith(".") for texts in OPENINGS.values() for text in texts)


def test_the_same_question_gets_the_same_opening_and_all_are_used():
    openings = [deflection(f"question {i}", "english", (), ()) for i in range(50)]
    assert openings == [deflection(f"question {i}", "english", (), ()) for i in range(50)]
    assert set(openings) == set(OPENINGS["english"])


def test_a_deflection_names_near_titles_and_questions():
    text = deflection("q", "english", ["A", "B"], ["What do I have on A?", "What do I have on B?"])
    assert text.splitlines()[1:] == [
        "The nearest notes are: A, B.", "", "These I can answer:", "- What do I have on A?", "- What do I have on B?",
    ]  # fmt: skip


def test_an_empty_brain_is_told_what_to_do():
    reply = reply_of("Wo ist der Schlüssel und was kostet er?", answer=False, titles=())
    assert reply.text.startswith("So etwas habe ich noch nicht gemacht")
    assert "brainkit import" in reply.text
    assert "brainkit import" in reply_of("Where?", answer=False, titles=()).text
    assert "brainkit import" not in reply_of("Where?", answer=False).text
    assert reply.suggestions == ()


def test_a_lone_surrogate_does_no_harm():
    assert deflection("\ud800", "english", (), ()).startswith("I haven't")


def recall_with(*chunks, documents=()):
    return Recall("q", tuple(chunks), documents, Evidence(), "dense(30)", {})


def test_suggestions_are_made_of_headings_and_titles_without_markup():
    ups, flux = document(UPS), document("", "f.md", "🚀 **Flux**")
    recall = recall_with(
        chunk_of(ups, "", "Power > 2. ⚡ Shutdown order"), chunk_of(ups, "", "Other"), chunk_of(flux, "", "spec"),
        documents=(document("", "z.md", "DNS on eule"),),
    )  # fmt: skip
    assert suggest(recall, "english", lambda _: True) == [
        "What do I have on Shutdown order (UPS)?", "What do I have on Flux?", "What do I have on DNS on eule?",
    ]  # fmt: skip
    assert suggest(recall, "german", lambda _: True)[0] == "Was habe ich zu Shutdown order (UPS)?"


def test_only_questions_that_pass_the_gate_are_suggested_and_not_for_ever():
    asked = []

    def passes(question):
        asked.append(question)
        return question.endswith(("7?", "9?"))

    found = suggest(recall_with(), "english", passes, (f"note {i}" for i in range(1000)))
    assert found == ["What do I have on note 7?", "What do I have on note 9?"]
    assert len(asked) == 12


def test_what_is_too_long_to_be_asked_for_is_no_topic():
    assert suggest(recall_with(), "english", lambda _: True, ["x" * 500, "DNS"]) == ["What do I have on DNS?"]


def test_no_suggestion_twice_and_none_without_a_topic():
    titles = ["UPS", "UPS", "***", "ups ", "UPS!"]
    assert suggest(recall_with(), "english", lambda _: True, titles) == [
        "What do I have on UPS?",
        "What do I have on ups?",
    ]


@pytest.mark.parametrize("heading", ["", "ups", "x" * 61, "metadata"])
def test_a_heading_that_adds_nothing_is_left_out(heading):
    assert suggest(recall_with(chunk_of(document(UPS), "", heading)), "english", lambda _: True) == [
        "What do I have on UPS?"
    ]
