"""Transcripts of assistants (.jsonl) as Markdown: one document for each conversation, one heading for each turn."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, NamedTuple

from brainkit.readers.draft import Draft, fenced, shortened, sized
from brainkit.readers.frontmatter import parse_date
from brainkit.readers.markdown import closing

if TYPE_CHECKING:
    from brainkit.readers.draft import Clean

ROLES = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant",
    "gpt": "assistant", "bot": "assistant", "system": "system", "developer": "system", "tool": "tool",
    "function": "tool",
}  # fmt: skip
SESSION_KEYS = ("sessionId", "session_id", "conversation_id", "conversationId", "thread_id", "session")
TIME_KEYS = ("timestamp", "created_at", "create_time", "time", "ts", "date")
CALLS = frozenset({"tool_use", "function_call", "custom_tool_call", "local_shell_call"})
OUTPUTS = frozenset({"tool_result", "function_call_output", "custom_tool_call_output"})
MAX_CALL_CHARS = 300
MAX_PART_CHARS = 80


class Turn(NamedTuple):
    """What one side said; what a tool gave back (``tool``) has no heading of its own."""

    role: str
    text: str
    time: datetime | None


@dataclass
class Conversation:
    """The turns of one session."""

    session: str
    title: str = ""
    cwd: str = ""
    turns: list[Turn] = field(default_factory=list)


def transcript(text: str, raw: str, clean: Clean) -> list[Draft] | None:
    """The conversations of a file in order, or None when it is no transcript.

    Read are lines of Claude Code and Codex, ``{"messages": [{"role", "content"}]}`` (each its own conversation), and
    ``{"role", "content", "timestamp"}``. What a tool gave back and what a model thought is told by its size only.
    Lines that are no JSON, such as one that is torn off, are kept as they are at the end.

    Args:
        text: the lines, scrubbed.
        raw: the lines as they were, read where scrubbing made one unreadable; what is made of them has to be scrubbed.
        clean: scrubs what is shortened.
    """
    reader = _Reader(clean)
    lines, originals = text.split("\n"), raw.split("\n")
    for line, original in zip(lines, originals if len(originals) == len(lines) else lines, strict=True):
        if line.strip():
            reader.read(line, original)
    talks = [talk for talk in reader.talks.values() if talk.turns]
    if not talks or reader.said * 10 < reader.lines:
        return None
    broken = "\n\n".join(fenced(line) for line in reader.broken)
    count = len(reader.broken)
    note = f"{count} line{'s are' if count > 1 else ' is'} no JSON: kept as text" if count else ""
    last = talks[-1]
    if broken:
        last.turns.append(Turn("tool", broken, None))
    return [
        _draft(talk, number if len(talks) > 1 else 0)._replace(note=note if talk is last else "")
        for number, talk in enumerate(talks, 1)
    ]


class _Reader:
    """Sorts the lines of a file into conversations; a line that names no session belongs to the one before it."""

    def __init__(self, clean: Clean) -> None:
        self._clean = clean
        self.talks: dict[str, Conversation] = {}
        self.broken: list[str] = []
        self.lines = self.said = 0
        self._session = ""
        self._title = ""

    def read(self, line: str, original: str) -> None:
        entry = _parsed(line)
        if entry is None and original != line:
            entry = _parsed(original)
        if entry is None:
            self.broken.append(line)
            return
        self.lines += 1
        if not isinstance(entry, dict):
            return
        messages = entry.get("messages", entry.get("conversations"))
        if isinstance(messages, list):
            talk = Conversation(_first(entry, (*SESSION_KEYS, "id")), _first(entry, ("title",)))
            talk.turns = [
                turn for item in messages if isinstance(item, dict) for turn in _turns(item, entry, self._clean)
            ]
            self.talks[f"\0{len(self.talks)}"] = talk
            self.said += bool(talk.turns)
        else:
            self._read_turn(entry)

    def _read_turn(self, entry: dict[str, Any]) -> None:
        payload = entry.get("payload")
        if isinstance(payload, dict) and entry.get("type") == "session_meta":
            self._session = _first(payload, ("id", *SESSION_KEYS))
        if entry.get("type") == "summary":
            self._title = _first(entry, ("summary",)) or self._title
            return
        inner = next((v for key in ("message", "payload") if isinstance(v := entry.get(key), dict)), entry)
        turns = _turns(inner, entry, self._clean)
        self._session = _first(entry, SESSION_KEYS) or self._session
        talk = self.talks.setdefault(self._session, Conversation(self._session))
        talk.title = talk.title or self._title
        talk.cwd = talk.cwd or _first(entry, ("cwd",)) or _first(inner, ("cwd",))
        talk.turns += turns
        self.said += bool(turns)


def _parsed(line: str) -> object:
    """What a line of JSON holds; None also where it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _turns(message: dict[str, Any], entry: dict[str, Any], clean: Clean) -> list[Turn]:
    kind = _first(message, ("type",))
    role = ROLES.get(_first(message, ("role", "from")) or _first(entry, ("role", "type")), "")
    content = message.get("content", message.get("value"))
    if kind in CALLS | OUTPUTS | {"reasoning"}:
        role, content = "tool" if kind in OUTPUTS else "assistant", [message]
    if not role:
        return []
    time = _time(message) or _time(entry)
    parts = [content] if isinstance(content, str) else content if isinstance(content, list) else []
    turns = []
    for part in [*parts, *_calls(message)]:
        text, is_output = _said(part, clean)
        if role == "tool" and not is_output:
            text, is_output = f"[tool output: {sized(text)}]", True
        if text.strip():
            turns.append(Turn("tool" if is_output else role, text.strip("\n"), time))
    return turns


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    calls = message.get("tool_calls")
    inner = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return [{"type": "function_call", **call} for call in inner if isinstance(call, dict)]


class _Said(NamedTuple):
    text: str
    is_output: bool = False


def _said(part: object, clean: Clean) -> _Said:
    """The text of one part of a turn, and whether it is what a tool gave back."""
    if not isinstance(part, dict):
        return _Said(part if isinstance(part, str) else "")
    kind = _first(part, ("type",))
    if kind in CALLS:
        given = next((part[key] for key in ("input", "arguments", "action") if key in part), "")
        return _Said(f"[tool {_first(part, ('name',))}: {shortened(clean(_listed(given)), MAX_CALL_CHARS)}]")
    if kind in OUTPUTS:
        return _Said(f"[tool output: {sized(_flat(part.get('content', part.get('output'))))}]", is_output=True)
    if kind in {"thinking", "reasoning"}:
        thought = _flat(part.get("thinking", part.get("summary")))
        return _Said(f"[thinking: {sized(thought)}]" if thought else "")
    if kind in {"image", "image_url", "input_image"}:
        return _Said("[image]")
    return _Said(_first(part, ("text",)))


def _listed(given: object) -> str:
    """What a tool was given, as ``key: value`` lines without the escapes of JSON."""
    pairs = given.items() if isinstance(given, dict) else [("", given)]
    texts = [(key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) for key, value in pairs]
    return "\n".join(f"{key}: {value}" if key else value for key, value in texts)


def _flat(value: object) -> str:
    """All the text of a tool's output, however it is wrapped."""
    if isinstance(value, list):
        return "\n".join(_flat(item) for item in value)
    if isinstance(value, dict):
        return _first(value, ("text", "output")) or json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else ""


def _first(values: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((value for key in keys if isinstance(value := values.get(key), str) and value), "")


def _time(values: dict[str, Any]) -> datetime | None:
    for key in TIME_KEYS:
        value = values.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e14:
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
        if date := parse_date(value):
            return date
    return None


def _draft(talk: Conversation, number: int) -> Draft:
    """The conversation as a document; ``number`` is its place among those of a file with several, else 0."""
    blocks: list[str] = []
    role = ""
    for turn in talk.turns:
        if turn.role not in {role, "tool"} or not role:
            role = turn.role
            blocks.append(f"## {role}" + (f" ({turn.time:%Y-%m-%d %H:%M})" if turn.time else ""))
        end = closing(turn.text)  # what a turn leaves open must not swallow the next one
        blocks.append(f"{turn.text}\n{end}" if end else turn.text)
    asked = next((t.text for t in talk.turns if t.role == "user" and not t.text.startswith("<")), "")
    part = re.sub(r"[^\w.-]+", "-", talk.session)[:MAX_PART_CHARS] or str(number)
    return Draft(
        "\n\n".join(blocks) + "\n",
        "transcript",
        title=talk.title or asked,
        ts=max((turn.time for turn in talk.turns if turn.time), default=None),
        project=(PureWindowsPath(talk.cwd) if "\\" in talk.cwd else PurePosixPath(talk.cwd)).name,
        ref=talk.session,
        part=part if number else "",
    )
