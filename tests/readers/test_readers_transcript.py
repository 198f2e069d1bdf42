"""Transcripts: who said what when, one document for each conversation."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brainkit.readers import FoundFile, read_all
from brainkit.readers.transcript import transcript as read_transcript


def transcript(text):
    return read_transcript(text, text, str)


def lines(*entries):
    return "\n".join(entry if isinstance(entry, str) else json.dumps(entry) for entry in entries) + "\n"


CODING = lines(
    {"type": "summary", "summary": "Backup of the owl", "leafUuid": "x"},
    {"type": "user", "sessionId": "s-1", "cwd": "/home/me/owl", "timestamp": "2025-03-01T10:00:05.000Z",
     "message": {"role": "user", "content": "Why does it fail?"}},
    {"type": "assistant", "sessionId": "s-1", "cwd": "/home/me/owl", "timestamp": "2025-03-01T10:01:00.000Z",
     "message": {"role": "assistant", "content": [
         {"type": "thinking", "thinking": "hm" * 5}, {"type": "text", "text": "Let me look."},
         {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "df -h"}}]}},
    {"type": "user", "sessionId": "s-1", "timestamp": "2025-03-01T10:01:02.000Z",
     "message": {"role": "user", "content": [
         {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "line\n" * 1000}]}]}},
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    {"type": "assistant", "sessionId": "s-1", "timestamp": "2025-03-01T12:02:00+01:00",
     "message": {"role": "assistant", "content": [{"type": "text", "text": "# The disk is full\n```\n100 %"}]}},
    {"type": "user", "sessionId": "s-1", "timestamp": "2025-03-01T11:03:00Z", "message": {"content": "Thanks"}},
)  # fmt: skip


def test_a_coding_session():
    (draft,) = transcript(CODING)
    assert draft.content == (
        "## user (2025-03-01 10:00)\n\nWhy does it fail?\n\n"
        "## assistant (2025-03-01 10:01)\n\n[thinking: 10 characters in 1 line]\n\nLet me look.\n\n"
        "[tool Bash: command: df -h]\n\n[tool output: 5,000 characters in 1,000 lines]\n\n"
        "# The disk is full\n```\n100 %\n```\n\n"
        "## user (2025-03-01 11:03)\n\nThanks\n"
    )
    assert (draft.title, draft.project, draft.ref, draft.part) == ("Backup of the owl", "owl", "s-1", "")
    assert draft.ts == datetime(2025, 3, 1, 11, 3, tzinfo=UTC)


def test_conversations_of_chat_messages():
    text = lines(
        {"id": "one", "messages": [
            {"role": "system", "content": "Be kind."}, {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": None,
             "tool_calls": [{"function": {"name": "look", "arguments": '{"a": 1}'}}]},
            {"role": "tool", "content": "12345"}, {"role": "assistant", "content": "Done"}]},
        {"messages": [{"role": "user", "content": "Bye"}]},
        {"conversations": [{"from": "human", "value": "Ho"}, {"from": "gpt", "value": "Hey"}]},
    )  # fmt: skip
    first, second, third = transcript(text)
    assert first.content == (
        "## system\n\nBe kind.\n\n## user\n\nHi\n\n## assistant\n\n"
        '[tool look: {"a": 1}]\n\n[tool output: 5 characters in 1 line]\n\nDone\n'
    )
    assert [draft.part for draft in (first, second, third)] == ["one", "2", "3"]
    assert [draft.title for draft in (first, second, third)] == ["Hi", "Bye", "Ho"]
    assert third.content == "## user\n\nHo\n\n## assistant\n\nHey\n"


def test_plain_turns_with_times():
    (draft,) = transcript(
        lines(
            {"role": "user", "content": "a", "timestamp": 1_700_000_000},
            {"role": "assistant", "content": "b", "timestamp": 1_700_000_060_000},
        )
    )
    assert draft.content == "## user (2023-11-14 22:13)\n\na\n\n## assistant (2023-11-14 22:14)\n\nb\n"
    assert draft.ts == datetime(2023, 11, 14, 22, 14, 20, tzinfo=UTC)


def test_a_rollout_with_payloads():
    (draft,) = transcript(
        lines(
            {"type": "session_meta", "payload": {"id": "r-1", "cwd": "C:\\Users\\me\\fox"}},
            {"type": "response_item", "timestamp": "2025-01-01T00:00:00Z",
             "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go"}]}},
            {"type": "response_item", "payload": {"type": "function_call", "name": "sh", "arguments": "ls"}},
            {"type": "response_item", "payload": {"type": "function_call_output", "output": "a\nb"}},
        )
    )  # fmt: skip
    assert draft.content == (
        "## user (2025-01-01 00:00)\n\nGo\n\n## assistant\n\n[tool sh: ls]\n\n[tool output: 3 characters in 2 lines]\n"
    )
    assert (draft.ref, draft.project) == ("r-1", "fox")


def test_lines_that_are_torn_are_kept_and_said():
    text = lines({"role": "user", "content": "a"}) + '{"role": "assistant", "content": "half a senten'
    (draft,) = transcript(text)
    assert draft.note == "1 line is no JSON: kept as text"
    assert draft.content.endswith('```\n{"role": "assistant", "content": "half a senten\n```\n')


@pytest.mark.parametrize(
    "text",
    ["", '{"a": 1}\n', "not json\n", "[" * 99_999, "[1]\n5\nnull\n", '{"messages": [1, {"role": "x"}]}\n',
     '{"role": "user", "content": ""}\n', '{"type": "user", "name": "a"}\n',
     '{"role": "user", "content": "a"}\n' + '{"role": "admin"}\n' * 20],
)  # fmt: skip
def test_what_is_no_transcript_is_none(text):
    assert transcript(text) is None


@pytest.mark.parametrize(
    "odd",
    [{"timestamp": 1e300}, {"timestamp": -5}, {"timestamp": True}, {"timestamp": [1]}, {"cwd": 5}, {"sessionId": 7},
     {"tool_calls": [1, {"function": 2}, {"function": {"name": 5, "arguments": [1]}}]}, {"payload": [1]}],
)  # fmt: skip
def test_odd_values_are_passed_over(odd):
    (draft,) = transcript(lines({"role": "user", "content": "a", **odd}))
    assert draft.content.startswith("## user")
    assert (draft.ts, draft.project, draft.ref) == (None, "", "")


def test_the_documents_of_a_file(tmp_path, scrubber):
    path = tmp_path / "talk.jsonl"
    found = FoundFile(Path("talk.jsonl"), path, 1, 1_700_000_000_000_000_000, "repo")
    path.write_text(CODING)
    (one,) = read_all(found, scrubber=scrubber)
    assert (one.path, one.format, one.role, one.ref, one.project) == (
        "talk.jsonl", "transcript", "conversation", "s-1", "owl",
    )  # fmt: skip
    path.write_text(
        lines(
            {"role": "user", "content": "a", "session_id": "x/y"},
            {"role": "user", "content": "b", "session_id": "x y"},
            {"role": "user", "content": "c", "session_id": "tok-1"},
        )
    )
    documents = read_all(found, scrubber=scrubber)
    assert [document.path for document in documents] == [
        "talk.jsonl#x-y", "talk.jsonl#x-y~2", "talk.jsonl#-REDACTED-token-",
    ]  # fmt: skip
    assert [document.full_path for document in documents] == [f"{tmp_path}/{d.path}" for d in documents]
    assert [document.ref for document in documents] == ["x/y", "x y", "[REDACTED:token]"]
    assert [document.project for document in documents] == ["repo"] * 3
    assert documents[0].ts == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
