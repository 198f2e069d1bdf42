"""``brainkit chat``: talk to the notes in a terminal, streamed; the same events as lines of JSON."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from brainkit.cli.screen import fail_on_error, open_brain, remarks, without_controls

if TYPE_CHECKING:
    from brainkit.answering import Message, Reply, StreamEvent
    from brainkit.brain import Brain

CHAT_EXAMPLES = """
Examples:

  brainkit chat

  BOR_LLM_BASE_URL=http://127.0.0.1:11434/v1 BOR_LLM_MODEL=qwen3:8b brainkit chat

  echo "When did I change the UPS battery?" | brainkit chat --json

While it runs: /new forgets what was said, /quit leaves, Ctrl-C stops the answer.
"""
LEAVE = {"/quit", "/exit", "/q"}
FORGET = {"/new", "/reset"}


@fail_on_error
def chat(
    thinking: Annotated[bool, typer.Option(help="Show the model's thinking.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line for each event.")] = False,
) -> None:
    """Talk to the notes: each line is a question, and a follow-up is understood."""
    from brainkit.answering import Message

    with open_brain() as brain:
        screen = _Json() if as_json else _Screen(thinking=thinking)
        screen.hello(brain)
        history: list[Message] = []
        while (question := _ask(prompt=not as_json)) not in LEAVE | {None}:
            if question in FORGET:
                history = []
            elif question:
                reply = _answer(brain, question, history, screen)
                if reply is not None:
                    history += [Message("user", question), Message("assistant", reply.text)]


def _ask(*, prompt: bool) -> str | None:
    """The next line, without white space around it; None at the end or at Ctrl-C."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip() if line else None
    try:
        return input("\n> " if prompt else "").strip()
    except (EOFError, KeyboardInterrupt):
        return None


def _answer(brain: Brain, question: str, history: list[Message], screen: _Screen | _Json) -> Reply | None:
    """Show an answer as it comes; None if it was stopped."""
    from brainkit.answering import DoneEvent, iterate

    said = list(history)
    try:
        with closing(iterate(lambda: brain.stream(question, said))) as events:
            for event in events:
                screen.show(event)
                if isinstance(event, DoneEvent):
                    return event.reply
    except KeyboardInterrupt:
        screen.stopped()
    return None


class _Json:
    """Events as lines of JSON."""

    def hello(self, brain: Brain) -> None:
        """Nothing: only events are printed."""

    def show(self, event: StreamEvent) -> None:
        from brainkit.answering import DoneEvent, ThinkingEvent

        if isinstance(event, DoneEvent):
            self._line({"type": "done", **event.reply.to_dict()})
        else:
            self._line({"type": "thinking" if isinstance(event, ThinkingEvent) else "delta", "text": event.text})

    def stopped(self) -> None:
        self._line({"type": "stopped"})

    @staticmethod
    def _line(data: dict[str, Any]) -> None:
        typer.echo(json.dumps(data, ensure_ascii=False, default=str))
        sys.stdout.flush()


class _Screen:
    """Events on a terminal: thinking dim, text as it comes, then what it rests on."""

    def __init__(self, *, thinking: bool) -> None:
        self._console = Console(highlight=False)
        self._thinking = thinking
        self._thought = False
        self._said = ""

    def hello(self, brain: Brain) -> None:
        """Say who answers."""
        who = f"{brain.llm.model} answers from them" if brain.llm else "they are quoted"
        self._print(f"{brain.counts()['documents']} documents; {who}. /quit leaves.\n", "dim")

    def show(self, event: StreamEvent) -> None:
        from brainkit.answering import DoneEvent, ThinkingEvent

        if isinstance(event, DoneEvent):
            self._end(event.reply)
        elif isinstance(event, ThinkingEvent):
            if self._thinking:
                self._print(event.text, "dim italic")
                self._thought = True
        else:
            if self._thought and not self._said:
                self._print("\n\n")
            self._said += event.text
            self._print(event.text)

    def stopped(self) -> None:
        self._print("\n(stopped)\n", "dim")
        self._thought, self._said = False, ""

    def _end(self, reply: Reply) -> None:
        if "".join(self._said.split()) != "".join(reply.text.split()):  # checked as a whole it came out otherwise
            self._print(f"\n\n{reply.text}")
        self._print("\n")
        if reply.model and reply.sources:
            self._print(f"from {', '.join(f'{s.source}/{s.path}' for s in reply.sources)}\n", "cyan")
        for remark in remarks(reply):
            self._print(f"{remark}\n", "yellow")
        asked = f"looked for: {reply.question}; " if reply.question else ""
        self._print(f"({asked}{reply.decision.reason})\n", "dim")
        self._thought, self._said = False, ""

    def _print(self, text: str, style: str | None = None) -> None:
        self._console.print(without_controls(text), style=style, end="", markup=False, soft_wrap=True)
