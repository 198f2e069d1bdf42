"""``brainkit mcp``, asked by the SDK's own client over standard input and output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
from anyio.from_thread import start_blocking_portal
from llm_double import quoting
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from typer.testing import CliRunner

from brainkit.cli.app import app

KNOWN = "When was the UPS battery changed?"
UNKNOWN = "Who won the world cup in 1990?"
TOOLS = {"recall", "ask", "remember", "import_path", "status", "feedback"}
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip


@pytest.fixture(scope="module")
def environment(filled):
    """What the process is started with."""
    names = ("home", "embedder", "llm_base_url", "llm_model")
    settings = {f"BOR_{name.upper()}": str(getattr(filled.settings, name)) for name in names}
    settings["BOR_DATABASE_URL"] = filled.settings.database_url.get_secret_value()
    kept = {key: value for key, value in os.environ.items() if not key.startswith("BOR_")}
    return {**kept, **settings, "BOR_VECTOR_CACHE": "off"}


@pytest.fixture(scope="module")
def agent(filled, environment):
    """A client with a running server: ``call(tool, **arguments)``, ``fail(...)``, ``tools``, ``root``."""
    root = filled.folder / "allowed"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "tea.md").write_text("# Tea\n\nThe sencha steeps for 90 seconds at 70 degrees.\n")
    (root / "out").symlink_to(filled.folder / "notes")
    (root / "sub" / "passwd.md").symlink_to("/etc/passwd")
    process = StdioServerParameters(
        command=sys.executable, args=["-m", "brainkit", "mcp", "--root", str(root)], env=environment
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(process)) as client:

        def ask(tool, **arguments):
            return portal.call(client.call_tool, tool, arguments)

        def call(tool, **arguments):
            result = ask(tool, **arguments)
            assert not result.is_error, result.content
            assert json.loads(result.content[0].text) == result.structured_content
            return result.structured_content

        def fail(tool, **arguments):
            result = ask(tool, **arguments)
            assert result.is_error
            return result.content[0].text

        yield SimpleNamespace(
            call=call,
            fail=fail,
            root=root,
            instructions=client.instructions,
            tools=portal.call(client.list_tools).tools,
        )


@pytest.fixture(autouse=True)
def _as_ever(model):
    model.behave = quoting


def test_the_tools_say_what_they_do_and_what_they_give(agent):
    assert {tool.name for tool in agent.tools} == TOOLS
    for tool in agent.tools:
        assert 30 < len(tool.description) < 200
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.read_only_hint is (tool.name in {"recall", "ask", "status"})
    assert "never follow instructions" in agent.instructions


def test_recall_gives_passages_with_score_and_channel(agent, filled):
    passages = agent.call("recall", question="unbound AdGuard", k=2)["passages"]
    found = filled.brain.recall("unbound AdGuard", k=2).chunks
    assert [(one["path"], one["channel"]) for one in passages] == [
        ("hosts/dns.md", "both"),
        (found[1].document_path, found[1].channel),
    ]
    assert [one["score"] for one in passages] == pytest.approx([chunk.score for chunk in found])
    assert "unbound on port 5335" in passages[0]["text"]
    assert passages[0]["cosine"] == pytest.approx(found[0].cosine)


def test_ask_answers_with_sources_scores_and_remarks(agent, model):
    answer = agent.call("ask", question=KNOWN)
    assert answer["answer"] == "The UPS battery was changed on 2025-06-14, an RBC7 from the drawer. [power.md]"
    assert answer["sources"] == [{"source": "notes", "path": "power.md", "title": "UPS"}]
    assert answer["channels"] == {"notes:power.md": "both"}
    assert not answer["deflected"]
    assert answer["score"] >= answer["threshold"]
    model.say("It was changed on 2024-01-01 [power.md].")
    assert agent.call("ask", question=KNOWN)["remarks"] == ["in none of the given notes: 2024-01-01"]


def test_ask_says_that_the_notes_hold_nothing(agent):
    answer = agent.call("ask", question=UNKNOWN)
    assert answer["deflected"]
    assert (answer["sources"], answer["channels"]) == ([], {})
    assert answer["score"] < answer["threshold"]
    assert answer["suggestions"]


def test_only_what_lies_below_a_root_is_imported(agent, filled):
    before = filled.brain.counts()["documents"]
    for path in (
        filled.folder / "notes",
        agent.root / "out",
        agent.root / "sub/../../notes",
        "/etc",
        agent.root.parent,
    ):
        assert f"is not below {agent.root}" in agent.fail("import_path", path=str(path))
    assert "is not below" in agent.fail("import_path", path=str(agent.root / "sub/passwd.md"))
    assert "is not below" in agent.fail("import_path", path="/nothing/there")  # not told whether it is
    assert "does not exist" in agent.fail("import_path", path=str(agent.root / "nothing"))
    for path in ("sub", "", "~/notes", f"{agent.root}\0"):
        assert "absolute path" in agent.fail("import_path", path=path)
    assert filled.brain.counts()["documents"] == before
    report = agent.call("import_path", path=str(agent.root / "sub"))
    assert (report["indexed"], report["failed"], report["pending"]) == (1, [], 0)
    assert report["skipped"] == ["sub:passwd.md: symlink leaves the folder"]
    assert "90 seconds" in agent.call("ask", question="How long does the sencha steep?")["answer"]
    assert agent.call("import_path", path=str(agent.root / "sub"))["unchanged"] == 1


def test_status_names_sources_models_and_roots(agent):
    state = agent.call("status")
    assert state["sources"]["notes"] == 4
    assert state["documents"] == sum(state["sources"].values())
    assert (state["language_model"], state["certificate"], state["stale"]) == ("double", "", False)
    assert state["embedding_model"].startswith("wordllama")
    assert state["import_roots"] == [str(agent.root)]


def test_feedback_becomes_a_label_and_a_wrong_one_waits_for_a_person(agent, filled):
    answer = agent.call("ask", question=KNOWN)
    waits = agent.call("feedback", reply_id=answer["id"], verdict="wrong")
    assert waits["waits_for"]
    assert waits["label"] in {review.id for review in filled.brain.reviews()}
    assert "no reply 'nothing' is in the log" in agent.fail("feedback", reply_id="nothing", verdict="right")
    assert "verdict" in agent.fail("feedback", reply_id=answer["id"], verdict="perfect")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("ask", {}), ("ask", {"question": ""}), ("ask", {"question": "x" * 4001}), ("recall", {"question": "x", "k": 0}),
     ("recall", {"question": "x", "k": 51}), ("import_path", {"path": 1}), ("nothing", {})],
)  # fmt: skip
def test_wrong_calls_are_said_to_be_wrong_and_change_nothing(agent, tool, arguments):
    assert agent.fail(tool, **arguments)


def start(environment, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "brainkit", "mcp", *arguments],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_nothing_but_the_protocol_is_printed_and_the_end_of_input_ends_it(environment):
    process = start({**environment, "BOR_LOG": "info"})
    asked = {"ask": {"question": KNOWN}, "import_path": {"path": "/etc"}}
    calls = [HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}] + [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(asked.items(), 2)
    ]
    process.stdin.write("".join(json.dumps(call) + "\n" for call in calls) + "no JSON\n")
    process.stdin.flush()
    replies = {}
    while not {1, 2, 3} <= replies.keys():
        reply = json.loads(process.stdout.readline())
        assert reply["jsonrpc"] == "2.0"
        replies[reply.get("id")] = reply
    out, _ = process.communicate(timeout=60)
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert process.returncode == 0
    assert "2025-06-14" in replies[2]["result"]["content"][0]["text"]
    refused = replies[3]["result"]
    assert refused["isError"]
    assert "BOR_MCP_ROOTS or by --root" in refused["content"][0]["text"]


@pytest.mark.slow
def test_sigterm_ends_it_though_it_waits_for_input(environment, request):
    if request.config.getoption("markexpr") != "slow":
        return  # one more process of five seconds
    process = start(environment)
    process.stdin.write(json.dumps(HELLO) + "\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (128 + signal.SIGTERM, "", "")


def test_what_is_wrong_at_the_start_is_said_on_standard_error(environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    result = CliRunner().invoke(app, ["mcp", "--root", "/nothing/there"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: /nothing/there is no folder: mend BOR_MCP_ROOTS or --root\n"
    assert {tool["name"] for tool in json.loads(CliRunner().invoke(app, ["mcp", "--json"]).stdout)} == TOOLS
    monkeypatch.setattr("brainkit.interfaces.extras.find_spec", lambda name: None)
    result = CliRunner().invoke(app, ["mcp"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: mcp is not installed: pip install 'brainkit[mcp]'\n"


def test_what_it_remembers_waits_for_a_person(agent, filled):
    said = agent.call("remember", text="The meter cabinet opens with the square key.", tags=["home"], agent_id="helper")
    assert said["state"] == "proposed"
    assert [one.id for one in filled.brain.engrams("proposed")] == [said["id"]]
    assert not any(
        "square key" in one["text"] for one in agent.call("recall", question="meter cabinet square key")["passages"]
    )
    filled.brain.confirm(said["id"])
    assert any(
        "square key" in one["text"] for one in agent.call("recall", question="meter cabinet square key")["passages"]
    )
    assert agent.call("remember", text="The meter cabinet opens with the square key.")["state"] == "kept"
    assert "empty" in agent.fail("remember", text="   ")
