"""Features for research: each by hand, against numpy, and all of them of recalls of every kind."""

import doctest
import importlib
import math
import pkgutil
import uuid

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brainkit.gate.features as package
from brainkit.gate.features import FEATURES, features
from brainkit.gate.features.expected import expected_answer
from brainkit.gate.features.magnitude import score_magnitude_and_variance
from brainkit.gate.features.spread import normalised_spread
from brainkit.gate.features.uncovered import rarest_uncovered
from brainkit.gate.features.weighted import weighted_gain
from brainkit.retrieval import Evidence, Recall, RecalledChunk, RecalledDocument

MODULES = [name for _, name, _ in pkgutil.iter_modules(package.__path__, "brainkit.gate.features.")]
ONE, TWO = uuid.UUID(int=1), uuid.UUID(int=2)


def chunk(document, cosine, share, matched=(), text="It was in May 2024."):
    return RecalledChunk(1, document, "s", "a.md", "t", "", text, cosine, 1, 1, share, 0.5, frozenset(matched))


def recall_of(chunks, weights, question="When did node7 move?", content="node7 moved in May 2024."):
    ids = dict.fromkeys(one.document_id for one in chunks)
    documents = tuple(RecalledDocument(key, "s", "a.md", "t", 1.0, lambda _: content) for key in ids)
    return Recall(question, tuple(chunks), documents, Evidence(best_cosine=0.8), "dense(30)", weights)


@pytest.mark.parametrize("name", MODULES)
def test_examples_and_sources(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted or name.endswith("uncovered")


def test_score_features_are_their_formulas_in_numpy():
    scores = np.random.default_rng(0).uniform(0.05, 1, 30)
    assert normalised_spread(scores.tolist()) == pytest.approx(scores.std() / scores.mean())
    top = np.sort(scores)[-5:].mean()
    assert weighted_gain(scores.tolist(), 3) == pytest.approx((top - scores.mean()) / 3**0.5)
    expected = np.mean(scores * np.abs(np.log(scores / scores.mean())))
    assert score_magnitude_and_variance(scores.tolist()) == pytest.approx(expected)


def test_the_rarest_word_the_first_document_lacks():
    weights = {"node7": 5.0, "move": 2.0, "cellar": 3.0}
    chunks = [chunk(ONE, 0.9, 0.5, {1}), chunk(TWO, 0.8, 0.4, {0}), chunk(ONE, 0.5, 0.3, {2})]
    assert rarest_uncovered(recall_of(chunks, weights)) == 5.0
    assert rarest_uncovered(recall_of([*chunks, chunk(ONE, 0.1, 0.1, {0})], weights)) == 0.0
    assert rarest_uncovered(recall_of([], weights)) == 5.0
    assert rarest_uncovered(recall_of([], {})) == 0.0


@pytest.mark.parametrize(
    ("question", "passage", "kind"),
    [
        ("Wann war die Wartung?", "Am 3. Mai.", 1), ("Wann war die Wartung?", "Die Wartung ist durch.", -1),
        ("How many snapshots are kept?", "It keeps 14.", 1), ("How many snapshots are kept?", "It keeps some.", -1),
        ("How do I restart it?", "Run `systemctl restart x`.", 1), ("How do I restart it?", "Ask Ada.", -1),
        ("Who repaired it?", "Ada did.", 0),
    ],
)  # fmt: skip
def test_kinds_of_answers(question, passage, kind):
    assert expected_answer(question, passage) == kind


def test_all_features_of_a_recall():
    found = features(recall_of([chunk(ONE, 0.8, 0.6), chunk(TWO, 0.4, 0.2)], {"node7": 5.0, "move": 2.0}))
    assert tuple(found) == FEATURES
    assert found["best_cosine"] == 0.8
    assert found["mean_of_top"] == pytest.approx((0.7 + 0.3) / 2)
    assert found["spread"] == pytest.approx(0.2 / 0.5)
    assert (found["missing_names"], found["expected_answer"], found["rarest_uncovered"]) == (0.0, 1.0, 5.0)


@given(
    cosines=st.lists(st.none() | st.floats(-1, 1), max_size=8),
    share=st.floats(0, 1),
    question=st.text(max_size=40),
    content=st.text(max_size=40),
)
def test_they_are_finite_whatever_was_found(cosines, share, question, content):
    chunks = [chunk(ONE, cosine, share, text=content) for cosine in cosines]
    found = features(recall_of(chunks, {}, question, content))
    assert set(found) == set(FEATURES)
    assert all(math.isfinite(value) for value in found.values())
