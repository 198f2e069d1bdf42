"""``brainkit chat``, ``steer`` and ``doctor --probe``, over a loopback double of a language model."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from llm_double import LLMReply
from typer.testing import CliRunner

from brainkit.cli.app import app

QUESTION = "When was the battery of the UPS changed?"
AWS_KEY = "AK" + "IA" + "Z7QW3ERTY5PLM2XC"


@pytest.fixture
def filled(run, tmp_path, monkeypatch):
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "ups.md").write_text("# UPS\n\nThe battery was changed on 12 March 2024. It is an RBC7.\n")
    (folder / "reading.md").write_text("# Books\n\nIna reads a novel about the sea.\n")
    monkeypatch.setenv("BOR_RELEVANCE_THRESHOLD", "0.2")
    run("import", folder)
    return folder


@pytest.fixture
def with_model(llm, monkeypatch):
    for name, value in llm.settings.items():
        monkeypatch.setenv(f"BOR_{name.upper()}", value)
    return llm


def chat(lines, *arguments):
    result = CliRunner().invoke(app, ["chat", *arguments], input="".join(f"{line}\n" for line in lines))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_conversation_with_a_model(filled, with_model):
    with_model.say(
        LLMReply(text="It was changed on 12 March 2024 [ups.md].", thinking="Let me see."),
        "Of what type is the battery of the UPS?",
        "It is an RBC9 [ups.md].",
    )
    out = chat([QUESTION, "And its type?", "/quit", "never asked"])
    assert out.startswith("2 documents; double answers from them. /quit leaves.\n")
    assert "Let me see.\n\nIt was changed on 12 March 2024 [ups.md].\nfrom lab/ups.md\n" in out
    assert "looked for: Of what type is the battery of the UPS?;" in out
    assert "in none of the given notes: RBC9\n" in out
    assert len(with_model.requests) == 3


def test_a_new_conversation_forgets_and_the_thinking_can_be_left_out(filled, with_model):
    with_model.say(LLMReply(text="12 March 2024.", thinking="Hm, hm."))
    out = chat([QUESTION, "/new", "And its type?"], "--no-thinking")
    assert "Hm" not in out
    assert all("Rewrite the last message" not in str(request) for request in with_model.requests)


def test_without_a_model_the_notes_are_quoted_and_what_they_do_not_hold_is_deflected(filled):
    out = chat([QUESTION, "How do I bake sourdough bread?"])
    assert "they are quoted" in out
    assert "[ups.md]\n  The battery was changed on 12 March 2024." in out
    assert "I haven't done anything like that" in out


def test_events_as_lines_of_json(filled, with_model):
    with_model.say(LLMReply(text="It was 12 March 2024 [ups.md].", thinking="Let me see."))
    events = [json.loads(line) for line in chat([QUESTION], "--json").splitlines()]
    assert {event["type"] for event in events} == {"thinking", "delta", "done"}
    done = events[-1]
    assert done["type"] == "done"
    assert done["deflected"] is False
    assert done["sources"] == [{"source": "lab", "path": "ups.md", "title": "UPS"}]
    assert done["suggestions"] == []
    assert "".join(event["text"] for event in events if event["type"] == "delta") == done["text"]


def test_no_escape_sequence_of_a_note_reaches_the_terminal(filled, run):
    (filled / "ups.md").write_text("# UPS\n\nThe battery was changed \x1b]0;owned\x07\x1b[2J on 12 March 2024.\n")
    run("import", filled)
    out = chat([QUESTION])
    assert "on 12 March 2024." in out
    assert "\x1b" not in out
    assert "\x07" not in out


def test_ask_names_what_the_notes_do_not_hold(filled, with_model, run):
    with_model.say("It is an RBC9 \x1b\x07[gone.md].")
    result = run("ask", QUESTION)
    assert "It is an RBC9.\n" in result.stdout
    assert "in none of the given notes: RBC9\n" in result.stderr
    assert "citations of documents it did not have, taken out: 1\n" in result.stderr


def test_ctrl_c_stops_the_answer_and_not_the_conversation(filled, with_model):
    with_model.say(LLMReply(text="word " * 500, pace=0.02), "It was 12 March 2024 [ups.md].")
    process = subprocess.Popen(
        [sys.executable, "-m", "brainkit", "chat", "--json"],
        env=dict(os.environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    process.stdin.write(f"{QUESTION}\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["type"] == "delta"
    process.send_signal(signal.SIGINT)
    lines = []
    while (event := json.loads(process.stdout.readline()))["type"] != "stopped":
        lines.append(event)
    out, err = process.communicate(f"{QUESTION}\n/quit\n", timeout=60)
    assert (process.returncode, err) == (0, "")
    assert json.loads(out.splitlines()[-1])["text"] == "It was 12 March 2024 [ups.md]."
    end = time.monotonic() + 5
    while not with_model.closed and time.monotonic() < end:
        time.sleep(0.01)
    assert with_model.closed == 1


def test_steering_is_set_shown_and_cleared(run, tmp_path):
    assert "no steering text" in run("steer").output
    run("steer", f"Be brief. The key is {AWS_KEY}.")
    shown = run("steer").stdout
    assert shown.startswith("Be brief. The key is [REDACTED:")
    file = tmp_path / "home" / "steering.md"
    assert file.read_text() == shown
    assert file.stat().st_mode & 0o077 == 0
    run("steer", "--clear")
    assert not file.exists()
    assert "not both" in run("steer", "text", "--clear", code=2).output


def test_steering_tells_when_it_is_over_its_budget(run, monkeypatch):
    monkeypatch.setenv("BOR_STEERING_MAX_CHARS", "10")
    data = json.loads(run("steer", "Be brief, please.", "--json").stdout)
    assert (data["characters"], data["budget"], data["cut"]) == (17, 10, True)
    assert "cut off in prompts" in run("steer").output


def test_steering_is_read_from_standard_input(run, monkeypatch):
    result = CliRunner().invoke(app, ["steer", "-"], input="Line one.\nLine two.\n")
    assert result.stdout == "Line one.\nLine two.\n"


def test_doctor_asks_embedder_and_model_for_real(run, filled, with_model):
    with_model.say(LLMReply(text="one, two, three", delay=0.05))
    out = run("doctor", "--probe").stdout
    line = next(line for line in out.splitlines() if "probe llm" in line)
    assert line.startswith("ok    probe llm: double at http://127.0.0.1:")
    assert "window 8192 tokens (BOR_LLM_CONTEXT; the server says 8192)" in line
    assert "tokens/s" in line
    assert "probe embedder: wordllama" in out
    assert "256 dimensions" in next(line for line in out.splitlines() if "probe embedder" in line)


def test_doctor_says_what_to_do_about_a_model_that_is_not_there(run, filled, with_model, monkeypatch):
    monkeypatch.setenv("BOR_LLM_MODEL", "qwen3:8b")
    out = run("doctor", "--probe", code=1).stdout
    assert "look  probe llm: The model qwen3:8b at http://127.0.0.1:" in out
    assert "Run `ollama pull qwen3:8b`" in out
    assert "check BOR_LLM_MODEL" in out


def test_doctor_says_when_the_window_is_smaller_than_the_setting(run, filled, with_model, monkeypatch):
    monkeypatch.setenv("BOR_LLM_CONTEXT", "20000")
    assert "set BOR_LLM_CONTEXT=8192" in run("doctor", "--probe", code=1).stdout


def test_without_a_model_that_is_no_fault(run, filled):
    assert "ok    probe llm: none: notes are quoted" in run("doctor", "--probe").stdout
