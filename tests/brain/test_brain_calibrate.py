"""Calibrating: labels in, a certificate out that holds for this brain and for no other."""

import json
import math

import psycopg
import pytest

from brainkit import Label
from brainkit.errors import LabelsError, UsageError
from brainkit.gate import refitting, shipped_threshold
from brainkit.settings import default_retrieval

SHIPPED = shipped_threshold("score", "wordllama")
TOKEN = "gh" + "p_" + "A9b8C7d6E5f4G3h2I1j0K9l8M7n6O5p4Q3r2"


def question_about(thing):
    return f"What did the {thing} cost?"


@pytest.fixture
def brain(open_brain, things):
    brain = open_brain()
    brain.import_paths([things])
    return brain


def stored(database_url):
    with psycopg.connect(database_url) as connection:
        return dict(connection.execute("select id, label from labels order by id").fetchall())


def test_answerable_labels_alone_certify_missing_notes(brain, labels, tmp_path):
    told = []
    before = brain.decide(question_about("piano"))
    assert before.reason.startswith("uncalibrated: score ")
    assert before.reason.endswith("run `brainkit calibrate` for a certified threshold")
    certificate = brain.calibrate(labels, progress=lambda *args: told.append(args))
    assert certificate.feasible
    assert (certificate.n, certificate.k, certificate.answerable) == (30, 0, 30)
    assert certificate.covers == ("missing_note",)
    assert told[-1] == ("calibrate", 30, 30)

    things = [label["id"] for label in labels]
    hidden = [brain.evidence(question_about(thing), [f"{thing}.md"]).best_score for thing in things]
    shown = [brain.evidence(question_about(thing)).best_score for thing in things]
    assert certificate.threshold == math.nextafter(max(hidden), math.inf)
    assert certificate.answered == sum(score > max(hidden) for score in shown) >= 20

    decision = brain.decide(question_about("piano"))
    assert decision.threshold == certificate.threshold
    assert decision.reason.startswith("certified: score ")
    assert json.loads((tmp_path / "home" / "certificate-score.json").read_text())["threshold"] == certificate.threshold
    assert brain.certificate() == certificate
    assert brain.status()["threshold_origin"] == "certificate"


def test_labels_come_as_path_dicts_or_labels(brain, labels, tmp_path, database_url):
    file = tmp_path / "q.jsonl"
    file.write_text("".join(json.dumps(label) + "\n" for label in labels))
    expected = brain.calibrate(labels)
    for given in (file, str(file), [Label.from_dict(label) for label in labels], iter(labels), None):
        again = brain.calibrate(given)
        assert (again.threshold, again.n, again.strata) == (expected.threshold, 30, expected.strata)
    assert len(stored(database_url)) == 30


def test_the_same_id_replaces_and_the_others_stay(brain, labels, database_url):
    brain.calibrate(labels[:25])
    brain.calibrate(
        [{"id": "piano", "question": "And the piano?", "answerable": True, "relevant": [{"doc": "things:piano.md"}]}]
    )
    found = stored(database_url)
    assert len(found) == 25
    assert found["piano"]["question"] == "And the piano?"
    assert brain.status()["labels"] == 25


def test_unanswerable_labels_are_reported_by_stratum(brain, labels):
    no = [
        {"id": f"o{i}", "question": f"How far away is star number {i}?", "answerable": False, "kind": "off_topic"}
        for i in range(22)
    ]
    certificate = brain.calibrate([*labels, *no, {"id": "u", "question": "Who?", "answerable": False}])
    assert {name: rate.n for name, rate in certificate.strata.items()} == {
        "missing_note": 30, "off_topic": 22, "unspecified": 1,
    }  # fmt: skip


def test_a_document_with_the_same_text_is_hidden_with_it(brain, things):
    question, path = question_about("piano"), "piano.md"
    alone = brain.evidence(question, [path])
    (things / "copies").mkdir()
    (things / "copies" / "old-piano.md").write_text((things / "piano.md").read_text())
    brain.import_paths([things])
    assert brain.evidence(question, [path]).best_cosine == pytest.approx(alone.best_cosine)
    assert brain.evidence(question, ["copies/old-piano.md"]).best_cosine == pytest.approx(alone.best_cosine)
    assert brain.recall(question, exclude_documents=[path]).documents[0].path == "copies/old-piano.md"


@pytest.mark.parametrize("doc", ["pianos.md", "other:piano.md", ""])
def test_a_document_that_is_not_in_the_brain_is_an_error_and_nothing_is_stored(brain, labels, database_url, doc):
    wrong = {"id": "w", "question": "?", "answerable": True, "relevant": [{"doc": "piano.md"}, {"doc": doc}]}
    with pytest.raises(LabelsError, match=f"label 'w': no document {doc!r} in the brain; import it first"):
        brain.calibrate([*labels, wrong])
    assert stored(database_url) == {}


@pytest.mark.parametrize(
    "wrong", [[{"id": "a"}], [{"id": 1, "question": "?", "answerable": True}], ["x"], "/no/file.jsonl"]
)
def test_labels_of_a_wrong_form_are_an_error(brain, database_url, wrong):
    with pytest.raises(LabelsError):
        brain.calibrate(wrong)
    assert stored(database_url) == {}


@pytest.mark.parametrize("levels", [{"alpha": 0}, {"alpha": 1.0}, {"delta": -0.1}, {"delta": 1}, {"alpha": math.nan}])
def test_levels_out_of_range_are_an_error_and_nothing_is_stored(brain, labels, database_url, levels):
    with pytest.raises(UsageError, match="give a number between 0 and 1"):
        brain.calibrate(labels, **levels)
    assert stored(database_url) == {}


def test_too_few_labels_leave_the_gate_as_it_was(brain, labels):
    few = brain.calibrate(labels[:21])
    assert (few.feasible, few.threshold, few.n, few.needed) == (False, None, 21, 22)
    assert "1 more would do" in few.promise()
    assert brain.threshold()[:2] == (SHIPPED, "shipped")
    assert brain.certificate() is None

    good = brain.calibrate(labels)
    assert not brain.calibrate(alpha=0.01).feasible
    assert brain.threshold()[:2] == (good.threshold, "certificate")
    assert brain.certificate() == good


def test_nothing_at_all_is_infeasible_and_no_error(open_brain):
    certificate = open_brain().calibrate()
    assert (certificate.feasible, certificate.n, certificate.answerable) == (False, 0, 0)


def test_labels_of_a_document_that_is_gone_are_set_aside(brain, labels, things):
    brain.calibrate(labels)
    (things / "piano.md").unlink()
    brain.import_paths([things], prune=True)
    certificate = brain.calibrate()
    assert (certificate.n, certificate.answerable) == (29, 29)
    assert brain.status()["labels"] == 30


def test_labels_hold_no_secret(brain, labels, database_url):
    leaky = {
        "id": "leaky", "question": f"Is token: {TOKEN} still good?", "answerable": True, "reference": f"token: {TOKEN}",
        "relevant": [{"doc": "piano.md", "quote": f"token: {TOKEN}"}], "tags": [f"token: {TOKEN}"],
        "source": f"token: {TOKEN}",
    }  # fmt: skip
    brain.calibrate([leaky])
    text = json.dumps(stored(database_url))
    assert TOKEN not in text
    assert text.count("[REDACTED:") == 5


# A fit of one's own


def test_half_of_the_labels_fit_the_gate_and_the_others_set_its_threshold(open_brain, things, labels, monkeypatch):
    brain = open_brain(gate="evidence")
    brain.import_paths([things])
    shipped = brain.gate
    with pytest.raises(LabelsError, match=r"30 labels are too few .* 300"):
        brain.calibrate(labels, refit=True)
    assert brain.certificate() is None
    monkeypatch.setattr(refitting, "ENOUGH", 30)
    certificate = brain.calibrate(labels, alpha=0.3, refit=True)
    fitted = set(certificate.fitted["labels"])
    assert 8 <= len(fitted) <= 22
    assert certificate.n == certificate.answerable == 30 - len(fitted)
    assert brain.gate != shipped
    # What the other half sees is what the coefficients of the one half give; sklearn is the oracle in tests/gate.
    first = next(label for label in labels if label["id"] not in fitted)
    evidence = brain.evidence(first["question"])
    kept = certificate.fitted
    linear = kept["intercept"] + sum(weight * getattr(evidence, name) for name, weight in kept["coefficients"].items())
    decision = brain.decide(first["question"])
    assert decision.score == pytest.approx(1 / (1 + math.exp(-linear)))
    assert decision.reason.startswith("certified: evidence ")
    again = open_brain(gate="evidence")
    assert again.gate == brain.gate
    assert again.decide(first["question"]).reason == decision.reason
    refreshed = again.refresh().certificate
    assert (refreshed.n, refreshed.fitted) == (certificate.n, certificate.fitted)
    whole = again.calibrate(alpha=0.3)  # the shipped coefficients again, and every label
    assert (whole.n, whole.fitted, again.gate) == (30, None, shipped)
    with pytest.raises(UsageError, match="score gate has nothing to fit"):
        again.calibrate(gate="score", refit=True)


def test_a_fit_for_another_model_or_one_that_is_damaged_is_not_used(open_brain, things, labels, tmp_path, monkeypatch):
    brain = open_brain(gate="evidence")
    brain.import_paths([things])
    shipped = brain.gate
    monkeypatch.setattr(refitting, "ENOUGH", 30)
    brain.calibrate(labels, alpha=0.3, refit=True)
    file = tmp_path / "home" / "certificate-evidence.json"
    whole = json.loads(file.read_text("utf-8"))
    for fitted in ({}, {"intercept": "x"}, {**whole["fitted"], "coefficients": {"nonsense": 1}}, [1], "x"):
        file.write_text(json.dumps({**whole, "fitted": fitted}), "utf-8")
        assert open_brain(gate="evidence").gate == shipped
    other = {**whole["fingerprint"], "embedding model": "another"}
    file.write_text(json.dumps({**whole, "fingerprint": other}), "utf-8")
    assert open_brain(gate="evidence").gate == shipped
    file.write_text(json.dumps(whole), "utf-8")
    assert open_brain(gate="evidence").gate != shipped


# Whose certificate it is


def test_a_certificate_is_of_one_gate(brain, labels):
    evidence = brain.calibrate(labels, gate="evidence")
    assert evidence.gate == "evidence"
    assert brain.threshold().origin == "shipped"
    assert brain.decide("x", gate="evidence").reason.startswith("certified: ")
    assert brain.decide(question_about("piano")).reason.startswith("uncalibrated: ")


def test_settings_can_choose_the_gate(open_brain, things, labels):
    brain = open_brain(gate="cosine")
    brain.import_paths([things])
    assert brain.calibrate(labels).gate == "cosine"
    assert brain.decide(question_about("piano")).reason.startswith("certified: cosine ")


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"retrieval": "dense(30)"}, "retrieval"),
        ({"chunk_target_chars": 500}, "chunking"),
        ({"embedder": "minilm", "retrieval": default_retrieval("wordllama"), "gate": "score"}, "embedding model"),
    ],
)
def test_under_other_settings_the_shipped_threshold_is_used_and_the_reason_names_the_part(
    brain, labels, open_brain, change, part
):
    certificate = brain.calibrate(labels)
    other = open_brain(**change)
    other.embed()  # until then another embedder does not serve
    decision = other.decide(question_about("piano"))
    assert decision.reason.startswith("uncalibrated: ")
    assert f"the certificate is for another {part}: run `brainkit calibrate`" in decision.reason
    assert decision.threshold == shipped_threshold("score", other.settings.embedder)
    assert brain.decide(question_about("piano")).threshold == certificate.threshold


def test_the_notes_of_another_database_have_their_own_certificate(brain, labels, tmp_path):
    brain.calibrate(labels)
    path = tmp_path / "home" / "certificate-score.json"
    data = json.loads(path.read_text())
    assert data["fingerprint"]["database"] == brain.status()["database"]
    data["fingerprint"]["database"] = "embedded"
    path.write_text(json.dumps(data))
    assert "for another database" in brain.decide("x").reason


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}', "\ud800"])
def test_a_damaged_certificate_is_told_and_never_raises(brain, labels, tmp_path, content):
    brain.calibrate(labels)
    (tmp_path / "home" / "certificate-score.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    decision = brain.decide(question_about("piano"))
    assert decision.reason.startswith("uncalibrated: ")
    assert "certificate-score.json cannot be read" in decision.reason
    assert decision.threshold == SHIPPED
    assert "cannot be read" in brain.status()["threshold_note"]
    assert brain.calibrate().feasible
    assert brain.decide(question_about("piano")).reason.startswith("certified: ")


def test_the_override_goes_before_the_certificate_and_says_so(brain, labels, open_brain):
    brain.calibrate(labels)
    other = open_brain(relevance_threshold=0.123)
    decision = other.decide(question_about("piano"))
    assert decision.threshold == 0.123
    assert decision.reason.startswith("BOR_RELEVANCE_THRESHOLD: score ")
    assert other.status()["threshold_origin"] == "override"
