"""Retrieval metrics against ir-measures and by hand."""

import doctest
import random

import ir_measures
import pytest
from ir_measures import RR, R, Success, nDCG

import brainkit.eval.metrics
from brainkit.errors import UsageError
from brainkit.eval.metrics import MRR, NDCG, Hit, Recall, parse_metric, per_question

PAIRS = [
    (NDCG(10), nDCG @ 10),
    (NDCG(3), nDCG @ 3),
    (Recall(10), R @ 10),
    (Recall(1), R @ 1),
    (MRR(10), RR @ 10),
    (MRR(2), RR @ 2),
    (Hit(2), Success @ 2),
    (Hit(10), Success @ 10),
]


@pytest.fixture(scope="module")
def questions():
    """500 questions: rankings of 0 to 30 of 40 documents, 0 to 12 of them judged with grades from -1 to 3."""
    rng = random.Random(7)
    documents = [f"d{i}" for i in range(40)]
    qrels = {
        f"q{i}": {doc: rng.randint(-1, 3) for doc in rng.sample(documents, rng.randint(0, 12))} for i in range(500)
    }
    return {question: rng.sample(documents, rng.randint(0, 30)) for question in qrels}, qrels


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=str)
def test_equal_to_ir_measures_on_500_questions(questions, ours, theirs):
    rankings, qrels = questions
    run = {q: {doc: -float(place) for place, doc in enumerate(ranking)} for q, ranking in rankings.items() if ranking}
    judged = {q: grades for q, grades in qrels.items() if any(grade > 0 for grade in grades.values())}
    expected = {m.query_id: m.value for m in ir_measures.iter_calc([theirs], judged, run)}
    found = per_question(ours, rankings, qrels)
    assert list(found) == sorted(judged)
    assert len(found) > 400
    assert found == pytest.approx({q: expected.get(q, 0.0) for q in judged}, abs=1e-12)


def test_by_hand():
    ranking, grades = ["x", "b", "a"], {"a": 3, "b": 1, "c": 2}
    # gains 0, 1, 3 at discounts 1, log2(3), 2; ideal 3, 2, 1
    assert NDCG(3)(ranking, grades) == pytest.approx((1 / 1.5849625007 + 3 / 2) / (3 + 2 / 1.5849625007 + 1 / 2))
    assert Recall(3)(ranking, grades) == pytest.approx(2 / 3)
    assert MRR(3)(ranking, grades) == 0.5
    assert (Hit(1)(ranking, grades), Hit(2)(ranking, grades)) == (0.0, 1.0)


@pytest.mark.parametrize("metric", [NDCG(10), Recall(10), MRR(10), Hit(10)])
def test_ends_of_the_scale(metric):
    assert metric(["a", "b"], {"a": 1, "b": 1}) == 1.0
    assert metric(["x"], {"a": 1}) == 0.0
    assert metric([], {"a": 1}) == 0.0
    assert metric(["a"], {}) == 0.0
    assert metric(["a"], {"a": 0}) == 0.0


def test_a_document_named_twice_counts_once_at_its_first_place():
    assert Recall(2)(["a", "a", "b"], {"a": 1, "b": 1}) == 1.0
    assert MRR(2)(["x", "x", "a"], {"a": 1}) == 0.5
    assert NDCG(10)(["a", "a"], {"a": 1}) == 1.0


def test_questions_without_anything_relevant_are_left_out_and_those_without_ranking_get_0():
    assert per_question(Hit(2), {"q2": ["a"], "q3": ["a"]}, {"q3": {}, "q2": {"a": 1}, "q1": {"a": 1}}) == {
        "q1": 0.0,
        "q2": 1.0,
    }
    assert per_question(Hit(2), {}, {}) == {}


@pytest.mark.parametrize("text", ["nDCG@10", "recall@10", "MRR@10", "hit@2"])
def test_prints_and_parses_as_one_string(text):
    assert str(parse_metric(text)) == text
    assert parse_metric(f" {text.upper()} ") == parse_metric(text)


def test_names_of_ir_measures_are_understood():
    assert [str(parse_metric(str(theirs))) for _, theirs in PAIRS] == [str(ours) for ours, _ in PAIRS]


def test_metrics_of_another_kind_or_depth_differ():
    assert len({NDCG(10), NDCG(5), MRR(10), NDCG(10)}) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDGC@10", "metric 'nDGC@10' is not known, did you mean nDCG@10?; allowed are nDCG@k"),
        ("nDCG", "metric 'nDCG' is not known, did you mean nDCG@10?"),
        ("nDCG@ten", "did you mean nDCG@10?"),
        ("zz@3", "metric 'zz@3' is not known; allowed"),
        ("", "metric '' is not known; allowed"),
        ("hit@0", "hit@0 is not allowed: give a depth from 1 up"),
    ],
)
def test_errors_say_what_is_allowed(text, message):
    with pytest.raises(UsageError) as caught:
        parse_metric(text)
    assert message in str(caught.value)


def test_examples_in_the_docstrings():
    assert doctest.testmod(brainkit.eval.metrics).failed == 0
