"""Opening a brain, filling it, recalling from it, leaving documents out."""

import uuid

import pytest

from brainkit import Brain, RetrievalSettings, Settings
from brainkit.errors import (
    DimensionMismatchError,
    EmbedderUnavailableError,
    EmbeddingError,
    RetrievalSettingsError,
    SettingsError,
    UsageError,
)

NOWHERE = "postgresql://localhost:1/nothing"
AWS_KEY = "AK" + "IA" + "Z7QW3ERTY5PLM2XC"


@pytest.fixture
def two_roots(tmp_path):
    for root, port in (("lab", 53), ("old", 5353)):
        (tmp_path / root / "dns").mkdir(parents=True)
        (tmp_path / root / "dns" / "eule.md").write_text(f"# DNS on eule\n\nAdGuard listens on port {port}.\n")
    (tmp_path / "lab" / "ups.md").write_text("# UPS\n\nThe battery is an RBC7.\n")
    return [tmp_path / "lab", tmp_path / "old"]


def paths(recall):
    return {f"{d.source}:{d.path}" for d in recall.documents}


def test_recall_gives_chunks_documents_and_evidence(open_brain, two_roots):
    brain = open_brain()
    assert len(brain.import_paths(two_roots).indexed) == 3
    recall = brain.recall("Which port does AdGuard listen on?", k=1)
    assert len(recall.chunks) == 1
    assert recall.chunks[0].document_path == "dns/eule.md"
    assert paths(recall) == {"lab:dns/eule.md", "old:dns/eule.md", "lab:ups.md"}
    assert recall.documents[0].content.startswith("# DNS on eule")
    assert recall.evidence.lexical_hits == 2
    assert recall.settings == Settings(embedder="wordllama").retrieval == str(brain.retrieval)
    assert paths(brain.recall("battery", retrieval="lexical(30)")) == {"lab:ups.md"}
    assert paths(brain.recall("battery", retrieval=RetrievalSettings.parse("lexical(5)"))) == {"lab:ups.md"}


def test_documents_are_left_out_by_path_source_path_and_id(open_brain, two_roots):
    brain = open_brain()
    brain.import_paths(two_roots)
    question = "Which port does AdGuard listen on?"
    both, one = {"lab:ups.md"}, {"lab:ups.md", "old:dns/eule.md"}
    key = next(d.id for d in brain.recall(question).documents if d.source == "lab" and d.path == "dns/eule.md")
    assert paths(brain.recall(question, exclude_documents=["dns/eule.md"])) == both  # a shared path means both
    assert paths(brain.recall(question, exclude_documents=["lab:dns/eule.md"])) == one
    assert paths(brain.recall(question, exclude_documents=[key])) == one
    assert paths(brain.recall(question, exclude_documents=(str(key),))) == one
    assert paths(brain.recall(question, exclude_documents=[key, "old:dns/eule.md", "ups.md"])) == set()


@pytest.mark.parametrize("name", ["dns/uhu.md", "old:ups.md", "", uuid.UUID(int=7), str(uuid.UUID(int=7))])
def test_an_unknown_document_to_leave_out_is_an_error_that_names_it(open_brain, two_roots, name):
    brain = open_brain()
    brain.import_paths(two_roots)
    with pytest.raises(UsageError, match=f"no document '{name}' in the brain; `brainkit status --documents`"):
        brain.recall("AdGuard", exclude_documents=["ups.md", name])


def test_wrong_use_is_told(open_brain):
    brain = open_brain()
    with pytest.raises(UsageError, match="k = 0 is not allowed: give 1 or more"):
        brain.recall("x", k=0)
    with pytest.raises(RetrievalSettingsError, match="'dens' is not a retrieval mode, did you mean dense"):
        brain.recall("x", retrieval="dens(30)")
    with pytest.raises(SettingsError, match="BOR_GATE = 'sead'"):
        brain.decide("x", gate="sead")
    with pytest.raises(UsageError, match="no such folder or file"):
        brain.import_paths(["/no/such/folder"])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"retrieval": "dense(0)"}, RetrievalSettingsError, r"BOR_RETRIEVAL = 'dense\(0\)' is not allowed: dense=0"),
        ({"gate": "sead"}, SettingsError, "BOR_GATE = 'sead' is not allowed: give one of seed,"),
        ({"scrub_rules": "/no/rules.toml"}, SettingsError, "BOR_SCRUB_RULES"),
        ({"embedding_dim": 3}, DimensionMismatchError, "BOR_EMBEDDING_DIM"),
        ({"embedder": "openai"}, SettingsError, "BOR_EMBEDDING_"),
    ],
)
def test_wrong_settings_fail_before_the_database_is_touched(tmp_path, settings, error, message):
    with pytest.raises(error, match=message):
        Brain.open(Settings(**{"home": tmp_path / "h", "embedder": "wordllama", "database_url": NOWHERE} | settings))
    assert not (tmp_path / "h").exists()


def test_empty_and_odd_questions_find_nothing_or_something_but_never_fail(open_brain, two_roots):
    brain = open_brain()
    brain.import_paths(two_roots)
    for question in ("", "   ", "\0\n", "\ud800", "???", "'; drop table documents; --", "a" * 50_000, "💥", "%s {} $1"):
        recall = brain.recall(question)
        assert recall.evidence.best_cosine <= 1
        assert not (brain.ask(question).deflected and brain.ask(question).sources)
    assert brain.recall("").documents == ()
    assert brain.counts()["documents"] == 3


def test_a_secret_in_a_question_reaches_neither_embedder_nor_recall(open_brain, two_roots, monkeypatch):
    brain = open_brain()
    brain.import_paths(two_roots)
    sent = []
    embedder = brain._models.serving.embedder
    embed = embedder.embed_query
    monkeypatch.setattr(embedder, "embed_query", lambda text: sent.append(text) or embed(text))
    recall = brain.recall(f"Is {AWS_KEY} still in use?")
    brain.evidence(f"And is {AWS_KEY} in use?", ["ups.md"])
    assert len(sent) == 2
    assert AWS_KEY not in f"{sent} {recall.question}"
    assert "still in use?" in recall.question


def test_without_its_embedder_a_brain_searches_by_words_and_says_so(open_brain, two_roots, monkeypatch):
    brain = open_brain(relevance_threshold=0.1)
    brain.import_paths(two_roots)

    def down(_):
        raise EmbedderUnavailableError("Ollama does not answer.")

    monkeypatch.setattr(brain._models.serving.embedder, "embed_query", down)
    reply = brain.ask("Which battery is it?")
    assert not reply.deflected
    assert "The battery is an RBC7." in reply.text
    assert reply.decision.recall.degraded == "searched by words only: Ollama does not answer."
    assert reply.to_dict()["degraded"] == reply.decision.recall.degraded
    assert reply.decision.reason.endswith("searched by words only: Ollama does not answer.")


def test_an_answer_survives_passages_that_cannot_be_embedded(open_brain, two_roots, monkeypatch):
    brain = open_brain(relevance_threshold=0.1)
    brain.import_paths(two_roots)

    def fails(_):
        raise EmbeddingError("no")

    monkeypatch.setattr(brain._models.serving.embedder, "embed_documents", fails)
    assert "The battery is an RBC7." in brain.ask("Which battery is it?").text


def test_import_without_vectors_then_embed(open_brain, two_roots):
    brain = open_brain()
    report = brain.import_paths(two_roots, embed=False)
    assert (report.pending, report.embedded) == (3, 0)
    assert brain.recall("battery").chunks[0].cosine is None
    told = []
    assert brain.embed(progress=lambda *args: told.append(args)).embedded == 3
    assert told[-1] == ("embed", 3, 3)
    assert brain.recall("battery").chunks[0].cosine > 0
    assert len(brain.import_paths(two_roots).unchanged) == 3


def test_prune_removes_what_is_gone(open_brain, two_roots):
    brain = open_brain()
    brain.import_paths(two_roots)
    (two_roots[0] / "ups.md").unlink()
    assert brain.import_paths(two_roots).removed == []
    assert brain.import_paths(two_roots, prune=True).removed == ["lab:ups.md"]
    assert brain.list_documents() == ["lab:dns/eule.md", "old:dns/eule.md"]


def test_what_a_brain_knows_of_itself(open_brain, two_roots):
    brain = open_brain()
    brain.import_paths(two_roots)
    status = brain.status()
    assert {name: status[name] for name in ("documents", "chunks", "vectors", "pending", "redactions", "labels")} == {
        "documents": 3, "chunks": 3, "vectors": 3, "pending": 0, "redactions": 0, "labels": 0,
    }  # fmt: skip
    assert (status["dimensions"], status["gate"], status["threshold_origin"]) == (256, "score", "shipped")
    assert status["postgresql"].startswith("18.")
    texts = brain.document_texts()
    assert set(texts) == {"dns/eule.md", "ups.md", "lab:dns/eule.md", "old:dns/eule.md", "lab:ups.md"}
    assert texts["ups.md"] == texts["lab:ups.md"] == "# UPS\n\nThe battery is an RBC7.\n"
    assert texts["dns/eule.md"] == texts["lab:dns/eule.md"] + "\n" + texts["old:dns/eule.md"]
    assert (brain.find_texts("RBC7"), brain.find_texts("RBC8")) == (2, 0)  # the document and its chunk


def test_a_retriever_for_llamaindex(open_brain, two_roots):
    brain = open_brain()
    brain.import_paths(two_roots)
    retriever = brain.as_retriever("lexical(30)", k=1)
    (node,) = retriever.retrieve("battery")
    assert node.metadata["path"] == "ups.md"
    (whole,) = retriever.full_documents(1).postprocess_nodes([node])
    assert whole.text == "# UPS\n\nThe battery is an RBC7.\n"


def test_open_takes_its_settings_from_the_environment_and_closing_twice_does_no_harm(
    database_url, tmp_path, monkeypatch
):
    for name, value in {"HOME": tmp_path / "h", "DATABASE_URL": database_url, "EMBEDDER": "wordllama"}.items():
        monkeypatch.setenv(f"BOR_{name}", str(value))
    with Brain.open() as brain:
        assert brain.settings.embedder == "wordllama"
    brain.close()


def test_a_brain_that_cannot_be_built_gives_its_database_back(tmp_path, database_url, monkeypatch):
    closed = []
    monkeypatch.setattr("brainkit.store.Database.close", lambda database: closed.append(database._pool.close()))
    monkeypatch.setattr("brainkit.brain.parts.Searcher", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Brain.open(Settings(home=tmp_path, database_url=database_url, embedder="wordllama"))
    assert len(closed) == 1


def test_a_pasted_book_is_cut_and_answered(open_brain, tmp_path):
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "a.md").write_text("The pool has six disks.\n")
    brain = open_brain()
    brain.import_paths([tmp_path / "n"])
    book = "disks " + " ".join(f"word{i}" for i in range(200_000))
    assert [d.path for d in brain.recall(book).documents] == ["a.md"]
