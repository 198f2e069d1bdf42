"""Embedding what is pending: each text once, resumed anywhere, errors told."""

import numpy as np
import pytest

from brainkit.chunking import Chunk
from brainkit.embedding import EmbedResult, ModelIdentity
from brainkit.errors import EmbedderUnavailableError
from brainkit.ingestion import EmbedReport, FileOutcome, ImportReport, backlog, embed_pending
from brainkit.store import DocumentStore, VectorStore, make_entry


class Recorder:
    """Stands in for a server's embedder, which cannot be had here: remembers the texts it was given."""

    identity = ModelIdentity("recorder", 2, "recorder")

    def __init__(self, failing=(), down_after=None, interrupt_after=None):
        self.texts, self.failing, self.down_after, self.interrupt_after = [], failing, down_after, interrupt_after

    def embed_documents(self, texts):
        if self.down_after is not None and len(self.texts) >= self.down_after:
            raise EmbedderUnavailableError("recorder does not answer")
        if self.interrupt_after is not None and len(self.texts) >= self.interrupt_after:
            raise KeyboardInterrupt
        self.texts += texts
        failures = {n: f"no vector for {text}" for n, text in enumerate(texts) if text in self.failing}
        vectors = np.array([[np.nan] * 2 if n in failures else [1.0, len(text)] for n, text in enumerate(texts)])
        return EmbedResult(vectors.astype(np.float32), failures)


@pytest.fixture
def filled(database, make_document, monkeypatch):
    """Nine chunks of six texts, in batches of two."""
    monkeypatch.setattr(backlog, "BATCH", 2)
    store = DocumentStore(database)
    store.source_for("/n")
    texts = ["one", "two", "one", "three", "four", "one", "five", "two", "six"]
    chunks = [Chunk(n, "", text) for n, text in enumerate(texts)]
    store.put("n", "a.md", make_entry(make_document("a"), chunks), index_version="1", size=1, mtime_ns=1)
    return VectorStore(database, Recorder.identity)


def test_each_text_is_embedded_once_and_counted_for_each_chunk(filled):
    embedder, told = Recorder(), []
    report = embed_pending(embedder, filled, progress=lambda *step: told.append(step))
    assert embedder.texts == ["one", "two", "three", "four", "five", "six"]
    assert report == EmbedReport(embedded=9, failed=0, pending=0, error="")
    assert told == [("embed", 5, 9), ("embed", 7, 9), ("embed", 9, 9)]
    assert embed_pending(embedder, filled) == EmbedReport()
    assert len(embedder.texts) == 6


def test_failing_texts_are_told_tried_three_times_and_then_only_on_request(filled):
    embedder = Recorder(failing={"one", "five"})
    assert embed_pending(embedder, filled) == EmbedReport(embedded=5, failed=4, pending=4)
    assert embedder.texts.count("one") == embedder.texts.count("five") == 1
    for _ in range(4):
        embed_pending(embedder, filled)
    assert embedder.texts.count("one") == embedder.texts.count("five") == 3
    assert embed_pending(Recorder(), filled, retry=True) == EmbedReport(embedded=4, failed=0, pending=0)


def test_an_embedder_that_goes_down_stops_the_run_and_the_next_one_goes_on(filled):
    report = embed_pending(Recorder(down_after=2), filled)
    assert report == EmbedReport(embedded=5, failed=0, pending=4, error="recorder does not answer")
    again = Recorder()
    assert embed_pending(again, filled) == EmbedReport(embedded=4)
    assert again.texts == ["three", "four", "five", "six"]


def test_an_interrupt_loses_one_batch_at_most(filled):
    with pytest.raises(KeyboardInterrupt):
        embed_pending(Recorder(interrupt_after=4), filled)
    assert filled.pending_count() == 2
    assert embed_pending(Recorder(), filled) == EmbedReport(embedded=2)


def test_report_in_words_and_as_data():
    report = ImportReport(
        indexed=["n:a"], reindexed=["n:b", "n:c"], skipped=[FileOutcome("n:d", "empty")], redactions={"password": 2},
        chunks=7, pending=3, seconds=1.26,
    )  # fmt: skip
    assert str(report) == (
        "1 indexed, 2 reindexed, 1 skipped; 2 secrets kept out; 7 chunks in the brain, 3 without a vector yet (1.3 s)"
    )
    assert str(ImportReport()) == "no files; 0 chunks in the brain (0.0 s)"
    data = report.to_dict()
    assert data["skipped"] == [{"path": "n:d", "reason": "empty"}]
    assert data["indexed"] == ["n:a"]
    assert (report.changed, report.complete) == (3, False)


@pytest.mark.parametrize(
    ("values", "complete"),
    [
        ({}, True),
        ({"skipped": [FileOutcome("n:d", "empty")]}, True),
        ({"failed": [FileOutcome("n:d", "odd")]}, False),
        ({"pending": 1}, False),
        ({"embedding_error": "down"}, False),
    ],
)
def test_when_an_import_is_complete(values, complete):
    assert ImportReport(**values).complete is complete
