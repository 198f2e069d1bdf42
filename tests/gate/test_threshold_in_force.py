"""Which threshold is used, and what is said of it."""

from dataclasses import replace

import pytest

from brainkit.gate import Certificate, Drift, StratumRate, certificate_file, decide, make_gate, threshold_in_force
from brainkit.retrieval import Evidence, Recall

CERTIFICATE = Certificate(
    "cosine", 0.5, 0.1, 0.1, 38, 1, 22, 10, 6, {"missing_note": StratumRate(38, 1, 0.0, 0.1, covered=True)},
    {"gate": "cosine 1"}, corpus="3 documents", since="2026-11-30T10:00:00+00:00",
)  # fmt: skip


@pytest.fixture
def in_force(tmp_path):
    def ask(certificate=CERTIFICATE, **changes):
        certificate.save(certificate_file(tmp_path, "cosine"))
        values = {"override": None, "shipped": 0.3, "fingerprint": {"gate": "cosine 1"}, "corpus": "3 documents"}
        return threshold_in_force(tmp_path, "cosine", **{**values, **changes})

    return ask


def test_a_fitting_certificate_of_these_notes_needs_no_word(in_force):
    assert in_force() == (0.5, "certificate", "")
    assert in_force(corpus=None) == (0.5, "certificate", "")
    assert in_force(live=lambda _: Drift(100, 0.1, 0.5)) == (0.5, "certificate", "")


def test_stale_and_drifted_ones_are_used_and_called_so(in_force):
    asked = []

    def live(certificate):
        asked.append(certificate)
        return Drift(80, 0.4, 0.0002)

    value, origin, note = in_force(corpus="4 documents", live=live)
    assert (value, origin, asked) == (0.5, "certificate", [CERTIFICATE])
    assert note == (
        "stale, as the notes have changed: run `brainkit calibrate --refresh`; drifted, as the last 80 questions score "
        "unlike those it was made from (p = 0.0002): run `brainkit calibrate --labels FILE` with such questions"
    )


def test_the_fingerprint_goes_before_staleness_and_the_override_before_all(in_force):
    value, origin, note = in_force(fingerprint={"gate": "cosine 2"}, corpus="4 documents")
    assert (value, origin) == (0.3, "shipped")
    assert note == "the certificate is for another gate: run `brainkit calibrate`"
    assert in_force(override=0.7, corpus="4 documents") == (0.7, "override", "")


@pytest.mark.parametrize(
    ("basis", "beginning"),
    [("labels", "certified: cosine 0.600 >= 0.500"), ("9 drafts", "estimate, uncertified: cosine 0.600 >= 0.500")],
)
def test_a_reply_tells_an_estimate_from_a_certificate(in_force, basis, beginning):
    threshold = in_force(replace(CERTIFICATE, basis=basis))
    recall = Recall("?", (), (object(),), Evidence(best_cosine=0.6), "dense(30)")
    decision = decide(recall, make_gate("cosine", "minilm"), threshold)
    assert (decision.answer, decision.reason) == (True, beginning)
