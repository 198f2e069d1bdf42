"""Evidence measured on candidates made by hand."""

import doctest
import uuid

import numpy as np
import pytest
from scipy.special import softmax

import brainkit.retrieval.evidence
from brainkit.retrieval import Evidence, RecalledChunk, absolute_score
from brainkit.retrieval.evidence import lead, measure

A, B, C = (uuid.UUID(int=n) for n in range(3))


def chunk(document, cosine=None, share=0.0, matched=(), dense=None, lexical=None):
    return RecalledChunk(
        1, document, "n", "a.md", "", "", "text", cosine, dense, lexical, share, 0.0, frozenset(matched)
    )  # fmt: skip


def test_nothing_found():
    assert measure([], {}, 0) == Evidence()
    assert measure([], {0: 1.5, 1: 2.0}, 2) == Evidence(terms=2, unknown_terms=2)


def test_by_hand():
    chunks = [
        chunk(A, 0.61, 0.20, {0}, dense=1),
        chunk(A, 0.40, 0.30, {1}, lexical=2),
        chunk(B, 0.55, 0.50, {0, 1}, dense=2, lexical=1),
        chunk(C, None, 0.10, (), lexical=3),
    ]
    found = measure(chunks, {0: 1.0, 1: 2.0, 2: 5.0}, unknown=1)
    assert found == Evidence(
        best_cosine=0.61,
        margin=pytest.approx(0.06),
        best_lexical=0.50,
        best_score=pytest.approx(0.5 * 0.55 + 0.5 * 0.50),
        coverage=pytest.approx(3 / 8),
        chunk_coverage=pytest.approx(3 / 8),
        agreement=0.0,
        lexical_hits=3,
        terms=3,
        unknown_terms=1,
        lead=pytest.approx(1 / (1 + np.exp(-0.12 / 0.05) + np.exp(-0.475 / 0.05))),
    )


def test_a_document_covers_what_its_chunks_hold_together():
    found = measure([chunk(A, share=0.1, matched={0}), chunk(A, share=0.1, matched={1})], {0: 1.0, 1: 3.0}, 0)
    assert (found.coverage, found.chunk_coverage) == (1.0, 0.75)


@pytest.mark.parametrize(
    ("chunks", "agreement"),
    [
        ([chunk(A, 0.5, dense=1, lexical=1)], 1.0),
        ([chunk(A, 0.5, dense=1), chunk(A, 0.4, lexical=1)], 1.0),
        ([chunk(A, 0.5, dense=1), chunk(B, 0.4, lexical=1)], 0.0),
        ([chunk(A, 0.5, dense=1)], 0.0),
        ([chunk(A, lexical=1)], 0.0),
    ],
)
def test_channels_agree_when_both_put_the_same_document_first(chunks, agreement):
    assert measure(chunks, {}, 0).agreement == agreement


def test_one_document_has_no_margin_and_negative_cosines_count():
    assert measure([chunk(A, 0.5), chunk(A, 0.2)], {}, 0).margin == 0.0
    found = measure([chunk(A, -0.2), chunk(B, -0.5)], {}, 0)
    assert (found.best_cosine, found.margin) == (-0.2, pytest.approx(0.3))
    assert found.best_score == pytest.approx(-0.1)


def test_words_only():
    found = measure([chunk(A, None, 0.4, {0}, lexical=1)], {0: 1.0}, 0)
    assert (found.best_cosine, found.margin, found.best_score) == (-1.0, 0.0, pytest.approx(0.2))


def test_absolute_score():
    assert absolute_score(0.8, 0.4) == pytest.approx(0.6)
    assert absolute_score(None, 0.4) == pytest.approx(0.2)
    assert absolute_score(0.8, 0.4, alpha=0.25) == pytest.approx(0.5)


def test_a_missing_channel_is_named():
    assert [chunk(A, dense=1).channel, chunk(A, lexical=1).channel, chunk(A, dense=3, lexical=2).channel] == [
        "dense", "lexical", "both",
    ]  # fmt: skip


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_lead_is_the_best_ones_share_of_the_softmax_over_five(count):
    scores = np.random.default_rng(count).uniform(-0.5, 1, count)
    best = sorted(scores, reverse=True)[:5]
    assert lead(scores) == pytest.approx(softmax(np.array(best) / 0.05)[0])
    assert lead(scores) == lead(scores[::-1])
    assert 0 < lead(scores) <= 1


def test_lead_is_of_documents_and_not_of_chunks():
    same = measure([chunk(A, 0.5), chunk(A, 0.5), chunk(A, 0.5)], {}, 0)
    two = measure([chunk(A, 0.5), chunk(A, 0.1), chunk(B, 0.5)], {}, 0)
    assert (same.lead, two.lead) == (1.0, 0.5)


def test_examples_in_the_docstrings():
    assert doctest.testmod(brainkit.retrieval.evidence).failed == 0
