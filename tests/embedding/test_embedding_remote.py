"""Ollama and OpenAI-compatible servers, well and ill, each on loopback."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brainkit.embedding import fence, make_embedder
from brainkit.embedding.hosts import is_loopback
from brainkit.embedding.profiles import profile_of
from brainkit.errors import DimensionMismatchError, EmbedderUnavailableError, EmbeddingError, SettingsError
from brainkit.settings import Settings

Connect = Callable[..., Any]
TEXTS = [f"note number {n}" for n in range(10)]
DOCUMENT = {"ollama": "search_document: ", "openai": ""}
QUERY = {"ollama": "search_query: ", "openai": ""}


def expected(double: Any, tools: Any, texts: list[str] = TEXTS) -> np.ndarray:
    return np.array([tools.unit(tools.vector_of(DOCUMENT[double.provider] + text)) for text in texts])


def sick(when: Callable[[list[str]], bool], reply: Any) -> Callable[[list[str], int], Any]:
    """Behaviour of a server that is ill with some calls."""
    return lambda texts, number: reply() if when(texts) else type(reply())()


def test_vectors_in_order_with_the_model_s_prefixes(double: Any, connect: Connect, tools: Any) -> None:
    embedder = connect(double, embedding_batch=4)
    done: list[int] = []
    vectors, failures = embedder.embed_documents(TEXTS, progress=done.append)
    np.testing.assert_allclose(vectors, expected(double, tools), atol=1e-6)
    assert (vectors.dtype, failures, done) == (np.float32, {}, [4, 8, 10])
    query = embedder.embed_query("where is it?")
    np.testing.assert_allclose(query, tools.unit(tools.vector_of(QUERY[double.provider] + "where is it?")), atol=1e-6)
    assert [len(call) for call in double.calls] == [1, 4, 4, 2, 1]  # the first is the probe
    assert embedder.identity.dimensions == tools.dimensions
    assert embedder.embed_documents([]).vectors.shape == (0, tools.dimensions)
    assert embedder.token_vectors(["x"]) is None


def test_base_gives_llamaindex_the_same_vectors(double: Any, connect: Connect) -> None:
    embedder = connect(double)
    np.testing.assert_allclose(embedder.base.get_query_embedding("q"), embedder.embed_query("q"), atol=1e-6)
    batch = embedder.base.get_text_embedding_batch(TEXTS)
    np.testing.assert_allclose(batch, embedder.embed_documents(TEXTS).vectors, atol=1e-6)


def test_busy_then_well(double: Any, connect: Connect, tools: Any) -> None:
    double.behave = lambda texts, number: (
        tools.reply(429, "slow down", headers={"retry-after": "0"}) if number in (2, 3) else tools.reply()
    )
    vectors, failures = connect(double).embed_documents(TEXTS)
    np.testing.assert_allclose(vectors, expected(double, tools), atol=1e-6)
    assert failures == {}
    assert len(double.calls) == 4


@pytest.mark.parametrize("status", [500, 503, 429])
def test_always_failing_is_unavailable_after_bounded_tries(
    double: Any, connect: Connect, tools: Any, status: int
) -> None:
    double.behave = lambda texts, number: tools.reply(status, "out of memory")
    embedder = connect(double)
    variable = "BOR_OLLAMA_URL" if double.provider == "ollama" else "BOR_EMBEDDING_BASE_URL"
    with pytest.raises(EmbedderUnavailableError, match=variable) as caught:
        embedder.embed_documents(TEXTS)
    assert "out of memory" in str(caught.value)
    assert len(double.calls) == 3
    with pytest.raises(EmbedderUnavailableError):
        embedder.embed_query("q")


def test_failing_after_the_probe_is_unavailable_too(double: Any, connect: Connect, tools: Any) -> None:
    double.behave = lambda texts, number: tools.reply() if number == 1 else tools.reply(500, "crashed")
    embedder = connect(double)
    with pytest.raises(EmbedderUnavailableError, match="crashed"):
        embedder.embed_documents(TEXTS)
    with pytest.raises(EmbedderUnavailableError, match="crashed"):
        embedder.embed_query("q")
    assert len(double.calls) <= 10


def test_nobody_listens(connect: Connect) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    embedder = make_embedder(Settings(embedder="ollama", ollama_url=f"http://127.0.0.1:{port}"))
    with pytest.raises(EmbedderUnavailableError, match=r"BOR_OLLAMA_URL") as caught:
        _ = embedder.identity
    assert "ollama serve" in str(caught.value)
    embedder.close()


def test_a_cut_connection_is_tried_again(double: Any, connect: Connect, tools: Any) -> None:
    double.behave = lambda texts, number: tools.reply(cut=number == 2)
    vectors, failures = connect(double).embed_documents(TEXTS)
    np.testing.assert_allclose(vectors, expected(double, tools), atol=1e-6)
    assert failures == {}


def test_too_slow_names_the_timeout(double: Any, connect: Connect, tools: Any) -> None:
    double.behave = lambda texts, number: tools.reply(delay=0.6)
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailableError, match="BOR_EMBEDDING_TIMEOUT"):
        connect(double, embedding_timeout=0.1).embed_query("q")
    assert time.monotonic() - started < 5


def test_a_batch_too_large_for_the_timeout_is_halved(double: Any, connect: Connect, tools: Any) -> None:
    double.behave = lambda texts, number: tools.reply(delay=0.8 if len(texts) > 5 else 0)
    vectors, failures = connect(double, embedding_timeout=0.4).embed_documents(TEXTS)
    np.testing.assert_allclose(vectors, expected(double, tools), atol=1e-6)
    assert failures == {}


def test_three_texts_out_of_time_are_enough(double: Any, connect: Connect, tools: Any) -> None:
    double.behave = lambda texts, number: tools.reply(delay=0.4 if any("note" in text for text in texts) else 0)
    with pytest.raises(EmbedderUnavailableError, match="BOR_EMBEDDING_BATCH"):
        connect(double, embedding_timeout=0.1).embed_documents(TEXTS)
    assert sum(len(call) == 1 and "note" in call[0] for call in double.calls) == fence.TIMEOUT_LIMIT


@pytest.mark.parametrize(
    "kind", ["500", "400", "413", "cut", "short", "none", "wrong dimension", "nan", "infinite", "zeros", "null", "html"]
)
def test_one_poisonous_text_is_found_and_the_rest_embedded(
    double: Any, connect: Connect, tools: Any, kind: str
) -> None:
    def behave(texts: list[str], number: int) -> Any:
        if not any("number 6" in text for text in texts):
            return tools.reply()
        good = [tools.vector_of(text) for text in texts]
        bad = next(i for i, text in enumerate(texts) if "number 6" in text)
        if kind in ("500", "400", "413"):
            return tools.reply(int(kind), "cannot embed that")
        if kind == "cut":
            return tools.reply(cut=True)
        if kind == "html":
            return tools.reply(body=b"<html>It works!</html>")
        rows: dict[str, Any] = {
            "wrong dimension": [1.0, 2.0],
            "nan": [float("nan")] * 8,
            "infinite": [float("inf")] * 8,
            "zeros": [0.0] * 8,
            "null": None,
        }
        if kind == "short":
            del good[bad]
        elif kind == "none":
            good = []
        else:
            good[bad] = rows[kind]
        return tools.reply(vectors=good)

    double.behave = behave
    vectors, failures = connect(double).embed_documents(TEXTS)
    assert list(failures) == [6]
    assert 0 < len(failures[6]) <= 200
    assert np.isnan(vectors[6]).all()
    keep = [i for i in range(10) if i != 6]
    np.testing.assert_allclose(vectors[keep], expected(double, tools)[keep], atol=1e-6)
    assert len(double.calls) < 40
    with pytest.raises(EmbeddingError, match="Text 6 of 10"):
        connect(double).base.get_text_embedding_batch(TEXTS)
    with pytest.raises(EmbeddingError):
        connect(double).embed_query("note number 6")


def test_several_poisonous_texts(double: Any, connect: Connect, tools: Any) -> None:
    double.behave = sick(lambda texts: any(text[-1] in "0459" for text in texts), lambda: tools.reply(500, "no"))
    assert sorted(connect(double).embed_documents(TEXTS).failures) == [0, 4, 5, 9]


@pytest.mark.parametrize("vectors", [[], [[float("nan")] * 8], [[0.0] * 8], [[]]])
def test_a_server_without_usable_vectors_is_unavailable(
    double: Any, connect: Connect, tools: Any, vectors: list[list[float]]
) -> None:
    double.behave = lambda texts, number: tools.reply(vectors=vectors)
    with pytest.raises(EmbedderUnavailableError, match="no usable vector"):
        connect(double).embed_documents(TEXTS)


def test_another_dimension_than_the_setting_fails_before_any_text(double: Any, connect: Connect) -> None:
    with pytest.raises(DimensionMismatchError, match=r"8 dimensions, but BOR_EMBEDDING_DIM = 768"):
        connect(double, embedding_dim=768).embed_documents(TEXTS)
    assert len(double.calls) == 1
    assert TEXTS[0] not in str(double.calls)
    assert connect(double, embedding_dim=8).embed_documents(TEXTS).failures == {}


def test_a_model_exchanged_in_between_is_noticed(double: Any, connect: Connect, tools: Any) -> None:
    double.behave = lambda texts, number: tools.reply(vectors=None if number == 1 else [[1.0, 2.0]] * len(texts))
    with pytest.raises(DimensionMismatchError, match="2 dimensions, earlier 8"):
        connect(double).embed_documents(TEXTS)


def test_a_model_that_is_not_pulled(ollama: Any, connect: Connect, tools: Any) -> None:
    ollama.behave = lambda texts, number: tools.reply(404, 'model "nomic-embed-text" not found, try pulling it first')
    with pytest.raises(EmbedderUnavailableError, match="Run `ollama pull nomic-embed-text`"):
        connect(ollama).embed_documents(TEXTS)
    assert len(ollama.calls) == 1


def test_an_unknown_model_of_an_api(openai: Any, connect: Connect, tools: Any) -> None:
    openai.behave = lambda texts, number: tools.reply(404, "no such model")
    with pytest.raises(EmbedderUnavailableError, match=r"some-model.*BOR_EMBEDDING_MODEL"):
        connect(openai).embed_query("q")


def test_a_refused_key_is_named_but_not_shown(openai: Any, connect: Connect, tools: Any) -> None:
    key = "sk-" + "fake0123456789"
    openai.behave = lambda texts, number: tools.reply(401, f"Incorrect API key provided: {key}")
    embedder = connect(openai, embedding_api_key=key)
    with pytest.raises(EmbedderUnavailableError, match="BOR_EMBEDDING_API_KEY") as caught:
        embedder.embed_documents(TEXTS)
    assert key not in str(caught.value)
    assert openai.requests[0][1]["authorization"] == f"Bearer {key}"
    assert key not in repr(embedder._model) + repr(embedder.base) + repr(embedder)
    assert len(openai.calls) == 1


def test_a_key_in_the_environment_is_not_handed_to_another_server(
    openai: Any, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "somebody-else")
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9")
    connect(openai).embed_query("q")
    assert "somebody-else" not in str(openai.requests)


def test_proxies_do_not_catch_loopback(double: Any, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    assert connect(double).embed_documents(TEXTS).failures == {}


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("http://127.0.0.1:11434", True),
        ("http://[::1]:11434", True),
        ("localhost:11434", True),
        ("http://box.localhost", True),
        ("0.0.0.0:11434", True),
        (":11434", True),
        ("http://127.0.0.1.example.org", False),
        ("https://api.example.org/v1", False),
        ("http://10.40.0.60:11434", False),
    ],
)
def test_loopback(url: str, own: bool) -> None:
    assert is_loopback(url) is own


def test_a_server_elsewhere_keeps_its_proxies() -> None:
    made = [
        make_embedder(
            Settings(embedder="openai", embedding_base_url="https://api.example.org/v1", embedding_model="m")
        ),
        make_embedder(Settings(embedder="ollama", ollama_url="http://user:word@ollama.example.org")),
    ]
    assert "word" not in repr(made[1]._fence._service)
    for embedder in made:
        embedder.close()


@pytest.mark.parametrize(
    ("keywords", "named"),
    [
        ({"embedder": "openai", "embedding_model": "m"}, "BOR_EMBEDDING_BASE_URL is not set"),
        ({"embedder": "openai", "embedding_base_url": "http://127.0.0.1/v1"}, "BOR_EMBEDDING_MODEL is not set"),
        ({"embedder": "openai", "embedding_model": "m", "embedding_base_url": "ftp://x"}, "BOR_EMBEDDING_BASE_URL"),
        ({"embedder": "openai", "embedding_model": "m", "embedding_base_url": "api/v1"}, "BOR_EMBEDDING_BASE_URL"),
        ({"embedder": "ollama", "ollama_url": "file:///tmp/x"}, "BOR_OLLAMA_URL"),
        ({"embedder": "ollama", "ollama_url": ""}, "BOR_OLLAMA_URL"),
    ],
)
def test_wrong_settings_name_the_variable(keywords: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        make_embedder(Settings(**keywords))


@pytest.mark.parametrize("text", ["", " \n", "\0", "\ud800", "a\0b"])
def test_hostile_texts_reach_the_server_as_something_it_can_read(double: Any, connect: Connect, text: str) -> None:
    embedder = connect(double)
    assert np.isfinite(embedder.embed_query(text)).all()
    assert embedder.embed_documents([text]).failures == {}
    assert all(part.strip() and "\0" not in part for call in double.calls for part in call)


def test_a_long_text_is_the_mean_of_its_windows(openai: Any, connect: Connect, tools: Any) -> None:
    # An unknown model is taken to read 512 tokens, 1,228 characters; 2,000 need two windows that share an eighth, 153.
    text = "".join(chr(97 + n % 26) for n in range(2000))
    vectors, _ = connect(openai).embed_documents(["short", text])
    parts = [text[:1077], text[923:]]
    mean = np.mean([tools.unit(tools.vector_of(part)) for part in parts], axis=0)
    np.testing.assert_allclose(vectors[1], tools.unit(mean), atol=1e-6)
    assert openai.calls[1] == ["short", *parts]
    np.testing.assert_allclose(connect(openai).embed_query(text), vectors[1], atol=1e-6)


def test_a_megabyte_and_a_window_of_blanks(double: Any, connect: Connect) -> None:
    embedder = connect(double)
    vectors, failures = embedder.embed_documents(["word " * 200_000, "a" + " " * 9000 + "b"])
    assert failures == {}
    assert np.isfinite(vectors).all()
    assert all(part.strip() for call in double.calls for part in call)


def test_a_failed_window_fails_its_text_alone(openai: Any, connect: Connect, tools: Any) -> None:
    openai.behave = sick(lambda texts: any("poison" in text for text in texts), lambda: tools.reply(400, "no"))
    vectors, failures = connect(openai).embed_documents(["fine", "x" * 3000 + " poison", "fine too"])
    assert list(failures) == [1]
    assert np.isnan(vectors).any(axis=1).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("model", "document", "query"),
    [
        ("nomic-embed-text", "search_document: ", "search_query: "),
        ("nomic-embed-text:v1.5", "search_document: ", "search_query: "),
        ("mxbai-embed-large", "", "Represent this sentence for searching relevant passages: "),
        ("BAAI/bge-small-en-v1.5", "", "Represent this sentence for searching relevant passages: "),
        ("bge-m3", "", ""),
        ("intfloat/multilingual-e5-small", "passage: ", "query: "),
        ("text-embedding-3-small", "", ""),
        ("all-minilm", "", ""),
    ],
)
def test_prefixes_by_model(model: str, document: str, query: str) -> None:
    assert profile_of(model)[:2] == (document, query)


def test_digest_is_part_of_the_fingerprint(ollama: Any, connect: Connect, tools: Any) -> None:
    first = connect(ollama).identity
    assert connect(ollama).identity == first
    ollama.digest = "f" * 64
    assert connect(ollama).identity.fingerprint != first.fingerprint
    ollama.tags = tools.reply(404, body=b"404 page not found")  # not Ollama but something that speaks its /api/embed
    without = connect(ollama).identity
    assert without.fingerprint != first.fingerprint
    ollama.tags = tools.reply(503, body=b"{}")
    with pytest.raises(EmbedderUnavailableError, match="BOR_OLLAMA_URL"):
        _ = connect(ollama).identity


def test_one_probe_for_many_threads(double: Any, connect: Connect) -> None:
    embedder = connect(double)
    vectors: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: vectors.append(embedder.embed_query("q"))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(vectors) == 6
    assert [call for call in double.calls if call == [fence.PROBE]] == [[fence.PROBE]]
