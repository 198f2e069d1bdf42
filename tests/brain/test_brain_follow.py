"""A certificate follows the notes; labels that they contradict, and what people say, wait for a decision."""

import json
import math
import os

import psycopg
import pytest

from brainkit.errors import CertificateError, EmbedderUnavailableError, UsageError
from brainkit.store.state import corpus_state


@pytest.fixture
def brain(open_brain, things):
    brain = open_brain()
    brain.import_paths([things])
    return brain


@pytest.fixture
def small(open_brain, things):
    brain = open_brain()
    brain.import_paths([things / "piano.md", things / "violin.md"])
    return brain


def ask_the_log(database_url, statement, *values):
    with psycopg.connect(database_url) as connection:
        return connection.execute(statement, values).fetchall()


def log_scores(database_url, brain, scores, **changes):
    """Live questions with these scores."""
    values = {"settings": str(brain.retrieval), "gate": "score", "created": "now", **changes}
    with psycopg.connect(database_url) as connection:
        for score in scores:
            connection.execute(
                """insert into query_log (question, settings, lexical_hits, chunk_hits, decision, score, gate, sources,
                                          latency_ms, created_at)
                   values ('?', %s, 1, 1, 'answer', %s, %s, '{}', 1, %s::timestamptz)""",
                (values["settings"], score, values["gate"], values["created"]),
            )


# The state of the notes


def test_the_state_changes_with_every_document_and_with_nothing_else(brain, things, database):
    def state():
        return corpus_state(database, brain._models.serving.vectors)

    first = state()
    assert first.startswith("30 documents, chunk ")
    brain.import_paths([things])
    os.utime(things / "piano.md", ns=(1, 1))  # read again, and found to be the same
    brain.import_paths([things])
    assert state() == first
    seen = {first}
    for change in (
        lambda: (things / "piano.md").write_text("# Piano\n\nThe piano was sold.\n"),
        (things / "piano.md").unlink,
        lambda: (things / "organ.md").write_text("# Organ\n\nThe organ cost 7 euro.\n"),
    ):
        change()
        brain.import_paths([things], prune=True, embed=False)
        seen.add(state())
        brain.embed()
        seen.add(state())
    assert len(seen) == 1 + 2 + 1 + 2  # of a removed one there is nothing to embed


# Stale, and refreshed


def test_without_refresh_the_certificate_is_used_and_called_stale(brain, labels, things):
    before = brain.calibrate(labels)
    assert (brain.stale(), brain.status()["stale"]) == (False, False)
    (things / "organ.md").write_text("# Organ\n\nThe organ cost 7 euro.\n")
    brain.import_paths([things], refresh=False)
    decision = brain.decide("What did the piano cost?")
    assert decision.threshold == before.threshold
    assert decision.reason.startswith("certified: score ")
    assert "; stale, as the notes have changed: run `brainkit calibrate --refresh`" in decision.reason
    assert brain.status()["stale"]
    assert "stale" in brain.status()["threshold_note"]
    brain.refresh()
    assert "stale" not in brain.decide("What did the piano cost?").reason
    assert not brain.status()["stale"]


def test_an_import_that_changed_documents_refreshes_the_certificate(brain, labels, things):
    before = brain.calibrate(labels, 0.15, 0.2)
    (things / "piano.md").unlink()
    told = []
    brain.import_paths([things], prune=True, progress=lambda *step: told.append(step[0]))
    after = brain.certificate()
    assert "calibrate" in told
    assert (after.n, after.alpha, after.delta) == (before.n - 1, 0.15, 0.2)
    assert after.since == before.since
    assert not brain.stale()
    assert brain.reviews() == [("piano", "What did the piano cost?", "its document piano.md is gone")]


def test_what_changed_nothing_refreshes_nothing(brain, labels, things):
    before = brain.calibrate(labels)
    told = []
    brain.import_paths([things], progress=lambda *step: told.append(step[0]))
    assert brain.certificate() == before
    assert "calibrate" not in told


def test_until_everything_has_its_vector_it_stays_stale(brain, labels, things):
    before = brain.calibrate(labels)
    (things / "organ.md").write_text("# Organ\n\nThe organ cost 7 euro.\n")
    brain.import_paths([things], embed=False)
    assert brain.certificate() == before
    assert brain.stale()
    brain.embed()
    assert not brain.stale()


def test_a_text_that_can_never_be_embedded_is_not_waited_for(brain, labels, things, database_url):
    brain.calibrate(labels)
    (things / "organ.md").write_text("# Organ\n\nThe organ cost 7 euro.\n")
    brain.import_paths([things], embed=False)
    ask_the_log(
        database_url,
        """insert into embedding_failures (chunk_id, model_id, error, attempts)
           select c.id, %s, 'too long', 3 from chunks c join documents d on d.id = c.document_id
           where d.path = 'organ.md' returning 1""",
        brain._models.serving.vectors.model_id,
    )
    brain.embed()
    assert brain.status()["pending"] == 1
    assert not brain.stale()


def test_a_refresh_that_is_stopped_leaves_the_old_certificate(brain, labels, things):
    before = brain.calibrate(labels)
    (things / "organ.md").write_text("# Organ\n\nThe organ cost 7 euro.\n")

    def stop(what, done, total):
        if what == "calibrate" and done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        brain.import_paths([things], progress=stop)
    assert brain.certificate() == before
    assert brain.stale()
    assert brain.refresh().certificate.feasible
    assert not brain.stale()


def test_too_few_labels_left_keep_the_old_certificate_stale(brain, labels, things):
    before = brain.calibrate(labels[:22])
    for label in labels[:3]:
        (things / f"{label['id']}.md").unlink()
    brain.import_paths([things], prune=True)
    assert brain.certificate() == before
    assert brain.stale()
    assert not brain.refresh().certificate.feasible


def test_refused_without_a_certificate_or_under_other_settings(brain, labels, open_brain):
    with pytest.raises(CertificateError, match="no certificate: run `brainkit calibrate --labels FILE`"):
        brain.refresh()
    brain.calibrate(labels)
    with pytest.raises(CertificateError, match="for another retrieval: run `brainkit calibrate`"):
        open_brain(retrieval="dense(30)").refresh()


def test_nothing_is_certified_while_the_embedder_is_down(brain, labels, things, open_brain, monkeypatch):
    before = brain.calibrate(labels)

    def down(*_, **__):
        raise EmbedderUnavailableError("it is down")

    other = open_brain()  # it has not embedded these questions before
    monkeypatch.setattr(other._searcher._embedder, "embed_query", down)
    with pytest.raises(
        EmbedderUnavailableError, match=r"no threshold .* since notes are searched by words only: it is"
    ):
        other.calibrate()
    (things / "piano.md").unlink()
    other.import_paths([things], prune=True)
    assert other.certificate() == before
    assert other.stale()


# Labels that the notes contradict now


def test_an_unanswerable_question_whose_note_was_written_is_set_aside(brain, labels, things):
    no = [
        {"id": "organ", "question": "What did the organ cost?", "answerable": False, "kind": "missing_note"},
        {"id": "moon", "question": "How far away is the moon?", "answerable": False, "kind": "off_topic"},
    ]
    before = brain.calibrate([*labels, *no])
    (things / "organ.md").write_text("# Organ\n\nThe organ cost 7 euro. It stands in room 31 of the house.\n")
    brain.import_paths([things])
    reason = "things:organ.md is new or was changed, and may answer it now"
    assert brain.reviews() == [("organ", "What did the organ cost?", reason)]
    after = brain.certificate()
    assert (before.n, after.n) == (31, 30)
    assert brain.status()["labels_in_review"] == 1
    assert brain.calibrate().n == 30  # and it stays aside

    brain.settle("organ", document="organ.md")
    assert brain.reviews() == []
    assert (brain.calibrate().n, brain.calibrate().answerable) == (31, 31)


def test_a_new_note_that_lifts_no_question_sets_nothing_aside(brain, labels, things):
    no = {"id": "moon", "question": "How far away is the moon?", "answerable": False, "kind": "off_topic"}
    brain.calibrate([*labels, no])
    (things / "organ.md").write_text("# Organ\n\nThe organ cost 7 euro. It stands in room 31 of the house.\n")
    brain.import_paths([things])
    assert brain.reviews() == []


def test_a_known_false_answer_is_not_set_aside_when_its_note_is_touched(brain, labels, things):
    """It was one before: to drop it would make the gate look better than it is."""
    no = {"id": "tax", "question": "What did the piano cost?", "answerable": False, "kind": "missing_detail"}
    before = brain.calibrate([*labels, no])
    assert before.passed == ("tax",)
    text = (things / "piano.md").read_text()
    (things / "piano.md").write_text(text + "It is black.\n")
    brain.import_paths([things])
    assert brain.reviews() == []
    assert brain.certificate().strata["missing_detail"].answered == 1


def test_decisions_about_labels(brain, labels, things):
    no = {"id": "organ", "question": "What did the organ cost?", "answerable": False, "kind": "missing_note"}
    brain.calibrate([*labels, no])
    (things / "organ.md").write_text("# Organ\n\nThe organ cost 7 euro. It stands in room 31 of the house.\n")
    (things / "piano.md").unlink()
    brain.import_paths([things], prune=True)
    assert [one.id for one in brain.reviews()] == ["organ", "piano"]
    for wrong in ({"document": "nothing.md"}, {"kind": "colour"}, {"kind": "off_topic", "document": "organ.md"}):
        with pytest.raises(UsageError):
            brain.settle("organ", **wrong)
    with pytest.raises(UsageError, match="no label 'tent' waits"):
        brain.settle("tent", drop=True)
    with pytest.raises(UsageError, match=r"piano\.md"):
        brain.settle("piano")  # its document is still gone
    brain.settle("organ")
    brain.settle("piano", drop=True)
    assert brain.reviews() == []
    assert brain.status()["labels"] == 30
    assert brain.calibrate().n == 30


def test_given_again_a_label_is_used_again(brain, labels, database_url):
    brain.calibrate(labels)
    brain._labels.set_aside({"piano": "look"})
    assert brain.calibrate().n == 29
    assert brain.calibrate(labels).n == 30
    assert brain.reviews() == []


# All strata at once


def test_jointly(brain, labels):
    no = [
        {
            "id": f"d{i}",
            "question": f"Which colour has the {label['id']}?",
            "answerable": False,
            "kind": "missing_detail",
        }
        for i, label in enumerate(labels)
    ]
    alone, together = brain.calibrate([*labels, *no]), brain.calibrate(joint=True)
    assert together.covers == ("missing_detail", "missing_note")
    assert together.threshold >= alone.threshold
    scores = [brain.evidence(label["question"]).best_score for label in no]
    assert together.threshold == max(alone.threshold, math.nextafter(max(scores), math.inf))
    assert brain.certificate().joint
    assert "at most 10% of each kind get an answer" in brain.status()["certificate"]


# No labels at all


def test_without_labels_drafted_questions_give_an_estimate(brain):
    estimate = brain.calibrate()
    assert (estimate.feasible, estimate.certified, estimate.covers) == (True, False, ())
    assert estimate.basis == "30 questions drafted from titles and headings"
    assert (estimate.n, estimate.answerable) == (30, 30)
    assert brain.decide("What did the piano cost?").reason.startswith("estimate, uncertified: score ")
    assert brain.status()["threshold_origin"] == "estimate"
    assert brain.status()["certificate"].startswith("An estimate, not certified, from 30 questions drafted")
    assert brain.status()["labels"] == 0


def test_a_language_model_can_draft_them(brain):
    asked = []

    def write(text):
        asked.append(text)
        return f"How much was it? {len(asked)}"

    assert brain.calibrate(draft=write).n == 30
    assert len(asked) == 30
    assert all(" cost 1" in text for text in asked)


def test_few_documents_give_no_estimate(open_brain, things):
    brain = open_brain()
    brain.import_paths([things / "piano.md"])
    assert not brain.calibrate().feasible
    assert brain.threshold().origin == "shipped"


def test_answers_called_right_stand_before_drafts_and_certify_nothing(brain, labels):
    for label in labels[:25]:
        brain.feedback(brain.ask(label["question"]), "right")
    estimate = brain.calibrate()
    assert estimate.basis == "25 answers called right and 30 questions drafted from titles and headings"
    assert (estimate.n, estimate.certified) == (55, False)


def test_the_first_labels_end_the_estimate(brain, labels):
    brain.feedback(brain.ask(labels[0]["question"]), "right")
    brain.calibrate()
    certificate = brain.calibrate(labels)
    assert (certificate.certified, certificate.n) == (True, 30)  # what the gate chose itself does not count
    assert brain.decide("x").reason.startswith("certified: ")


# Drift


def test_questions_that_score_unlike_the_calibration_are_told(brain, labels, database_url, open_brain):
    certificate = brain.calibrate(labels)
    known = [*certificate.answerable_scores, *certificate.unanswerable_scores]
    log_scores(database_url, brain, known)
    assert brain.status()["drift"] == {"n": 60, "distance": pytest.approx(0, abs=0.02), "p": 1.0, "drifted": False}

    log_scores(database_url, brain, [min(known) - 0.3] * 60)
    assert not brain.status()["drift"]["drifted"]  # looked up every few minutes
    fresh = open_brain()
    found = fresh.status()["drift"]
    assert (found["n"], found["drifted"]) == (120, True)
    reason = fresh.decide("What did the piano cost?").reason
    assert reason.startswith("certified: ")
    assert "drifted, as the last 120 questions score unlike" in reason


def test_only_questions_under_the_same_gate_and_settings_since_then_count(brain, labels, database_url):
    brain.calibrate(labels)
    log_scores(database_url, brain, [-0.5] * 60, gate="cosine")
    log_scores(database_url, brain, [-0.5] * 60, settings="dense(30)")
    log_scores(database_url, brain, [-0.5] * 60, created="2020-01-01")
    log_scores(database_url, brain, [-0.5] * 49)
    assert brain.status()["drift"] == {"n": 49, "distance": 0.0, "p": 1.0, "drifted": False}


@pytest.mark.parametrize("since", ["yesterday", "\0", 5])
def test_a_certificate_with_a_time_that_is_none_is_not_used(brain, labels, tmp_path, since):
    brain.calibrate(labels)
    path = tmp_path / "home" / "certificate-score.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "since": since}))
    assert brain.decide("x").reason.startswith("uncalibrated: ")


# What people say


def test_a_right_answer_becomes_a_label_with_its_sources(small, database_url):
    reply = small.ask("What did the piano cost?")
    assert [source.path for source in reply.sources] == ["piano.md"]
    label, review = small.feedback(reply, "right")
    assert review == ""
    assert (label.answerable, label.grades, label.source) == (True, {"things:piano.md": 1}, "feedback")
    assert ask_the_log(database_url, "select reply, feedback from query_log") == [(reply.id, "right")]
    assert small.status()["labels"] == 1


@pytest.mark.parametrize(
    ("question", "verdict", "answerable", "reason"),
    [
        ("What did the piano cost?", "wrong", False, "the answer was wrong: name the document"),
        ("Who won the cup in Montevideo?", "right", False, "the deflection was right: say what kind"),
        (
            "Who won the cup in Montevideo?",
            "should have answered",
            True,
            "should have been answered: name the document",
        ),
        ("Who won the cup in Montevideo?", "wrong", True, "should have been answered: name the document"),
    ],
)
def test_everything_else_waits_for_a_person(small, question, verdict, answerable, reason):
    reply = small.ask(question)
    assert reply.deflected == ("Montevideo" in question)
    label, review = small.feedback(reply.id, verdict)
    assert review.startswith(reason)
    assert (label.answerable, label.relevant) == (answerable, ())
    assert [(one.id, one.reason) for one in small.reviews()] == [(f"reply-{reply.id}", review)]
    with pytest.raises(UsageError, match="cannot be kept as it is"):
        small.settle(label.id)
    small.settle(label.id, document="violin.md")
    assert small.reviews() == []
    settled = small._stored()[0]
    assert (settled.source, settled.grades, settled.stratum) == ("reviewed", {"violin.md": 1}, "")


def test_a_later_verdict_replaces_the_first(small):
    reply = small.ask("What did the piano cost?")
    small.feedback(reply, "right")
    small.feedback(reply, "wrong")
    assert (small.status()["labels"], len(small.reviews())) == (1, 1)
    small.feedback(reply, "right")
    assert (small.status()["labels"], len(small.reviews())) == (1, 0)


@pytest.mark.parametrize(("reply", "verdict"), [("", "right"), ("no such", "right"), ("-1", "wrong")])
def test_feedback_on_no_reply_is_an_error(small, reply, verdict):
    small.ask("What did the piano cost?")
    with pytest.raises(UsageError, match="is in the log: `brainkit ask` prints the id"):
        small.feedback(reply, verdict)
    assert small.status()["labels"] == 0


def test_a_verdict_that_is_none_is_an_error(small):
    with pytest.raises(UsageError, match="feedback 'great' is not allowed: give one of right, wrong, missed"):
        small.feedback(small.ask("What did the piano cost?"), "great")
