"""A brain that lacks something: its embedder, its vectors, its database, its notes, or anything to go by."""

import os
import signal
import socket
import time

import numpy as np
import psutil
import pytest

import brainkit.store.database
from brainkit import Brain, Settings
from brainkit.errors import DatabaseError
from brainkit.store.server import EmbeddedServer

QUESTION = "Which battery is in the UPS?"
ANSWER = "The battery is an RBC7."


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ups.md").write_text(f"# UPS\n\n{ANSWER}\n")
    (folder / "nas.md").write_text("# NAS\n\nThe pool tank has four disks.\n")
    (folder / "dns.md").write_text("# DNS\n\nThe resolver is eule.\n")
    return folder


def finite(decision):
    evidence = decision.recall.evidence
    numbers = [getattr(evidence, name) for name in evidence.__dataclass_fields__]
    return bool(np.isfinite([decision.score, *numbers, *(c.score for c in decision.recall.chunks)]).all())


def test_a_silent_embedder_costs_an_answer_two_seconds_once_and_the_reply_says_so(open_brain, notes):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        brain = open_brain(embedder="ollama", ollama_url=url, embedding_timeout=3, relevance_threshold=0.1)
        brain.import_paths([notes], embed=False)
        brain._configured._hurry._until = 0  # as if it had failed long ago, and not when the brain was opened
        started = time.monotonic()
        replies = [brain.ask("How do I bake bread?"), brain.ask(QUESTION)]
        assert time.monotonic() - started < 3.9  # 2 s for the first of many embeddings, none for the others
        for reply, deflected in zip(replies, (True, False), strict=True):
            assert reply.deflected is deflected
            assert (ANSWER in reply.text) is not deflected
            told = reply.decision.recall.degraded
            assert told.startswith("searched by words only: ")
            assert told in reply.decision.reason
            assert reply.to_dict()["degraded"] == told
        response = brain.as_query_engine().query(QUESTION)
        assert response.metadata["degraded"] == told


def test_pending_chunks_are_found_by_words_beside_those_with_vectors(open_brain, notes):
    brain = open_brain(relevance_threshold=0.1)
    brain.import_paths([notes])
    (notes / "lamp.md").write_text("# Lamp\n\nThe lamp of the UPS is a battery lamp, type zwiebel.\n")
    brain.import_paths([notes], embed=False)
    found = {chunk.document_path: chunk for chunk in brain.recall("Which zwiebel lamp has a battery?").chunks}
    assert found["lamp.md"].cosine is found["lamp.md"].dense_rank is None
    assert found["lamp.md"].channel == "lexical"
    assert found["ups.md"].channel == "both"
    assert "type zwiebel" in brain.ask("Which zwiebel lamp?").text
    assert brain.embed().embedded == 1
    assert brain.recall("zwiebel").chunks[0].channel == "both"


def kill(server):
    """As a power cut would, and wait until nothing of the server is left."""
    postmaster = psutil.Process(int((server.data_dir / "postmaster.pid").read_text().split()[0]))
    processes = [postmaster, *postmaster.children()]
    os.kill(postmaster.pid, signal.SIGKILL)
    assert not psutil.wait_procs(processes, timeout=20)[1]


@pytest.fixture
def own_server(tmp_path):
    server = EmbeddedServer(tmp_path / "server")
    server.start()
    yield server
    server.release()
    server.erase()


def test_a_server_that_is_gone_is_one_clear_error_and_the_question_after_its_return_is_answered(
    own_server, notes, tmp_path, monkeypatch
):
    monkeypatch.setattr(brainkit.store.database, "PATIENCE_SECONDS", 1.0)
    settings = Settings(
        home=tmp_path / "home",
        database_url=own_server.url().replace("postgresql+psycopg://", "postgresql://"),
        embedder="wordllama",
        relevance_threshold=0.1,
    )
    with Brain.open(settings) as brain:
        brain.import_paths([notes])
        kill(own_server)
        for call in (brain.ask, brain.recall, brain.as_query_engine().query):
            started = time.monotonic()
            with pytest.raises(DatabaseError, match=r"^the database \(.*\) does not answer: .*Try again") as raised:
                call(QUESTION)
            assert "\n" not in str(raised.value)
            assert time.monotonic() - started < 15  # much less than a busy pool is waited for
        own_server.start()
        assert ANSWER in brain.ask(QUESTION).text
        assert brain.log_failures == 0
        assert brain.status()["questions"] == {"answer": 1}


@pytest.mark.parametrize("embedder", ["wordllama", "minilm"])
def test_little_to_go_by_gives_defined_replies(open_brain, notes, embedder):
    """With the default retrieval and gate of each embedder: no notes, one note, no words, too many words."""
    brain = open_brain(embedder=embedder)
    empty = brain.ask(QUESTION)
    assert empty.deflected
    assert empty.decision.score == brain.decide("").score  # the gate's lowest
    assert (empty.sources, empty.suggestions) == ((), ())
    for name in ("nas.md", "dns.md"):
        (notes / name).unlink()
    brain.import_paths([notes])
    alone = brain.ask(QUESTION)
    assert not alone.deflected
    assert [source.path for source in alone.sources] == ["ups.md"]
    assert alone.decision.score > empty.decision.score
    book = " ".join(f"word{n}" for n in range(10_000))
    for question in ("Where is it?", "Wo ist es?", "", "???", book):
        reply = brain.ask(question)
        assert reply.deflected, question
        assert reply.sources == ()
        assert reply.decision.recall.evidence.lexical_hits == 0
        assert finite(reply.decision)
    assert finite(alone.decision)
    assert finite(empty.decision)
    assert brain.log_failures == 0


@pytest.mark.parametrize("embedder", ["wordllama", "minilm"])
def test_vectors_that_are_all_equal_leave_the_ranking_to_words(open_brain, notes, embedder):
    brain = open_brain(embedder=embedder, relevance_threshold=-1.0)
    brain.import_paths([notes])
    with brain._database.connection() as connection:
        table = brain._models.serving.vectors.table.as_string(connection)
        connection.execute(f"update {table} set embedding = (select embedding from {table} order by chunk_id limit 1)")
    dense = brain.recall(QUESTION, retrieval="dense(30)").chunks
    assert len({chunk.cosine for chunk in dense}) == 1
    assert [chunk.dense_rank for chunk in dense] == [1, 2, 3]
    assert [chunk.chunk_id for chunk in dense] == sorted(chunk.chunk_id for chunk in dense)  # ties go by id
    for string in ("hybrid(fusion=convex)", "hybrid(fusion=rrf)", "hybrid+mmr(0.5)", "lexical(30)"):
        recall = brain.recall(QUESTION, retrieval=string)
        assert recall.chunks[0].document_path == "ups.md", string
        assert recall == brain.recall(QUESTION, retrieval=string)
    decision = brain.decide(QUESTION)
    assert finite(decision)
    assert decision.recall.evidence.margin == 0.0
    assert ANSWER in brain.ask(QUESTION).text
