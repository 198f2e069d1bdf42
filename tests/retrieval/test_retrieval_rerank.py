"""Rerankers against hand-computed orders, and a rerank server that answers, errs, or is not there."""

import http.server
import json
import threading
import uuid
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from brainkit.errors import RetrievalSettingsError
from brainkit.retrieval import RetrievalSettings, Searcher
from brainkit.retrieval.recall import RecalledChunk
from brainkit.retrieval.rerank import Asked, Endpoint, Mmr, Recency

ASKED = Asked("when was it", {"when": 1.0}, np.ones(2))
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def chunk(number, score, ts=None, text="text"):
    return RecalledChunk(
        number, uuid.UUID(int=number), "s", f"{number}.md", "", "", text, 0.5, 1, None, 0.0, score, ts=ts
    )


def order(chunks):
    return [c.chunk_id for c in chunks]


def test_recency_by_hand():
    chunks = [
        chunk(1, 0.9, NOW - timedelta(days=360)),  # two half-lives: (1 + 1/4) / 2
        chunk(2, 0.8, NOW),
        chunk(3, 0.7, NOW - timedelta(days=180)),  # (1 + 1/2) / 2
        chunk(4, 0.6),
        chunk(5, -0.1),
    ]
    found = Recency(180)(ASKED, chunks)
    assert order(found) == [2, 1, 3, 4, 5]
    assert [c.score for c in found] == pytest.approx([0.8, 0.9 * 0.625, 0.7 * 0.75, 0.6 * 0.5, -0.1])


def test_recency_does_not_depend_on_today_and_needs_no_times():
    chunks = [chunk(n, 1 / n, NOW - timedelta(days=100 * n)) for n in (1, 2, 3)]
    shifted = [chunk(n, 1 / n, NOW - timedelta(days=100 * n + 5000)) for n in (1, 2, 3)]
    assert [c.score for c in Recency(30)(ASKED, chunks)] == [c.score for c in Recency(30)(ASKED, shifted)]
    assert order(Recency(30)(ASKED, [chunk(1, 0.5), chunk(2, 0.4)])) == [1, 2]
    assert Recency(30)(ASKED, []) == []


def test_mmr_by_hand():
    # 2 is a copy of 1, 3 is at a right angle to both; relevance stretched to 0..1: 1, .8, 0
    vectors = {1: np.array([1.0, 0]), 2: np.array([2.0, 0]), 3: np.array([0, 1.0])}
    chunks = [chunk(1, 0.9), chunk(2, 0.8), chunk(3, 0.4)]
    found = Mmr(0.5, lambda ids: {i: vectors[i] for i in ids})(ASKED, chunks)
    assert order(found) == [1, 3, 2]
    assert [c.score for c in found] == pytest.approx([0.5, 0.0, 0.5 * 0.8 - 0.5])
    mild = Mmr(0.9, lambda ids: {i: vectors[i] for i in ids})(ASKED, chunks)
    assert order(mild) == [1, 2, 3]


def test_mmr_without_vectors_or_differences_keeps_the_order():
    chunks = [chunk(3, 0.9), chunk(1, 0.8), chunk(2, 0.8)]
    assert order(Mmr(0.5, lambda _: {})(ASKED, chunks)) == [3, 1, 2]
    assert order(Mmr(0.5, lambda _: {})(ASKED, [chunk(2, 0.5), chunk(1, 0.5)])) == [2, 1]
    assert Mmr(0.0, lambda _: {})(ASKED, chunks[:1]) == chunks[:1]
    many = [chunk(n, 1 / (n + 1)) for n in range(150)]
    found = Mmr(0.5, lambda ids: {i: np.array([1.0, i]) for i in ids})(ASKED, many)
    assert sorted(order(found)) == list(range(150))
    assert order(found)[100:] == list(range(100, 150))
    scores = [c.score for c in found]
    assert scores == sorted(scores, reverse=True)


@pytest.fixture
def rerank_server():
    """A rerank server: the test says what it answers and reads what it was asked."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.asked.append((self.path, self.headers.get("Authorization"), json.loads(body)))
            status, reply = self.server.reply
            self.send_response(status)
            self.end_headers()
            self.wfile.write(reply if isinstance(reply, bytes) else json.dumps(reply).encode())

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.asked, running.reply = [], (200, {})
        running.url = f"http://127.0.0.1:{running.server_port}"
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


CHUNKS = [chunk(1, 0.9, text="a"), chunk(2, 0.8, text="b"), chunk(3, 0.7, text="c")]


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/rerank"])
def test_the_server_decides_the_order_of_those_it_got(rerank_server, path):
    results = [{"index": 1, "relevance_score": 3.5}, {"index": 0, "relevance_score": -2.0, "document": {"text": "a"}}]
    rerank_server.reply = (200, {"results": results})
    found = Endpoint(rerank_server.url + path, 2, "some/model", "token")(ASKED, CHUNKS)
    assert order(found) == [2, 1, 3]
    assert [c.score for c in found[:2]] == [3.5, -2.0]
    assert found[2].score <= -2.0
    body = {"query": "when was it", "documents": ["a", "b"], "top_n": 2, "model": "some/model"}
    assert rerank_server.asked == [("/v1/rerank", "Bearer token", body)]


def test_no_model_and_no_key_are_not_sent(rerank_server):
    rerank_server.reply = (200, {"results": [{"index": n, "relevance_score": n} for n in range(3)]})
    assert order(Endpoint(rerank_server.url, 20)(ASKED, CHUNKS)) == [3, 2, 1]
    ((_, key, body),) = rerank_server.asked
    assert (key, "model" in body) == (None, False)
    assert Endpoint(rerank_server.url, 20)(ASKED, []) == []
    assert len(rerank_server.asked) == 1


BAD = [
    (500, {}),
    (200, b"<html>"),
    (200, b"\xff"),
    (200, []),
    (200, {"results": None}),
    (200, {"results": [{"index": 0, "relevance_score": 1.0}]}),
    (200, {"results": [{"index": n, "relevance_score": "high"} for n in range(3)]}),
    (200, {"results": [{"index": n, "relevance_score": float("nan")} for n in range(3)]}),
]


@pytest.mark.parametrize("reply", BAD)
def test_a_server_that_errs_is_said_and_done_without(rerank_server, brain, reply):
    rerank_server.reply = reply
    with pytest.raises(ConnectionError, match="BOR_RERANK_URL"):
        Endpoint(rerank_server.url, 3)(ASKED, CHUNKS)
    settings, plain = RetrievalSettings.parse("hybrid+rerank(3)"), RetrievalSettings()
    embedder, vectors = brain._models.serving.embedder, brain._models.serving.vectors
    searcher = Searcher(brain._database, embedder, vectors, brain._documents, rerank_url=rerank_server.url)
    recall = searcher.recall("pool", settings, k=5)
    assert recall.degraded.startswith("not reranked: the server at BOR_RERANK_URL")
    assert [c.chunk_id for c in recall.chunks] == [c.chunk_id for c in searcher.recall("pool", plain, k=5).chunks]


def test_nobody_listens(rerank_server):
    with pytest.raises(ConnectionError, match="does not answer"):
        Endpoint("http://127.0.0.1:1", 3)(ASKED, CHUNKS)


@pytest.mark.parametrize("url", ["", "file:///etc/passwd", "ftp://x"])
def test_no_address_is_a_clear_error(url):
    with pytest.raises(RetrievalSettingsError, match="set BOR_RERANK_URL"):
        Endpoint(url, 3)


@pytest.fixture(scope="module")
def brain(new_database, tmp_path_factory):
    """Filled once: the tests that use it only ask."""
    from brainkit import Brain, Settings

    folder = tmp_path_factory.mktemp("rerank") / "notes"
    folder.mkdir()
    for number, text in enumerate(["The pool is new.", "The pool is new!", "A pool of leases.", "Chlorine."]):
        (folder / f"{number}.md").write_text(f"---\ndate: 202{number}-01-01\n---\n{text}\n")
    with (
        new_database() as url,
        Brain.open(Settings(home=folder.parent, database_url=url, embedder="wordllama")) as brain,
    ):
        brain.import_paths([folder])
        yield brain


def paths(recall):
    return [document.path for document in recall.documents]


def test_rerankers_of_a_retrieval_string(brain):
    plain = brain.recall("the pool is new")
    assert set(paths(plain)[:2]) == {"0.md", "1.md"}
    newer = brain.recall("the pool is new", retrieval="hybrid+recency(365d)")
    assert paths(newer)[0] == "1.md"
    assert {c.ts.year for c in newer.chunks} == {2020, 2021, 2022, 2023}
    unlike = brain.recall("the pool is new", retrieval="hybrid+mmr(0.2)")
    assert paths(unlike)[1] not in {"0.md", "1.md"}
    with pytest.raises(RetrievalSettingsError, match="BOR_RERANK_URL"):
        brain.recall("pool", retrieval="hybrid+rerank(5)")
    for string in ("hybrid+recency(30d)+mmr(0.5)", "lexical+mmr(0.2)", "dense(3)+recency(1)"):
        recall = brain.recall("the pool is new", retrieval=string)
        scores = [chunk.score for chunk in recall.chunks]
        assert scores == sorted(scores, reverse=True)
        assert recall.settings == str(RetrievalSettings.parse(string))
        assert brain.recall("the pool is new", retrieval=string) == recall


def test_documents_by_the_sum_of_their_best_chunks(brain):
    recall = brain.recall("the pool is new", k=50, retrieval="hybrid(top=2)")
    for document in recall.documents:
        scores = sorted((c.score for c in recall.chunks if c.document_id == document.id), reverse=True)
        assert document.score == pytest.approx(sum(scores[:2]))
    assert [d.score for d in recall.documents] == sorted((d.score for d in recall.documents), reverse=True)
