"""What LlamaIndex's instrumentation hears of a brain, and the log of questions that is written from it."""

import asyncio
import concurrent.futures
import json
import subprocess
import sys
from typing import Any

import psycopg
import pytest
from llama_index.core.instrumentation.events.query import QueryEndEvent, QueryStartEvent
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index_instrumentation import root_dispatcher, root_manager
from llama_index_instrumentation.event_handlers import BaseEventHandler

from brainkit.answering.events import ReplyEvent

AWS_KEY = "AK" + "IA" + "Z7QW3ERTY5PLM2XC"
QUESTION = "When was the battery changed?"


class Listener(BaseEventHandler):
    """A handler as another program has one."""

    heard: list[Any]
    fails: bool = False

    def handle(self, event, **_):
        if self.fails:
            raise RuntimeError("a fault of another program")
        self.heard.append(event)


@pytest.fixture
def listener():
    added, before = Listener(heard=[]), list(root_dispatcher.event_handlers)
    root_dispatcher.add_event_handler(added)
    yield added
    root_dispatcher.event_handlers = before


@pytest.fixture
def brain(open_brain, tmp_path):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "ups.md").write_text("# UPS\n\nThe battery was changed on 12 March 2024.\n")
    brain = open_brain(relevance_threshold=0.2)
    brain.import_paths([tmp_path / "lab"])
    return brain


def questions(database_url):
    with psycopg.connect(database_url) as connection:
        return [row[0] for row in connection.execute("select question from query_log order by id")]


def test_a_retriever_tells_the_standard_events_once(brain, listener):
    nodes = brain.as_retriever().retrieve(QUESTION)
    asyncio.run(brain.as_retriever().aretrieve(QUESTION))
    assert [type(event) for event in listener.heard] == [RetrievalStartEvent, RetrievalEndEvent] * 2
    assert listener.heard[1].nodes == nodes == listener.heard[3].nodes
    assert listener.heard[0].str_or_query_bundle == QUESTION


@pytest.mark.parametrize("question", [QUESTION, "Who painted the chapel?"])
def test_a_query_tells_the_standard_events_and_the_reply(brain, listener, question):
    engine = brain.as_query_engine()
    answers = [engine.query(question), asyncio.run(engine.aquery(question))]
    expected = [QueryStartEvent, RetrievalStartEvent, RetrievalEndEvent, ReplyEvent, QueryEndEvent]
    assert [type(event) for event in listener.heard] == expected * 2
    for (_, _, found, replied, ended), answer in zip((listener.heard[:5], listener.heard[5:]), answers, strict=True):
        assert [node.node.node_id for node in found.nodes] == [
            node.node.node_id for node in brain.as_retriever().retrieve(question)
        ]
        assert replied.reply.text == str(answer) == str(ended.response)
        assert replied.span_id is not None


def test_the_event_of_a_reply_is_plain_data_without_secrets(brain, listener):
    reply = brain.ask(f"Is {AWS_KEY} the key of the battery?")
    (event,) = listener.heard
    assert event.reply is reply
    told = json.loads(event.model_dump_json())
    assert told["reply"] == json.loads(json.dumps(reply.to_dict()))
    assert event.class_name() == "BrainReplyEvent"
    assert AWS_KEY not in str(told)
    assert told["reply"]["question"].startswith("Is [REDACTED:")


def test_each_brain_logs_its_own_questions_and_leaves_nothing_behind(brain, open_brain, new_database, database_url):
    handlers, registered = list(root_dispatcher.event_handlers), set(root_manager.dispatchers)
    with new_database() as other_url:
        other = open_brain(database_url=other_url)
        brain.ask("one")
        other.ask("two")
        brain.as_query_engine().query("three")
        assert (questions(database_url), questions(other_url)) == (["one", "three"], ["two"])
        other.close()
        brain.ask("four")
        assert (questions(database_url), questions(other_url)) == (["one", "three", "four"], ["two"])
    assert root_dispatcher.event_handlers == handlers
    assert set(root_manager.dispatchers) - registered <= {"brainkit.answering.llama"}


def test_what_another_program_breaks_costs_neither_the_reply_nor_the_log(brain, listener, database_url):
    listener.fails = True
    assert not brain.ask(QUESTION).deflected
    assert questions(database_url) == [QUESTION]
    assert brain.log_failures == 0


@pytest.mark.parametrize("fault", [ValueError("no"), psycopg.DataError("no"), MemoryError()])
def test_whatever_fails_in_logging_is_counted_by_every_thread(brain, monkeypatch, listener, fault, caplog):
    def fails(_):
        raise fault

    monkeypatch.setattr(brain._query_log, "write", fails)
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        replies = list(threads.map(brain.ask, [QUESTION] * 12))
    assert not any(reply.deflected for reply in replies)
    assert brain.log_failures == brain.status()["log_failures"] == len(listener.heard) == 12
    assert "battery" not in caplog.text


def test_opening_a_brain_loads_no_instrumentation():
    code = "import sys, brainkit.brain; sys.exit('llama_index_instrumentation' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
