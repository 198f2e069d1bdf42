"""Asking: answers that quote, deflections that are honest, a log that holds no secret."""

import psycopg
import pytest

from brainkit.errors import DatabaseError

AWS_KEY = "AK" + "IA" + "Z7QW3ERTY5PLM2XC"


@pytest.fixture
def brain(open_brain, tmp_path):
    notes = tmp_path / "lab"
    (notes / "deploy").mkdir(parents=True)
    (notes / "ups.md").write_text(
        "# UPS in the cellar\n\nThe battery was changed on 12 March 2024. It is an RBC7.\n\n## Shutdown\n\n"
        "Hosts go down in this order:\n\n- nodes of the cluster\n- the NAS amsel\n"
    )
    (notes / "deploy" / "paperless.yaml").write_text(
        "services:\n  paperless:\n    image: paperless-ngx:2.14\n    port: 8971\n"
    )
    (notes / "heizung.md").write_text("# Heizung\n\nDie Heizkurve der Wärmepumpe steht seit Januar auf 0,4.\n")
    (notes / "reading.md").write_text("# Books\n\nIna reads a novel about the sea and another one about ships.\n")
    brain = open_brain(relevance_threshold=0.2)
    brain.import_paths([notes])
    return brain


def logged(database_url):
    with psycopg.connect(database_url) as connection:
        return connection.execute(
            """select question, decision, gate, sources, chunk_hits, lexical_hits, best_cosine, score
               from query_log order by id"""
        ).fetchall()


def test_an_answer_quotes_the_note_word_for_word_with_its_path(brain):
    reply = brain.ask("When was the battery of the UPS changed?")
    assert not reply.deflected
    assert "[ups.md]" in reply.text
    assert "The battery was changed on 12 March 2024." in reply.text
    assert reply.sources[0].path == "ups.md"
    assert reply.suggestions == ()
    texts = brain.document_texts()
    for quote in reply.quotes:
        assert " ".join(quote.text.split()) in " ".join(texts[quote.path].split())
    assert sum(len(quote.text) for quote in reply.quotes) <= 600


def test_a_line_of_configuration_is_quoted_whole(brain):
    reply = brain.ask("Which port does paperless use?")
    assert "  paperless:\n    port: 8971" in reply.text or "    port: 8971" in reply.text
    assert "[deploy/paperless.yaml]" in reply.text


def test_what_the_notes_do_not_hold_is_deflected_with_questions_they_do_answer(brain):
    reply = brain.ask("How do I bake sourdough bread?")
    assert reply.deflected
    assert reply.text.startswith("I haven't done anything like that")
    assert reply.sources == reply.quotes == ()
    assert 2 <= len(reply.suggestions) <= 3
    for suggestion in reply.suggestions:
        assert suggestion in reply.text
        assert brain.decide(suggestion).answer
        assert not brain.ask(suggestion).deflected
    assert len(set(reply.suggestions)) == len(reply.suggestions)


def test_no_text_of_a_note_is_in_a_deflection(brain):
    text = brain.ask("How do I bake sourdough bread?").text
    for passage in ("12 March", "RBC7", "8971", "0,4", "novel"):
        assert passage not in text


def test_a_german_question_gets_a_german_reply(brain):
    answer = brain.ask("Auf welchem Wert steht die Heizkurve der Wärmepumpe?")
    assert "Die Heizkurve der Wärmepumpe steht seit Januar auf 0,4." in answer.text
    deflected = brain.ask("Wie repariere ich die Bremse von meinem Motorrad?")
    assert deflected.deflected
    assert deflected.text.startswith("So etwas habe ich noch nicht gemacht")
    assert all(suggestion.startswith("Was habe ich zu ") for suggestion in deflected.suggestions)


def test_an_empty_brain_says_so(open_brain):
    brain = open_brain()
    for reply in (brain.ask("Where is the key?"), brain.ask("")):
        assert reply.deflected
        assert reply.text.startswith("I haven't done anything like that")
        assert "brainkit import" in reply.text
        assert reply.suggestions == ()
        assert reply.decision.reason.startswith("uncalibrated: nothing was found")


def test_a_document_of_two_sources_is_cited_by_source_and_path(open_brain, tmp_path):
    for root, port in (("lab", 53), ("old", 5353)):
        (tmp_path / root).mkdir()
        (tmp_path / root / "eule.md").write_text(f"# DNS\n\nAdGuard on {root} listens on port {port}.\n")
    brain = open_brain(relevance_threshold=0.0)
    brain.import_paths([tmp_path / "lab"])
    assert "[eule.md]" in brain.ask("Which port does AdGuard listen on?").text
    brain.import_paths([tmp_path / "old"])
    text = brain.ask("Which port does AdGuard listen on?").text
    assert "[lab:eule.md]" in text
    assert "[old:eule.md]" in text
    brain.recall("AdGuard", exclude_documents=["lab:eule.md"])  # a citation names what an exclude takes


def test_every_question_is_logged_with_its_decision(brain, database_url):
    brain.ask("When was the battery changed?")
    brain.ask("How do I bake sourdough bread?")
    first, second = logged(database_url)
    assert first[:4] == ("When was the battery changed?", "answer", "score", ["lab:ups.md"])
    assert second[:4] == ("How do I bake sourdough bread?", "deflect", "score", [])
    assert first[4] >= 1 <= first[5]
    assert 0 < first[6] <= 1
    assert first[7] == pytest.approx(brain.decide("When was the battery changed?").score)
    assert brain.status()["questions"] == {"answer": 1, "deflect": 1}


def test_a_suggestion_that_is_tried_is_no_question_of_the_person(brain, database_url):
    assert brain.ask("How do I bake sourdough bread?").suggestions
    assert len(logged(database_url)) == 1


def test_the_log_holds_no_secret(brain, database_url):
    reply = brain.ask(f"Is {AWS_KEY} the key of the UPS battery?")
    ((question, *_),) = logged(database_url)
    assert AWS_KEY not in f"{question} {reply.to_dict()}"
    assert question.startswith("Is [REDACTED:")
    with psycopg.connect(database_url) as connection:
        assert AWS_KEY not in str(connection.execute("select * from query_log").fetchall())


def test_what_postgresql_cannot_hold_is_logged_all_the_same(brain, database_url):
    brain.ask("battery \0 \ud800 ?")
    ((question, *_),) = logged(database_url)
    assert question == "battery   ? ?"


def test_a_reply_is_not_lost_because_it_cannot_be_logged(brain, monkeypatch, caplog):
    def fails(_):
        raise DatabaseError("the disk is full")

    monkeypatch.setattr(brain._query_log, "write", fails)
    assert not brain.ask("When was the battery changed?").deflected
    assert brain.ask("How do I bake bread?").deflected
    assert brain.log_failures == brain.status()["log_failures"] == 2
    assert "a question could not be logged" in caplog.text
    assert "battery" not in caplog.text


def test_another_gate_for_once(brain):
    question = "When was the battery changed?"
    seed, score = brain.decide(question, gate="seed"), brain.decide(question)
    assert (seed.gate, score.gate) == ("seed", "score")
    assert seed.score == 2.0
    assert score.score == pytest.approx(score.recall.evidence.best_score)
    assert brain.gate.name == "score"
