"""Late evidence against numbers made by hand and plain loops over tokens."""

from __future__ import annotations

import doctest
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

import brainkit.retrieval.late
from brainkit.retrieval.late import (
    BLOCK,
    BLOCKS,
    FUNCTION_SHARE,
    MEAN_SHARE,
    SHARPNESS,
    LateEvidence,
    measure_late,
    name_match,
    name_words,
    passage_fit,
    smooth_minimum,
    split_words,
)

X, Y, SLANT = [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]


def rows(*vectors):
    return np.array(vectors, np.float32).reshape(len(vectors), 2)


def soft(values, weights):
    """-log of the weighted mean of exp(-5 value), over 5."""
    return float(-logsumexp([-SHARPNESS * v for v in values], b=np.array(weights) / np.sum(weights)) / SHARPNESS)


def test_its_four_numbers_by_hand():
    # "does alpha run": does is a function word; each chunk is one passage
    asked = rows(Y, X, X)
    good, bad = rows(SLANT, Y), rows(SLANT)
    found = measure_late(
        "does Alpha run?", ["does", "alpha", "run"], asked, {"alpha": 4.0, "run": 2.0}, [bad, good], [0.2, 0.2]
    )
    # best matches in good: does 1, alpha .6, run .6; in bad: .8, .6, .6
    assert found.passage_match == pytest.approx(soft([1.0, 0.6, 0.6], [1, 1, 1]), abs=1e-6)
    assert found.word_match == pytest.approx(soft([1.0, 0.6, 0.6], [3 * FUNCTION_SHARE, 4, 2]), abs=1e-6)
    assert found.name_match == pytest.approx(1 - 4 / 6 * (1 - 0.6), abs=1e-6)
    # pooled question (2, 1) / 3 with (.6, 1.8) and with (.6, .8)
    cosines = [(2 * x + y) / (5**0.5 * (x * x + y * y) ** 0.5) for x, y in ((0.6, 1.8), (0.6, 0.8))]
    assert found.passage_cosine == pytest.approx(max(cosines), abs=1e-6)


def test_the_better_chunk_has_more_of_score_and_mean_match():
    asked, words = rows(X, Y), {"a": 1.0, "b": 1.0}
    even, split = rows(SLANT), rows(X)  # mean match .7 with minimum .6, against mean .5 with minimum 0
    gap = MEAN_SHARE * (0.7 - 0.5)
    minimum = [soft([0.6, 0.8], [1, 1]), soft([1.0, 0.0], [1, 1])]
    for ahead, chosen in ((gap - 0.001, 0), (gap + 0.001, 1)):
        found = measure_late("a b", ["a", "b"], asked, words, [even, split], [0.5, 0.5 + ahead])
        assert found.word_match == pytest.approx(minimum[chosen], abs=1e-6)


@pytest.mark.parametrize("length", [1, 8, 17, 24, 25, 70])
def test_passages_are_those_of_a_plain_loop(length):
    rng = np.random.default_rng(length)
    asked, chunk = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.normal(size=(2, 70, 5)))
    asked, chunk = asked[:4], chunk[:length]
    words = split_words(["a", "b", "##c", "d"], {})
    cosine, match = passage_fit(asked, chunk, asked @ chunk.T, words)
    cosines, matches = [], []
    for start in range(0, max(1, length - BLOCK * (BLOCKS - 1)), BLOCK):
        part = chunk[start : start + BLOCK * BLOCKS]
        pooled, whole = part.mean(axis=0), asked.mean(axis=0)
        cosines.append(pooled @ whole / np.linalg.norm(pooled) / np.linalg.norm(whole))
        a, b, c, d = (asked @ part.T).max(axis=1)
        matches.append(soft([a, (b + c) / 2, d], [1, 1, 1]))
    assert cosine == pytest.approx(max(cosines))
    assert match == pytest.approx(max(matches))


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0.01, 10)), min_size=1, max_size=12), st.data())
def test_smooth_minimum_is_logsumexp_between_minimum_and_mean_and_rises(pairs, data):
    values, weights = map(np.array, zip(*pairs, strict=True))
    found = float(smooth_minimum(values, weights))
    assert found == pytest.approx(soft(values, weights), abs=1e-9)
    assert values.min() - 1e-9 <= found <= np.average(values, weights=weights) + 1e-9
    values[data.draw(st.integers(0, len(pairs) - 1))] += 0.1
    assert smooth_minimum(values, weights) >= found


@given(st.integers(0, 10**6), st.integers(1, 6), st.lists(st.integers(0, 60), max_size=3))
def test_all_are_bounded_and_better_tokens_never_hurt(seed, tokens, lengths):
    rng = np.random.default_rng(seed)

    def unit(count):
        vectors = rng.normal(size=(count, 4))
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)

    names = [f"n{i}" for i in range(tokens)]
    idf = {name: float(rng.uniform(0, 5)) for name in names[1:]}
    asked, chunks = unit(tokens), [unit(length) for length in lengths]
    found = measure_late(" ".join(names), names, asked, idf, chunks, [0.5] * len(chunks))
    assert np.isfinite(found).all()
    assert max(map(abs, found)) <= 1.01  # float16 is not quite of length 1
    if len(chunks) == 1:
        # the question's own tokens behind the chunk: every word finds a full match
        more = measure_late(" ".join(names), names, asked, idf, [np.concatenate([chunks[0], asked])], [0.5])
        assert more.word_match >= found.word_match - 1e-3
        assert more.word_match == pytest.approx(1, abs=0.01)
        assert more.name_match >= found.name_match - 1e-3 or not lengths[0]


def test_nothing_to_compare_gives_zeros():
    asked = rows(X)
    assert LateEvidence() == (0.0, 0.0, 0.0, 0.0)
    assert measure_late("a", ["a"], asked, {"a": 1.0}, [], []) == LateEvidence()
    assert measure_late("a", ["a"], asked, {"a": 1.0}, [rows()], [0.4]) == LateEvidence()
    assert measure_late("?", ["?"], asked, {}, [asked], [0.4]) == LateEvidence()
    assert measure_late("", [], rows(), {}, [asked], [0.4]) == LateEvidence()


def test_an_empty_chunk_is_passed_over():
    whole = measure_late("a", ["a"], rows(X), {"a": 1.0}, [rows(SLANT)], [0.4])
    assert measure_late("a", ["a"], rows(X), {"a": 1.0}, [rows(), rows(SLANT)], [0.9, 0.4]) == whole
    assert whole == pytest.approx((0.6, 0.6, 0.6, 1.0), abs=1e-6)


def test_a_question_without_terms_weighs_its_words_alike():
    found = measure_late("who is it", ["who", "is", "it"], rows(X, Y, Y), {}, [rows(X)], [0.4])
    assert found.word_match == pytest.approx(soft([1.0, 0.0, 0.0], [1, 1, 1]), abs=1e-6)
    assert found.name_match == 1.0


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which port does it use?", set()),
        ("Does Grafana listen on 3000?", {"grafana", "3000"}),
        ("what is useEffect", {"useeffect"}),
        ("Where is /etc/hosts kept", {"etc", "hosts"}),
        ("who is “Müller”", {"muller"}),
        ("What Is The Capital Of France", set()),
        ("What Is The Version Of k3s-node", {"k3s", "node"}),
        ("", set()),
    ],
)
def test_what_looks_like_a_name(question, names):
    assert name_words(question) == names


def test_names_that_are_missing_cost_their_share():
    words = split_words(["does", "grafana", "listen"], {"grafana": 3.0, "listen": 1.0})
    assert name_match("does Grafana listen", words, np.array([1.0, 0.2, 0.9])) == pytest.approx(1 - 0.75 * 0.8)
    assert name_match("does grafana listen", words, np.array([1.0, 0.2, 0.9])) == 1.0


def test_wordpieces_are_put_together_and_punctuation_left_out():
    words = split_words(["pru", "##fen", "-", "x", "?"], {"prüfen": 2.0})
    assert words.texts == ("prufen", "x")
    assert (words.starts.tolist(), words.ends.tolist(), words.idf.tolist()) == ([0, 3], [2, 4], [2.0, 0.0])
    assert split_words([], {}).texts == ()


def test_another_process_gives_the_same():
    code = (
        "import numpy as np; from brainkit.retrieval.late import measure_late as m; r = np.random.default_rng(1);"
        "v = [r.normal(size=(n, 8)).astype(np.float16) for n in (3, 40, 9)];"
        "print(list(map(float, m('is Alpha up', ['is', 'alpha', 'up'], v[0], {'alpha': 2, 'up': 1}, v[1:], [.4, .3]))))"
    )
    seeds = ("1", "2")
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in seeds
    }
    assert len(found) == 1


def test_examples_in_the_docstrings():
    assert doctest.testmod(brainkit.retrieval.late).failed == 0
