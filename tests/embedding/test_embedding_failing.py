"""Servers that hang, return, disagree or are old: questions wait briefly, documents patiently, nothing is mixed up."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from email.utils import formatdate
from typing import Any

import numpy as np
import pytest

from brainkit.embedding import fence, hosts, hurry, make_embedder, remote
from brainkit.errors import DimensionMismatchError, EmbedderUnavailableError, EmbeddingError
from brainkit.settings import Settings

Connect = Callable[..., Any]
TEXTS = [f"note number {n}" for n in range(10)]


@pytest.fixture(params=["ollama", "openai"])
def pair(request: pytest.FixtureRequest, tools: Any) -> Iterator[tuple[Any, Any]]:
    """Two servers with the same model."""
    with ExitStack() as stack:
        first, second = (stack.enter_context(tools.running(tools.double(request.param))) for _ in range(2))
        yield first, second


@pytest.fixture
def connect_both(connect: Connect) -> Connect:
    def made(pair: tuple[Any, Any], **keywords: Any) -> Any:
        variable = "ollama_url" if pair[0].provider == "ollama" else "embedding_base_url"
        return connect(pair[0], **{variable: ", ".join(each.settings[variable] for each in pair), **keywords})

    return made


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A port where connections are accepted and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def down(server: Any, tools: Any) -> None:
    server.behave = lambda texts, number: tools.reply(cut=True)
    server.tags = tools.reply(cut=True)


def well(server: Any, tools: Any) -> None:
    server.behave = lambda texts, number: tools.reply()
    server.tags = tools.reply()


def mean_of(tools: Any, texts: list[str]) -> np.ndarray:
    return tools.unit(np.mean([tools.unit(tools.vector_of(text)) for text in texts], axis=0))


def test_a_question_gives_a_silent_server_two_seconds_and_the_next_one_none(
    silent: socket.socket, connect: Connect
) -> None:
    embedder = make_embedder(
        Settings(embedder="ollama", ollama_url=f"http://127.0.0.1:{silent.getsockname()[1]}", embedding_timeout=3)
    )
    assert embedder.name == "ollama/nomic-embed-text"
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailableError, match=r"within 2 s.*BOR_EMBEDDING_TIMEOUT.*BOR_OLLAMA_URL"):
        embedder.embed_query("q")
    assert 1.9 < time.monotonic() - started < 3
    started = time.monotonic()
    for _ in range(20):
        with pytest.raises(EmbedderUnavailableError, match="within 2 s"):
            embedder.embed_query("q")
        with pytest.raises(EmbedderUnavailableError):
            _ = embedder.identity
    assert time.monotonic() - started < 1  # forty calls
    embedder.close()


def test_a_cold_model_is_loaded_by_the_question_that_did_not_wait(
    double: Any, connect: Connect, tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "QUERY_SECONDS", 0.2)
    double.behave = lambda texts, number: tools.reply(delay=0.6 if number == 1 else 0)
    embedder = connect(double)
    with pytest.raises(EmbedderUnavailableError, match=r"within 0\.2 s"):
        embedder.embed_query("q")
    deadline = time.monotonic() + 10
    while embedder._hurry._error is not None and time.monotonic() < deadline:
        time.sleep(0.02)
    asked = len(double.calls)
    assert np.isfinite(embedder.embed_query("q")).all()  # long before the circuit would close by itself
    assert len(double.calls) == asked + 1


def test_after_a_failure_questions_fail_without_asking_for_a_while(
    double: Any, connect: Connect, tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    double.behave = lambda texts, number: tools.reply(500, "out of memory")
    embedder = connect(double)
    with pytest.raises(EmbedderUnavailableError, match="out of memory"):
        embedder.embed_query("q")
    well(double, tools)
    asked = len(double.calls)
    with pytest.raises(EmbedderUnavailableError, match="out of memory"):
        embedder.embed_query("q")
    assert len(double.calls) == asked
    embedder._hurry._until = 0  # time goes by
    assert np.isfinite(embedder.embed_query("q")).all()


def test_a_refused_question_is_no_failure_of_the_server(double: Any, connect: Connect, tools: Any) -> None:
    embedder = connect(double)
    double.behave = lambda texts, number: tools.reply(400, "no") if "bad" in texts[0] else tools.reply()
    with pytest.raises(EmbeddingError, match="no vector for this question"):
        embedder.embed_query("bad")
    assert np.isfinite(embedder.embed_query("good")).all()


def test_a_server_that_returns_with_another_model_gives_no_vectors(ollama: Any, connect: Connect) -> None:
    before = connect(ollama).identity
    embedder = connect(ollama)
    embedder.assume(before)
    assert np.isfinite(embedder.embed_query("q")).all()
    ollama.digest = "c" * 64
    embedder = connect(ollama)
    embedder.assume(before)
    with pytest.raises(EmbeddingError, match="another model"):
        embedder.embed_query("q")
    assert embedder.identify() != before
    assert np.isfinite(embedder.embed_query("q")).all()


def test_documents_open_and_close_the_circuit_too(double: Any, connect: Connect, tools: Any) -> None:
    double.behave = lambda texts, number: tools.reply(500, "out of memory")
    embedder = connect(double)
    with pytest.raises(EmbedderUnavailableError):
        embedder.embed_documents(TEXTS)
    asked = len(double.calls)
    with pytest.raises(EmbedderUnavailableError):
        embedder.embed_query("q")
    assert len(double.calls) == asked
    well(double, tools)
    assert embedder.embed_documents(TEXTS).failures == {}
    assert np.isfinite(embedder.embed_query("q")).all()


def test_a_hanging_server_is_not_asked_by_ever_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hurry, "BREAK_SECONDS", 0)
    monkeypatch.setattr(hurry, "MAX_RUNNING", 3)
    late = EmbedderUnavailableError("late")
    patience = hurry.Hurry(0.02, lambda: late)
    started: list[int] = []

    def hang() -> None:
        started.append(1)
        time.sleep(0.5)

    for _ in range(8):
        with pytest.raises(EmbedderUnavailableError):
            patience.run([hurry.Runner(hang, lambda: None)])
    assert 1 <= len(started) <= 3


def test_what_a_question_s_thread_raises_arrives() -> None:
    patience = hurry.Hurry(5, lambda: EmbedderUnavailableError("late"))

    def broken() -> None:
        raise DimensionMismatchError("eight, not nine")

    with pytest.raises(DimensionMismatchError, match="eight, not nine"):
        patience.run([hurry.Runner(broken, lambda: None)])
    assert patience.run([hurry.Runner(lambda: 7, lambda: None)]) == 7


def test_identify_waits_as_long_as_documents_do(
    double: Any, connect: Connect, tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "QUERY_SECONDS", 0.1)
    double.behave = lambda texts, number: tools.reply(delay=0.4)
    assert connect(double).identify().dimensions == tools.dimensions


@pytest.mark.parametrize("ill", ["down", "500", "missing", "refused", "html", "hangs"])
def test_the_next_server_takes_over_and_the_first_returns(
    pair: tuple[Any, Any],
    connect_both: Connect,
    tools: Any,
    monkeypatch: pytest.MonkeyPatch,
    ill: str,
) -> None:
    monkeypatch.setattr(remote, "QUERY_SECONDS", 1.0)
    first, second = pair
    kinds = {
        "down": tools.reply(cut=True),
        "500": tools.reply(500, "out of memory"),
        "missing": tools.reply(404, "model not found"),
        "refused": tools.reply(401, "no"),
        "html": tools.reply(body=b"<html>It works!</html>"),
        "hangs": tools.reply(delay=1.5),
    }
    first.behave = lambda texts, number: kinds[ill]
    embedder = connect_both(pair, embedding_timeout=0.8)
    prefix = "search_document: " if first.provider == "ollama" else ""
    expected = np.array([tools.unit(tools.vector_of(prefix + text)) for text in TEXTS])
    query = embedder.embed_query("q")
    np.testing.assert_allclose(embedder.embed_documents(TEXTS).vectors, expected, atol=1e-6)
    well(first, tools)
    asked = len(first.calls)
    embedder.embed_documents(TEXTS)
    assert len(first.calls) == asked  # it rests
    embedder._fence.hosts[0]._rests_until = 0  # time goes by
    asked = len(second.calls)
    np.testing.assert_allclose(embedder.embed_documents(TEXTS).vectors, expected, atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("q"), query, atol=1e-6)
    assert len(second.calls) == asked


def test_a_server_that_goes_away_in_between(pair: tuple[Any, Any], connect_both: Connect, tools: Any) -> None:
    first, second = pair
    embedder = connect_both(pair, embedding_batch=2)
    first.behave = lambda texts, number: tools.reply(cut=number > 3)
    vectors, failures = embedder.embed_documents(TEXTS)
    assert failures == {}
    assert np.isfinite(vectors).all()
    assert len(second.calls) == 3


def test_all_servers_down_are_all_named(pair: tuple[Any, Any], connect_both: Connect, tools: Any) -> None:
    for server in pair:
        down(server, tools)
    with pytest.raises(EmbedderUnavailableError) as caught:
        connect_both(pair).embed_documents(TEXTS)
    assert all(str(server.port) in str(caught.value) for server in pair)
    assert [len(server.calls) for server in pair] == [3, 3]


def test_a_server_with_other_weights_of_that_name_is_not_used(connect_both: Connect, tools: Any) -> None:
    with tools.running(tools.double("ollama")) as first, tools.running(tools.double("ollama")) as second:
        second.digest = "f" * 64
        embedder = connect_both((first, second))
        embedder.embed_documents(TEXTS)
        down(first, tools)
        for call in (lambda: embedder.embed_documents(TEXTS), lambda: embedder.embed_query("q")):
            with pytest.raises(EmbedderUnavailableError, match="ffffffffffff, earlier 0a109f422b47"):
                call()
        assert second.calls == []


def test_a_server_of_another_dimension_is_not_used(pair: tuple[Any, Any], connect_both: Connect, tools: Any) -> None:
    first, second = pair
    second.behave = lambda texts, number: tools.reply(vectors=[[1.0, 2.0]] * len(texts))
    embedder = connect_both(pair)
    assert embedder.embed_documents(TEXTS).failures == {}
    down(first, tools)
    with pytest.raises(EmbeddingError):
        embedder.embed_documents(TEXTS)


def test_a_model_pulled_anew_in_between_is_noticed(
    ollama: Any, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "DIGEST_SECONDS", 0)
    embedder = connect(ollama)
    assert embedder.embed_documents(TEXTS).failures == {}
    ollama.digest = "e" * 64
    with pytest.raises(EmbedderUnavailableError, match="runs another model under this name"):
        embedder.embed_documents(TEXTS)
    with pytest.raises(EmbedderUnavailableError, match="Open the brain again"):
        embedder.embed_query("q")
    assert connect(ollama).embed_documents(TEXTS).failures == {}


def test_an_old_ollama_with_one_text_a_call(ollama: Any, connect: Connect, tools: Any) -> None:
    ollama.old = True
    embedder = connect(ollama)
    ollama.behave = lambda texts, number: tools.reply(500 if "number 6" in texts[0] else 200)
    vectors, failures = embedder.embed_documents(TEXTS)
    assert list(failures) == [6]
    np.testing.assert_allclose(vectors[9], tools.unit(tools.vector_of("search_document: note number 9")), atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("q"), tools.unit(tools.vector_of("search_query: q")), atol=1e-6)
    assert [path for path, _, _ in ollama.requests].count("/api/embed") == 1
    ollama.behave = lambda texts, number: tools.reply(404, "model 'nomic-embed-text' not found, try pulling it first")
    with pytest.raises(EmbedderUnavailableError, match="Run `ollama pull nomic-embed-text`"):
        connect(ollama).embed_documents(TEXTS)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "the input length exceeds the context length"),
        (400, "This model's maximum context length is 100 tokens, however you requested 230 tokens."),
        (413, "Input validation error: `inputs` must have less than 100 tokens. Given: 230"),
        (500, "input is too large to process. increase the physical batch size"),
    ],
)
def test_a_text_the_server_finds_too_long_is_halved_until_it_fits(
    double: Any, connect: Connect, tools: Any, status: int, said: str
) -> None:
    limit = 120
    double.behave = lambda texts, number: (
        tools.reply(status, said) if any(len(text) > limit for text in texts) else tools.reply()
    )
    text = "".join(chr(97 + n % 26) for n in range(180))
    embedder = connect(double)
    vectors, failures = embedder.embed_documents(["short", text, "short too"])
    assert failures == {}
    # 180 characters: two halves of 102 at most that share 12: (180 + 12) / 2 = 96 each.
    prefixes = ("search_document: ", "search_query: ") if double.provider == "ollama" else ("", "")
    for prefix, vector in zip(prefixes, (vectors[1], embedder.embed_query(text)), strict=True):
        np.testing.assert_allclose(vector, mean_of(tools, [prefix + text[:96], prefix + text[84:]]), atol=1e-6)
    assert len(double.calls) < 20


def test_ollama_is_told_not_to_cut(ollama: Any, connect: Connect) -> None:
    connect(ollama).embed_documents(TEXTS)
    sent = [body for path, _, body in ollama.requests if path == "/api/embed"]
    assert all(body["truncate"] is False for body in sent)


def test_a_text_that_is_too_long_for_ever_is_named(double: Any, connect: Connect, tools: Any) -> None:
    double.behave = lambda texts, number: (
        tools.reply(400, "exceeds the context length") if any("poison" in text for text in texts) else tools.reply()
    )
    assert list(connect(double).embed_documents(["fine", "poison " * 40, "fine too"]).failures) == [1]
    with pytest.raises(EmbeddingError, match="no vector for this question"):
        connect(double).embed_query("poison")


@pytest.mark.parametrize(("told", "waited"), [("7", 7), ("3600", 30), ("date", 20), ("soon", 0.001)])
def test_retry_after_is_kept_to_within_a_bound(
    double: Any, connect: Connect, tools: Any, monkeypatch: pytest.MonkeyPatch, told: str, waited: float
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(fence.time, "sleep", waits.append)
    header = formatdate(time.time() + 20, usegmt=True) if told == "date" else told
    double.behave = lambda texts, number: (
        tools.reply(429, "slow down", headers={"retry-after": header}) if number == 1 else tools.reply()
    )
    assert connect(double).embed_documents(TEXTS).failures == {}
    assert [wait for wait in waits if wait] == [pytest.approx(waited, abs=3 if told == "date" else 0)]
