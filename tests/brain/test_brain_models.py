"""A change of the embedding model: the former one answers until the new one knows every chunk."""

import socket

import pytest

from brainkit.embedding import Embedder
from brainkit.errors import EmbedderUnavailableError
from brainkit.ingestion import backlog

DIMENSIONS = {"wordllama": 256, "minilm": 384}
QUESTION = "When was the battery changed?"


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in (("ups", "The battery was changed in May."), ("nas", "Four disks."), ("dns", "It is eule.")):
        (folder / f"{name}.md").write_text(f"# {name.upper()}\n\n{text}\n")
    return folder


@pytest.fixture
def nobody():
    """Address at which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def models(brain):
    return {model["dimensions"]: (model["vectors"], model["serving"]) for model in brain.status()["models"]}


def test_the_former_model_serves_until_the_new_one_is_complete(open_brain, notes, monkeypatch):
    open_brain().import_paths([notes])
    brain = open_brain(embedder="minilm")
    assert models(brain) == {256: (3, True), 384: (0, False)}
    recall = brain.recall(QUESTION)
    assert not recall.degraded
    assert recall.chunks[0].cosine > 0
    assert brain.status()["pending"] == 0

    monkeypatch.setattr(backlog, "BATCH", 1)
    embed, calls = Embedder.embed_documents, []

    def dying(self, texts, *args, **keywords):
        calls.append(texts)
        if len(calls) == 3:
            raise EmbedderUnavailableError("gone")
        return embed(self, texts, *args, **keywords)

    monkeypatch.setattr(Embedder, "embed_documents", dying)
    assert brain.embed().error == "gone"
    assert models(brain) == {256: (3, True), 384: (2, False)}
    assert not brain.recall(QUESTION).degraded

    assert brain.embed().pending == 0
    assert len(calls) == 4  # what was embedded before the fault is not embedded again
    assert models(brain) == {256: (3, False), 384: (3, True)}
    assert brain.status()["dimensions"] == 384
    assert brain.recall(QUESTION).chunks[0].cosine == pytest.approx(
        open_brain(embedder="minilm").recall(QUESTION).chunks[0].cosine
    )


def test_going_back_to_a_former_model_costs_nothing(open_brain, notes):
    open_brain().import_paths([notes])
    open_brain(embedder="minilm").embed()
    brain = open_brain()
    assert models(brain) == {256: (3, True), 384: (3, False)}
    assert brain.embed().embedded == 0


def test_a_new_model_without_a_server_leaves_the_former_one_serving(open_brain, notes, nobody):
    open_brain().import_paths([notes])
    brain = open_brain(embedder="ollama", ollama_url=nobody)
    assert "Ollama" in brain.embed().error
    assert models(brain) == {256: (3, True)}


def test_a_first_import_without_the_embedders_server_is_found_by_words(open_brain, notes, nobody):
    brain = open_brain(embedder="ollama", ollama_url=nobody)
    report = brain.import_paths([notes])
    assert len(report.indexed) == 3
    assert report.pending == report.chunks == 3
    assert nobody.removeprefix("http://") in report.embedding_error
    assert not report.complete
    recall = brain.recall(QUESTION)
    assert recall.chunks[0].document_path == "ups.md"
    assert "by words only" in recall.degraded
    assert brain.decide(QUESTION).recall.degraded
    assert brain.status()["dimensions"] is None
