"""What the HTTP interface answers: asked by a real client, through a real server, from a real database."""

from __future__ import annotations

import json
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from llm_double import LLMReply, quoting

from brainkit import Brain

KNOWN = "When was the UPS battery changed?"
UNKNOWN = "Who won the world cup in 1990?"


@pytest.fixture(autouse=True)
def _as_ever(model):
    model.behave = quoting


def events(client, question, **more):
    """The events of an answer as (name, data), read by the rules of the HTML standard."""
    with client.stream("POST", "/api/chat", json={"question": question, **more}) as reply:
        assert reply.status_code == 200, reply.read()
        assert reply.headers["content-type"].startswith("text/event-stream")
        text = "".join(reply.iter_text())
    assert text.endswith("\n\n")
    found = []
    for block in text.split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        assert set(fields) == {"event", "data"}
        found.append((fields["event"], json.loads(fields["data"])))
    return found


def said(found):
    return "".join(data["text"] for name, data in found if name == "delta")


def test_an_answer_thinks_speaks_and_ends_with_its_sources(served):
    found = events(served.read, KNOWN)
    assert re.fullmatch("(thinking )+(delta )+done ", "".join(f"{name} " for name, _ in found))
    assert all(set(data) == {"type", "text"} and data["type"] == name for name, data in found[:-1])
    assert said(found) == "The UPS battery was changed on 2025-06-14, an RBC7 from the drawer. [power.md]"
    assert "".join(data["text"] for name, data in found if name == "thinking").strip() == "Let me look at the notes."
    assert found[-1][1] == {
        "type": "done",
        "deflected": False,
        "sources": [{"source": "notes", "path": "power.md", "title": "UPS"}],
        "suggestions": [],
    }


def test_a_deflection_says_so_and_never_asks_the_model(served, model):
    before = len(model.requests)
    found = events(served.read, UNKNOWN)
    done = found[-1][1]
    assert done["deflected"]
    assert done["sources"] == []
    assert 1 <= len(done["suggestions"]) <= 3
    assert all(suggestion in said(found) for suggestion in done["suggestions"])
    assert {name for name, _ in found} == {"delta", "done"}
    assert len(model.requests) == before


def test_details_tell_the_checked_text_and_what_is_wrong_with_it(served, model):
    model.say("It was changed on 2024-01-01 [power.md], see [made-up.md].")
    reply = events(served.read, KNOWN, details=True)[-1][1]["reply"]
    assert reply["text"] == "It was changed on 2024-01-01 [power.md], see."
    assert (reply["unsupported"], reply["removed_citations"]) == (["2024-01-01"], 1)
    assert (reply["model"], reply["cut"], reply["note"], reply["question"]) == ("double", False, "", KNOWN)
    assert reply["reason"].startswith("uncalibrated")
    assert re.fullmatch("[0-9a-f]{10}", reply["id"])


def test_a_follow_up_is_understood_by_what_was_said_before(served, model):
    history = [{"role": "user", "text": KNOWN}, {"role": "assistant", "text": "On 2025-06-14 [power.md]."}]
    model.behave = lambda body: (
        LLMReply("Which UPS battery was it?") if "DOCUMENT 1" not in body["messages"][-1]["content"] else quoting(body)
    )
    done = events(served.read, "And which one was it?", history=history, details=True)[-1][1]
    assert done["reply"]["question"] == "Which UPS battery was it?"
    assert [source["path"] for source in done["sources"]] == ["power.md"]


@pytest.mark.parametrize(
    ("reply", "note", "cut"),
    [
        (LLMReply(status=401, error="no such key"), "The notes are quoted, as no model answers.", False),
        (LLMReply(text="The battery was changed in June.", cut_after=2), "The answer is cut:", True),
    ],
    ids=["refuses", "dies"],
)
def test_a_model_that_fails_is_done_without_and_the_reply_says_so(served, model, reply, note, cut):
    model.say(reply)
    found = events(served.read, KNOWN, details=True)
    done = found[-1][1]
    assert found[-1][0] == "done"
    assert done["reply"]["note"].startswith(note)
    assert done["reply"]["cut"] is cut
    assert ("2025-06-14" in done["reply"]["text"]) is not cut


def test_secrets_in_a_question_go_no_further(served, model):
    secret = "Quark" + "-7711-geheim"
    events(served.read, f"When was the UPS battery changed? password: {secret}")
    assert secret not in model.sent()
    assert served.brain.find_texts(secret) == 0


def test_several_ask_at_once_and_each_gets_its_own_answer(served):
    asked = {KNOWN: "power.md", "Where does AdGuard run?": "hosts/dns.md", "When does restic run?": "backup.md"}
    questions = list(asked) * 4
    with ThreadPoolExecutor(len(questions)) as pool:
        answers = list(pool.map(lambda question: events(served.read, question)[-1][1], questions))
    assert [done["sources"][0]["path"] for done in answers] == [asked[question] for question in questions]


def test_a_client_that_goes_away_stops_the_model_and_nobody_else(served, model, wait_for):
    model.say(LLMReply(text="word " * 50, hang_after=5))
    closed = model.closed
    with served.read.stream("POST", "/api/chat", json={"question": KNOWN}) as reply:
        assert next(reply.iter_text()).startswith("event: delta")
        assert model.closed == closed
    wait_for(lambda: model.closed == closed + 1)
    model.behave = quoting
    assert events(served.read, KNOWN)[-1][0] == "done"


def test_a_client_that_goes_away_before_the_first_word_stops_the_model_too(served, model, wait_for):
    model.say(LLMReply(text="word " * 50, hang_after=0))
    asked, closed = len(model.requests), model.closed
    request = served.read.build_request("POST", "/api/chat", json={"question": KNOWN})
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    with socket.create_connection((request.url.host, request.url.port)) as connection:
        connection.sendall(f"POST /api/chat HTTP/1.1\r\n{head}\r\n".encode() + request.content)
        wait_for(lambda: len(model.requests) == asked + 1)
        assert model.closed == closed
    wait_for(lambda: model.closed == closed + 1)


def test_health_suggestions_and_documents(served):
    health = served.read.get("/api/health").json()
    assert health == {
        "status": "ok", "version": "0.1.0", "database": served.brain.versions()["postgresql"],
        "documents": 4, "model": "double",
    }  # fmt: skip
    suggestions = served.read.get("/api/suggestions").json()["suggestions"]
    assert 1 <= len(suggestions) <= 3
    assert all(served.brain.decide(question).answer for question in suggestions)
    document = served.read.get("/api/documents/content", params={"source": "notes", "path": "hosts/dns.md"}).json()
    assert document == {
        "source": "notes", "path": "hosts/dns.md", "title": "DNS",
        "content": (served.folder / "notes/hosts/dns.md").read_text(),
    }  # fmt: skip


def test_the_catalogue_counts(served):
    listed = served.admin.get("/api/docs").json()
    (source,) = listed["sources"]
    assert (source["source"], source["documents"], source["chunks"]) == ("notes", 4, 4)
    assert [row["path"] for row in listed["documents"]] == ["backup.md", "bread.md", "hosts/dns.md", "power.md"]
    assert listed["documents"][3] | {"indexed_at": ""} == {
        "source": "notes", "path": "power.md", "title": "UPS", "chunks": 1, "indexed_at": "",
    }  # fmt: skip
    assert datetime.now(UTC) - datetime.fromisoformat(source["indexed_at"]) < timedelta(minutes=10)
    page = served.admin.get("/api/docs", params={"limit": 2, "offset": 1}).json()["documents"]
    assert page == listed["documents"][1:3]


def test_steering_is_kept_without_its_secrets_and_reaches_the_model(served, model):
    secret = "Quark" + "-7711-geheim"
    try:
        kept = served.admin.put("/api/steering", json={"text": f"Be brief, please. password: {secret}"}).json()
        assert kept["text"].startswith("Be brief, please.")
        assert secret not in kept["text"]
        assert (kept["budget"], kept["cut"]) == (4000, False)
        assert served.admin.get("/api/steering").json() == kept
        events(served.read, KNOWN)
        assert "Be brief, please." in model.prompt()
    finally:
        assert served.admin.put("/api/steering", json={"text": ""}).json()["text"] == ""
    assert not (served.settings.home / "steering.md").exists()


def test_a_database_that_is_gone_is_a_503_that_says_what_to_do(filled, serving):
    from brainkit.interfaces.http import Tokens

    with Brain.open(filled.settings) as brain, serving(brain, Tokens("r" * 16, "a" * 16)) as url:
        brain.close()
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {'r' * 16}"}, trust_env=False) as client:
            replies = [client.get("/api/health"), client.post("/api/chat", json={"question": KNOWN})]
    for reply in replies:
        assert reply.status_code == 503
        assert "database" in reply.json()["detail"]
        assert "open the brain again" in reply.json()["detail"]
