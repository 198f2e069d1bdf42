"""The certificate's file and its words."""

import json
import math
import os
from dataclasses import replace

import pytest

from brainkit.errors import CertificateError
from brainkit.gate import Certificate, LabelledEvidence, StratumRate, certify, make_gate
from brainkit.gate.outlook import Outlook
from brainkit.retrieval import Evidence

CERTIFICATE = Certificate(
    gate="score", threshold=math.nextafter(0.36, 1), alpha=0.1, delta=0.1, n=38, k=1, needed=22, answerable=60,
    answered=33, strata={
        "missing_detail": StratumRate(20, 8, 0.19, 0.64, covered=False),
        "missing_note": StratumRate(38, 1, 0.0007, 0.138, covered=True),
        "off_topic": StratumRate(30, 1, 0.0008, 0.172, covered=False, missing=8),
    }, fingerprint={"gate": "score 1", "retrieval": "dense(30)"}, created="2026-11-30T10:00:00+00:00",
)  # fmt: skip


def test_what_is_saved_loads_again_to_the_last_digit(tmp_path):
    path = tmp_path / "new" / "certificate-score.json"
    CERTIFICATE.save(path)
    assert Certificate.load(path) == CERTIFICATE
    assert [p.name for p in path.parent.iterdir()] == ["certificate-score.json"]
    data = json.loads(path.read_text("utf-8"))
    assert (data["feasible"], data["certified"], data["covers"], data["format"]) == (True, True, ["missing_note"], 1)


def test_the_file_keeps_what_is_needed_and_plain_data_say_more(tmp_path):
    path = tmp_path / "c.json"
    full = replace(
        CERTIFICATE, joint=True, passed=("q1",), answerable_scores=(0.4, 0.5), outlook=(Outlook(38, 0.6),), corpus="9"
    )
    full.save(path)
    assert Certificate.load(path) == full
    assert Certificate.load(path).outlook == ()
    said = json.loads(json.dumps(full.to_dict()))
    assert said.pop("promise") == full.promise()
    assert said.pop("outlook") == [{"more": 38, "answered": 0.6}]
    assert said == json.loads(path.read_text("utf-8"))


def test_a_file_from_before_the_new_fields_is_read(tmp_path):
    path = tmp_path / "c.json"
    CERTIFICATE.save(path)
    data = json.loads(path.read_text("utf-8"))
    for name in ("joint", "basis", "corpus", "since", "passed", "answerable_scores", "unanswerable_scores"):
        del data[name]
    path.write_text(json.dumps(data))
    assert Certificate.load(path) == CERTIFICATE


def test_saving_replaces_at_once_and_leaves_the_old_one_when_it_cannot(tmp_path, monkeypatch):
    path = tmp_path / "c.json"
    CERTIFICATE.save(path)
    seen = []
    monkeypatch.setattr("pathlib.Path.replace", lambda part, target: seen.append((part.read_text("utf-8"), target)))
    replace(CERTIFICATE, threshold=0.9).save(path)
    assert Certificate.load(path) == CERTIFICATE  # nothing was written to the file itself ...
    assert json.loads(seen[0][0])["threshold"] == 0.9  # ... the whole of it was there before it took the name
    assert seen[0][1] == path


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(CertificateError, match=r"certificate.json cannot be written"):
        CERTIFICATE.save(tmp_path / "file" / "certificate.json")


GOOD = {k: v for k, v in CERTIFICATE.to_dict().items() if k not in {"promise", "outlook"}}
DAMAGED = {
    "empty": "",
    "half": json.dumps(GOOD)[:200],
    "binary": "\x00\xff",
    "a list": "[1, 2]",
    "a number": "7",
    "a text": '"certificate"',
    "null": "null",
    "another program's": '{"name": "x", "version": 2}',
    "of a newer format": json.dumps({**GOOD, "format": 2}),
    "without format": json.dumps({k: v for k, v in GOOD.items() if k != "format"}),
    "with a part missing": json.dumps({k: v for k, v in GOOD.items() if k != "alpha"}),
    "with a part too many": json.dumps({**GOOD, "colour": "red"}),
    "threshold as text": json.dumps({**GOOD, "threshold": "0.4"}),
    "threshold not a number": json.dumps({**GOOD, "threshold": math.nan}),
    "threshold infinite": json.dumps({**GOOD, "threshold": math.inf}),
    "threshold beyond floats": json.dumps({**GOOD, "threshold": 10**400}),
    "alpha as text": json.dumps({**GOOD, "alpha": "small"}),
    "counts as text": json.dumps({**GOOD, "answered": "many"}),
    "strata as list": json.dumps({**GOOD, "strata": [1]}),
    "scores not numbers": json.dumps({**GOOD, "answerable_scores": ["a"]}),
    "basis as number": json.dumps({**GOOD, "basis": 3}),
    "stratum as number": json.dumps({**GOOD, "strata": {"off_topic": 3}}),
    "fingerprint as number": json.dumps({**GOOD, "fingerprint": 3}),
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_or_foreign_file_is_an_error_that_says_what_to_run(tmp_path, content):
    path = tmp_path / "certificate-score.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(CertificateError, match=r"certificate-score.json .*run `brainkit calibrate`"):
        Certificate.load(path)


def test_a_file_that_is_not_there_or_is_a_folder_is_an_error_too(tmp_path):
    for path in (tmp_path / "no.json", tmp_path):
        with pytest.raises(CertificateError, match="cannot be read"):
            Certificate.load(path)


def test_mismatch_names_the_parts_that_differ():
    assert CERTIFICATE.mismatch({"gate": "score 1", "retrieval": "dense(30)"}) == []
    assert CERTIFICATE.mismatch({"gate": "score 1", "retrieval": "dense(50)"}) == ["retrieval"]
    assert CERTIFICATE.mismatch({"retrieval": "dense(50)", "chunking": "x"}) == ["chunking", "gate", "retrieval"]


def test_promise_in_words():
    assert CERTIFICATE.promise() == (
        "Of questions about things your notes do not hold, at most 10% get an answer, with 90% confidence; 55% of "
        "those your notes can answer are answered; "
        "details missing from an existing note are not covered (8 of 20 were answered); "
        "things far from your notes are not covered (1 of 30 were answered): 8 more such labels would do if they fare "
        "alike."
    )


def test_promise_of_several_strata_and_odd_levels():
    covered = {name: replace(rate, covered=True) for name, rate in CERTIFICATE.strata.items()}
    certificate = replace(CERTIFICATE, strata=covered, alpha=0.005, delta=0.07, answerable=0)
    kinds = "details missing from an existing note, things your notes do not hold and things far from your notes"
    assert certificate.promise() == f"Of questions about {kinds}, at most 0.5% get an answer, with 93% confidence."
    together = replace(certificate, joint=True).promise()
    assert together == f"Of questions about {kinds}, at most 0.5% of each kind get an answer, with 93% confidence."


def test_promise_names_missing_details_though_nobody_labelled_one():
    only = replace(CERTIFICATE, strata={"missing_note": CERTIFICATE.strata["missing_note"]})
    # 22 labels without a false answer: the smallest number at .1 / .1
    assert only.promise().endswith(
        "details missing from an existing note are not covered: it takes 22 such labels at least."
    )


def test_an_estimate_promises_nothing():
    estimate = replace(CERTIFICATE, basis="20 drafted questions", strata={})
    assert (estimate.feasible, estimate.certified, estimate.covers) == (True, False, ())
    text = estimate.promise()
    assert text.startswith("An estimate, not certified, from 20 drafted questions: of 38 such questions")
    assert "confidence" not in text


def test_promise_of_an_infeasible_one_says_what_is_missing():
    few = replace(CERTIFICATE, threshold=None, n=15, k=-1)
    assert not few.feasible
    assert few.promise() == (
        "Not certified: 15 unanswerable questions are too few for at most 10% false answers with 90% confidence; "
        "7 more would do (an answerable label with its document gives one)."
    )


def test_promise_of_an_infeasible_joint_one_names_what_every_kind_lacks():
    few = replace(
        CERTIFICATE, threshold=None, n=2, k=-1, joint=True, strata={
            "missing_note": StratumRate(30, 0, 0, 0.12, covered=False),
            "off_topic": StratumRate(2, 0, 0, 0.84, covered=False, missing=20),
            "missing_detail": StratumRate(21, 0, 0, 0.16, covered=False, missing=1),
        },
    )  # fmt: skip
    assert few.promise() == (
        "Not certified: for at most 10% false answers of every kind with 90% confidence more labels are missing: "
        "20 about things far from your notes and 1 about details missing from an existing note."
    )


def test_created_is_utc_and_now():
    made = Certificate("score", None, 0.1, 0.1, 0, -1, 22, 0, 0, {}, {}).created
    assert made.endswith("+00:00")
    assert len(made) == len("2026-11-30T10:00:00+00:00")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_an_error(tmp_path):
    path = tmp_path / "c.json"
    CERTIFICATE.save(path)
    path.chmod(0)
    with pytest.raises(CertificateError, match="PermissionError"):
        Certificate.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"threshold": True}, {"threshold": "0.4"}, {"alpha": 0}, {"alpha": 1.5}, {"delta": True}, {"n": "x"}, {"n": -1},
        {"k": 10**6}, {"answered": 10**6}, {"answerable": -1}, {"created": [5]}, {"gate": "evidence"}, {"gate": 5},
    ],
)  # fmt: skip
def test_a_certificate_that_no_calibration_can_have_made_is_not_used(tmp_path, change):
    path = tmp_path / "c.json"
    made = certify(
        make_gate("score", "minilm"),
        [LabelledEvidence(f"q{i}", "missing_note", Evidence(best_score=i / 100)) for i in range(40)],
        alpha=0.1, delta=0.1, fingerprint={"gate": "score 1"},
    )  # fmt: skip
    made.save(path)
    assert Certificate.load(path) == made
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(CertificateError, match="brainkit calibrate"):
        Certificate.load(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_place_of_a_certificate_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "c.json")
    with pytest.raises(CertificateError):
        Certificate.load(tmp_path / "c.json")
