"""Fitting the evidence gate, gathering evidence, and cross-fitting a gate that is itself fitted."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from brainkit.errors import LabelsError
from brainkit.gate import Count, LabelledEvidence, Scored, cross_fit, gather
from brainkit.gate.fitting import fit_evidence
from brainkit.gate.gates import LATE_FEATURES, PLAIN_FEATURES
from brainkit.labels import Label, Relevant
from brainkit.retrieval import Evidence


def drawn(n=60, seed=0, features=LATE_FEATURES):
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        yes = i % 3 == 0
        values = dict(zip(features, rng.uniform(0, 1, len(features)) * 0.6 + 0.3 * yes, strict=True))
        evidence = Evidence(**values, lexical_hits=1)
        found.append(LabelledEvidence(f"q{i}", "" if yes else "missing_note", evidence, hidden=not yes))
    return found


def oracle(labelled, features):
    """sklearn's own probabilities, at the same C."""
    x = np.array([[getattr(item.evidence, name) for name in features] for item in labelled])
    model = make_pipeline(
        StandardScaler(), LogisticRegression(C=0.02, class_weight="balanced", tol=1e-10, max_iter=10_000)
    )
    return model.fit(x, [not item.stratum for item in labelled]).predict_proba(x)[:, 1]


@pytest.mark.parametrize("features", [LATE_FEATURES, PLAIN_FEATURES])
def test_probabilities_are_those_of_sklearns_own_pipeline(features):
    labelled = drawn(features=features)
    gate = fit_evidence(labelled)
    assert tuple(gate.coefficients) == features  # chosen by whether there is evidence from token vectors
    assert [gate.score(item.evidence) for item in labelled] == pytest.approx(oracle(labelled, features), abs=1e-5)


def test_the_features_may_be_named():
    labelled = drawn()
    gate = fit_evidence(labelled, ["lead"])
    assert [gate.score(item.evidence) for item in labelled] == pytest.approx(oracle(labelled, ["lead"]), abs=1e-5)


def test_no_coefficient_is_negative_and_the_rest_is_fitted_without_those():
    """A feature that speaks against an answer gets 0, and the others what sklearn gives them without it."""
    labelled = [
        item._replace(evidence=replace(item.evidence, name_match=1 - item.evidence.name_match)) for item in drawn()
    ]
    gate = fit_evidence(labelled)
    kept = [name for name, weight in gate.coefficients.items() if weight > 0]
    assert set(kept) == set(LATE_FEATURES) - {"name_match"}
    assert min(gate.coefficients.values()) == 0.0
    assert [gate.score(item.evidence) for item in labelled] == pytest.approx(oracle(labelled, kept), abs=1e-4)


def test_a_feature_that_never_changes_does_no_harm():
    labelled = [item._replace(evidence=Evidence(passage_match=item.evidence.passage_match)) for item in drawn()]
    gate = fit_evidence(labelled)
    assert all(map(math.isfinite, (gate.intercept, *gate.coefficients.values())))
    assert [name for name, weight in gate.coefficients.items() if weight] == ["passage_match"]


@pytest.mark.parametrize("stratum", ["", "missing_note"])
def test_one_kind_alone_cannot_be_fitted(stratum):
    with pytest.raises(LabelsError, match="answerable and unanswerable"):
        fit_evidence([item._replace(stratum=stratum) for item in drawn()])


def test_gather_asks_each_label_and_those_with_a_document_once_more_without_it():
    calls, told = [], []

    def ask(question, exclude=()):
        calls.append((question, tuple(exclude)))
        return Evidence(best_cosine=len(calls) / 10)

    labels = [
        Label("a", "What?", True, (Relevant("x.md"), Relevant("y.md"), Relevant("x.md"))),
        Label("b", "Who?", False, kind="off_topic"),
        Label("c", "Why?", True),
        Label("d", "When?", False),
    ]
    found = gather(labels, ask, lambda *args: told.append(args))
    assert calls == [("What?", ()), ("What?", ("x.md", "y.md")), ("Who?", ()), ("Why?", ()), ("When?", ())]
    assert [(item.label, item.stratum, item.hidden) for item in found] == [
        ("a", "", False), ("a", "missing_note", True), ("b", "off_topic", False), ("c", "", False),
        ("d", "unspecified", False),
    ]  # fmt: skip
    assert [item.evidence.best_cosine for item in found] == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert told == [("calibrate", i, 4) for i in (1, 2, 3, 4)]
    assert gather([], ask) == []


def scored(n=44):
    no = [Scored(f"n{i}", i / 1000, "missing_note") for i in range(n)]
    yes = [Scored(f"y{i}", i / 1000) for i in range(n)]
    return no, yes


def test_refit_gets_each_half_once_and_the_halves_share_nothing():
    no, yes = scored()
    halves = []
    cross_fit(no, yes, alpha=0.1, delta=0.1, refit=lambda half: halves.append(half) or {})
    assert len(halves) == 2
    assert halves[0] & halves[1] == frozenset()
    assert halves[0] | halves[1] == {s.question for s in (*no, *yes)}
    assert {len(half) for half in halves} == {44}


def test_refit_that_gives_nothing_changes_nothing():
    no, yes = scored()
    plain = cross_fit(no, yes, alpha=0.1, delta=0.1, seed=5)
    assert cross_fit(no, yes, alpha=0.1, delta=0.1, seed=5, refit=lambda _: {}) == plain


def test_a_question_is_judged_by_the_score_and_threshold_of_the_half_it_is_not_in():
    no, yes = scored()
    halves = []

    def refit(half):
        """Half h scores its own questions 10h + old and those of the other half 10h + 5 + old."""
        halves.append(half)
        h = len(halves) - 1
        return {s.question: 10 * h + s.score + (0 if s.question in half else 5) for s in (*no, *yes)}

    found = cross_fit(no, yes, alpha=0.1, delta=0.1, refit=refit)
    best = [max(s.score for s in no if s.question in half) for half in halves]
    assert [c.threshold for c in found.calibrations] == [math.nextafter(10 * h + best[h], math.inf) for h in (0, 1)]
    # Judged by half h, a question scores 10h + 5 + old, above 10h + best: all pass.
    assert found.answered == found.false_answers == Count(44, 44)


def test_scores_that_a_half_cannot_tell_apart_answer_nothing():
    no, yes = scored()
    found = cross_fit(
        no, yes, alpha=0.1, delta=0.1, refit=lambda _: dict.fromkeys([s.question for s in (*no, *yes)], 0.5)
    )
    assert found.answered == found.false_answers == Count(0, 44)
