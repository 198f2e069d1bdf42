"""Gates: the original rule's truth table, monotone scores, the lowest for no evidence, the logistic model by hand."""

import itertools
import json
import math
from dataclasses import replace
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainkit.errors import SettingsError
from brainkit.gate import FEATURES, GATES, EvidenceGate, decide, make_gate, shipped_threshold
from brainkit.gate.decision import Threshold
from brainkit.gate.gates import LATE_FEATURES, PLAIN_FEATURES
from brainkit.retrieval import Evidence, Recall, RecalledDocument

BUNDLED = json.loads(resources.files("brainkit.gate").joinpath("data/shipped.json").read_text("utf-8"))["embedders"]
evidences = st.builds(
    Evidence,
    best_cosine=st.floats(-1, 1), margin=st.floats(0, 2), best_lexical=st.floats(0, 1), best_score=st.floats(-0.5, 1),
    coverage=st.floats(0, 1), chunk_coverage=st.floats(0, 1), agreement=st.sampled_from([0.0, 1.0]),
    lead=st.floats(0, 1), passage_cosine=st.floats(-1, 1), passage_match=st.floats(-1, 1), word_match=st.floats(-1, 1),
    name_match=st.floats(-1, 1), lexical_hits=st.integers(0, 60), terms=st.integers(0, 20),
    unknown_terms=st.integers(0, 20),
)  # fmt: skip


def recall_of(evidence, documents=1):
    found = tuple(RecalledDocument(i, "s", f"{i}.md", "t", 1.0, str) for i in range(documents))
    return Recall("q", (), found, evidence, "dense(30)")


@pytest.mark.parametrize("cosine", [0.0, 0.61, 0.6199999, 0.62, 0.63, 1.0])
@pytest.mark.parametrize("hits", [0, 1, 30])
def test_seed_is_the_original_rule(cosine, hits):
    """LOW only when best cosine < threshold AND no full-text hit (0.62 was the original threshold)."""
    decision = decide(
        recall_of(Evidence(best_cosine=cosine, lexical_hits=hits)),
        make_gate("seed", "minilm"),
        Threshold(0.62, "override"),
    )
    assert decision.answer == (not (cosine < 0.62 and hits == 0))


@pytest.mark.parametrize("name", GATES)
@given(evidence=evidences)
def test_scores_are_finite_and_none_is_below_that_of_no_evidence(name, evidence):
    gate = make_gate(name, "minilm")
    score = gate.score(evidence)
    assert math.isfinite(score)
    assert score >= gate.score(Evidence())


@pytest.mark.parametrize(
    ("name", "feature", "low", "high"),
    [
        ("seed", "best_cosine", 0.2, 0.3), ("seed", "lexical_hits", 0, 1), ("cosine", "best_cosine", -0.1, 0.1),
        ("score", "best_score", 0.1, 0.2),
    ],
)  # fmt: skip
@given(evidence=evidences)
def test_scores_rise_with_what_they_look_at(name, feature, low, high, evidence):
    gate = make_gate(name, "minilm")
    below, above = replace(evidence, **{feature: low}), replace(evidence, **{feature: high})
    assert gate.score(below) <= gate.score(above)
    if name != "seed" or not evidence.lexical_hits:
        assert gate.score(below) < gate.score(above)


def test_each_simple_gate_is_one_number_of_the_evidence():
    evidence = Evidence(best_cosine=0.41, best_score=0.37, lexical_hits=0)
    scores = {name: make_gate(name, "minilm").score(evidence) for name in ("seed", "cosine", "score")}
    assert scores == {"seed": 0.41, "cosine": 0.41, "score": 0.37}
    assert make_gate("seed", "minilm").score(replace(evidence, best_cosine=1.0, lexical_hits=1)) == 2.0


@pytest.mark.parametrize("embedder", ["minilm", "wordllama", "openai"])
@pytest.mark.parametrize("feature", FEATURES)
@given(evidence=evidences, low=st.floats(-1, 1), high=st.floats(-1, 1))
def test_the_evidence_gate_never_falls_with_more_of_anything(embedder, feature, evidence, low, high):
    gate = make_gate("evidence", embedder)
    below, above = (replace(evidence, **{feature: value}) for value in sorted((low, high)))
    assert 0 <= gate.score(below) <= gate.score(above) <= 1


def test_evidence_gate_is_the_logistic_function_by_hand():
    gate = EvidenceGate(-2.0, {"lead": 3.0, "word_match": 1.0, "best_score": 2.0})
    evidence = Evidence(best_cosine=0.6, lead=0.6, word_match=0.8, best_score=0.4, name_match=0.9)
    # -2 + 1.8 + .8 + .8 = 1.4; 1 / (1 + e^-1.4) = 0.80218; names are not in it
    assert gate.score(evidence) == pytest.approx(0.8021839, abs=1e-7)
    assert gate.score(replace(evidence, lead=0.6 - 1.4 / 3)) == pytest.approx(0.5)
    assert gate.score(replace(evidence, name_match=0.0)) == gate.score(evidence)


def test_evidence_gate_does_not_overflow_and_stays_above_nothing():
    far = EvidenceGate(-1e6, {})
    assert 0 < far.score(Evidence(best_cosine=0.1)) < 1e-200
    assert EvidenceGate(1e6, {}).score(Evidence(best_cosine=0.1)) == 1.0
    assert far.score(Evidence()) == 0.0
    assert EvidenceGate(9.0, {"lead": 1.0}).score(Evidence()) == 0.0


def test_features_are_numbers_of_the_evidence():
    assert set(FEATURES) == {*LATE_FEATURES, *PLAIN_FEATURES} <= set(Evidence.__dataclass_fields__)
    assert len(FEATURES) == len(set(FEATURES))


def test_version_tells_coefficients_apart_and_not_their_order():
    one = EvidenceGate(-2.0, {"lead": 1.0, "word_match": 2.0})
    assert one.version == EvidenceGate(-2.0, {"word_match": 2.0, "lead": 1.0}).version
    for other in ({"lead": 1.0, "word_match": 2.000001}, {"lead": 1.0, "name_match": 2.0}, {"lead": 1.0}):
        assert one.version != EvidenceGate(-2.0, other).version


@pytest.mark.parametrize("embedder", BUNDLED)
def test_an_embedder_without_token_vectors_is_judged_by_what_it_has(embedder):
    used = set(BUNDLED[embedder]["evidence"]["coefficients"])
    assert used == set(LATE_FEATURES if embedder == "minilm" else PLAIN_FEATURES)
    assert min(BUNDLED[embedder]["evidence"]["coefficients"].values()) >= 0


@pytest.mark.parametrize(
    ("gate", "embedder"), list(itertools.product(GATES, ["minilm", "wordllama", "ollama", "openai"]))
)
def test_every_embedder_has_a_gate_and_a_finite_threshold(gate, embedder):
    measured = BUNDLED.get(embedder, BUNDLED["other"])
    assert make_gate(gate, embedder).name == gate
    assert shipped_threshold(gate, embedder) == measured["thresholds"][gate]
    assert math.isfinite(shipped_threshold(gate, embedder))
    if gate == "evidence":
        fitted = make_gate(gate, embedder)
        assert fitted.intercept == measured["evidence"]["intercept"]
        assert fitted.coefficients == measured["evidence"]["coefficients"]


def test_a_gate_of_another_name_is_refused_with_what_is_allowed():
    with pytest.raises(
        SettingsError, match="BOR_GATE = 'sead' is not allowed: give one of seed, cosine, score, evidence, sufficiency"
    ):
        make_gate("sead", "minilm")


def test_decision_compares_with_the_threshold_included_and_says_where_it_comes_from():
    gate, recall = make_gate("cosine", "minilm"), recall_of(Evidence(best_cosine=0.5))
    for origin, opening in (
        ("certificate", "certified"),
        ("override", "BOR_RELEVANCE_THRESHOLD"),
        ("shipped", "uncalibrated"),
    ):
        at = decide(recall, gate, Threshold(0.5, origin))
        above = decide(recall, gate, Threshold(math.nextafter(0.5, 1), origin, "a note"))
        assert (at.answer, above.answer) == (True, False)
        assert at.reason == f"{opening}: cosine 0.500 >= 0.500"
        assert above.reason == f"{opening}: cosine 0.500 < 0.500; a note"
        assert (at.score, at.threshold, at.gate) == (0.5, 0.5, "cosine")


def test_a_recall_without_documents_is_deflected_whatever_the_threshold():
    recall = replace(recall_of(Evidence(), 0), degraded="searched by words only: no embedder")
    decision = decide(recall, make_gate("cosine", "minilm"), Threshold(-5.0, "override"))
    assert not decision.answer
    assert decision.reason == "BOR_RELEVANCE_THRESHOLD: nothing was found; searched by words only: no embedder"
