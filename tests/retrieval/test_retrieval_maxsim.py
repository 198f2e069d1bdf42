"""Late interaction against hand-computed numbers."""

from __future__ import annotations

import uuid
from types import SimpleNamespace

import numpy as np
import pytest

from brainkit.embedding import TokenVectors
from brainkit.retrieval.maxsim import FUNCTION_WORD, MaxSim, late_interaction
from brainkit.retrieval.recall import RecalledChunk

X, Y = [1.0, 0.0], [0.0, 1.0]
SLANT = [0.6, 0.8]


class Tokens:
    """An embedder whose token vectors are given by text; counts what it is asked for."""

    name = "double"

    def __init__(self, known):
        self.known = known
        self.asked = []

    def token_vectors(self, texts):
        self.asked += texts
        return [TokenVectors(*self.known[text]) for text in texts]


def chunk(number, text, score):
    return RecalledChunk(number, uuid.UUID(int=number), "s", f"{text}.md", "", "", text, 0.5, 1, None, 0.0, score)


def vectors(*rows):
    return np.array(rows, np.float32).reshape(len(rows), 2)


def test_its_three_parts_by_hand():
    # ups weighs the root of 3, "the" as a function word that of .05; a stretch holds the whole of these short chunks
    model = Tokens({
        "the ups": (["the", "ups"], vectors(Y, X)),
        "a": (["m", "n"], vectors(SLANT, Y)),
        "b": (["k"], vectors(X)),
    })  # fmt: skip
    found = MaxSim(model).rerank("the ups", {"ups": 3.0}, [chunk(1, "a", 0.5), chunk(2, "b", 0.4)], first=2, weight=0.8)
    the, ups = FUNCTION_WORD**0.5, 3.0**0.5
    best_a, best_b = (the * 1.0 + ups * 0.6) / (the + ups), (the * 0.0 + ups * 1.0) / (the + ups)
    # the question's mean points at 45 degrees; the stretch of a, (.6, 1.8), and that of b, (1, 0), are this far from it
    span_a, span_b = (0.6 + 1.8) / (2**0.5 * (0.6**2 + 1.8**2) ** 0.5), 1 / 2**0.5
    late_a, late_b = (5 / 6 * best + 1 / 6 * span for best, span in ((best_a, span_a), (best_b, span_b)))
    assert [c.chunk_id for c in found] == [2, 1]
    assert [c.late for c in found] == pytest.approx([late_b, late_a], abs=1e-3)
    assert [c.score for c in found] == pytest.approx([0.4 + 0.8 * late_b, 0.5 + 0.8 * late_a], abs=1e-3)


def test_words_that_stand_together_count_more_than_words_far_apart():
    asked, other = vectors(X, Y), [[-1.0, 0.0]] * 40
    together, apart = vectors(*other, X, Y, *other), vectors(X, *other, *other, Y)
    even = np.ones(2)
    near, far = late_interaction(asked, together, even), late_interaction(asked, apart, even)
    assert near > far
    # apart, the best stretch of sixteen holds one of the two, to which the other is at a right angle: half is missing
    assert far == pytest.approx(1 / 3 + 1 / 2 * 0.5 + 1 / 6 * span_of(apart, asked), abs=1e-6)
    assert near == pytest.approx(1 / 3 + 1 / 2 + 1 / 6 * span_of(together, asked), abs=1e-6)


def span_of(rows, asked):
    """Cosine of the question's mean with the best stretch of eight tokens, every fourth of which is looked at."""
    starts = range(0, len(rows) - 4, 4)
    sums = [rows[start : start + 8].sum(axis=0) for start in starts]
    whole = asked.mean(axis=0)
    return max(float(s @ whole / (np.linalg.norm(s) * np.linalg.norm(whole) + 1e-12)) for s in sums)


def test_wordpieces_take_the_weight_of_their_word_without_accents():
    # "prüfen" is "pru", "##fen" to the tokenizer: both pieces weigh 2, and both match X fully
    model = Tokens({"prüfen": (["pru", "##fen"], vectors(X, X)), "a": (["t"], vectors(X)), "b": (["t"], vectors(Y))})
    found = MaxSim(model).rerank(
        "prüfen", {"prüfen": 2.0}, [chunk(1, "b", 0.1), chunk(2, "a", 0.1)], first=2, weight=1.0
    )
    assert [(c.chunk_id, round(c.score, 3)) for c in found] == [(2, 1.1), (1, 0.1)]


def test_chunks_beyond_the_first_keep_their_score_and_ties_go_by_id():
    model = Tokens({"q": (["q"], vectors(X)), "a": (["t"], vectors(Y)), "b": (["t"], vectors(X))})
    chunks = [chunk(3, "a", 0.3), chunk(2, "b", 0.3), chunk(1, "a", 0.3)]
    found = MaxSim(model).rerank("q", {"q": 1.0}, chunks, first=1, weight=1.0)
    assert [(c.chunk_id, c.score) for c in found] == [(1, 0.3), (2, 0.3), (3, 0.3)]
    assert model.asked == ["q", "a"]


def test_a_chunk_is_encoded_once_while_it_is_cached():
    model = Tokens({"q": (["q"], vectors(X)), "a": (["t"], vectors(X)), "b": (["t"], vectors(X))})
    late = MaxSim(model, cache_bytes=12)  # a question's token of two float32, and a chunk's of two float16
    for text in ("a", "a", "b", "a"):
        late.rerank("q", {"q": 1.0}, [chunk(1 if text == "a" else 2, text, 0.1)], first=5, weight=1.0)
    assert model.asked == ["q", "a", "b", "a"]


def test_questions_and_chunks_share_the_memory():
    model = Tokens({"q": (["q"], vectors(X)), "r": (["r"], vectors(X)), "a": (["t"], vectors(X))})
    late = MaxSim(model, cache_bytes=12)
    for question in ("q", "q", "r", "q"):
        assert late.question(question).texts == [question]
    assert model.asked == ["q", "r", "q"]
    assert late.vectors([chunk(1, "a", 0.1)])[0].tolist() == [X]
    assert MaxSim(SimpleNamespace(name="n", token_vectors=lambda _texts: None)).question("q") is None


def test_nothing_found_and_nothing_asked():
    model = Tokens({"": ([], vectors()), "q": (["q"], vectors(X)), "a": ([], vectors())})
    late = MaxSim(model)
    assert late.rerank("q", {"q": 1.0}, [], first=3, weight=1.0) == []
    assert late.rerank("", {}, [chunk(1, "a", 0.2)], first=3, weight=1.0) == [chunk(1, "a", 0.2)]
    assert late.rerank("q", {"q": 1.0}, [chunk(1, "a", 0.2)], first=3, weight=1.0)[0].score == 0.2


def test_an_embedder_without_token_vectors_is_a_clear_error():
    model = SimpleNamespace(name="wordllama", token_vectors=lambda _texts: None)
    with pytest.raises(NotImplementedError, match="token vectors, which wordllama does not give"):
        MaxSim(model).rerank("q", {}, [chunk(1, "a", 0.2)], first=3, weight=1.0)


def test_the_real_embedder_puts_the_answer_first(open_brain, tmp_path):
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "battery.md").write_text("The battery of the UPS was replaced in June.\n")
    (tmp_path / "n" / "shelf.md").write_text("UPS stands in the shelf below the switch.\n")
    brain = open_brain(embedder="minilm")
    brain.import_paths([tmp_path / "n"])
    found = brain.recall("when was the battery changed", retrieval="hybrid+maxsim(10)")
    assert [d.path for d in found.documents] == ["battery.md", "shelf.md"]
    assert found.chunks[0].score > brain.recall("when was the battery changed", retrieval="hybrid").chunks[0].score
