"""The chat: questions to a brain in a notebook or on a page, answered piece by piece, with the notes beside them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import threading
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Literal

import anywidget

from brainkit.answering import DeltaEvent, DoneEvent, Message, Reply, ThinkingEvent
from brainkit.answering.extractive import extract
from brainkit.brain import Brain
from brainkit.errors import BrainkitError
from brainkit.gate.gates import gate_names
from brainkit.widgets.front import front, mimebundle
from brainkit.widgets.passages import segments

FLUSH_SECONDS: Final = 0.04
"""Between two messages of one stream; the first piece of a text goes at once."""
SHOWN_CHARS: Final = 200_000

TOLD: Final = frozenset(
    {"deflected", "sources", "suggestions", "decision", "note", "cut", "unsupported", "removed_citations"}
)
"""What of a reply reaches the reader beside its text."""

State = Literal["asking", "done", "stopped", "failed"]


@dataclass
class Turn:
    """A question and what came of it.

    Attributes:
        number: of the turn, from 0.
        question: as it was asked, without secrets.
        state: asking, done, stopped (by the reader) or failed.
        thinking: what the model thought aloud.
        text: the answer as far as it has come.
        reply: the whole of it; None until it is done.
        verdict: what the reader said about it: right, wrong, missed, or "".
        error: why it failed.
    """

    number: int
    question: str
    state: State = "asking"
    thinking: str = ""
    text: str = ""
    reply: Reply | None = None
    verdict: str = ""
    error: str = ""


class Chat(anywidget.AnyWidget):
    """Talk to the notes.

    Questions, answers and notes travel in messages and are never part of the widget's state, so no notebook keeps
    them; what was said is shown again where the widget is displayed again.

    Args:
        brain: who answers. The settings drawer changes how this open brain asks (``Brain.adjust``), and its steering.
    """

    _esm = front("dom.js", "markdown.js", "chat.js")
    _css = front("base.css", "chat.css")

    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self._turns: list[Turn] = []
        self._running: concurrent.futures.Future[None] | None = None
        self._lock = threading.RLock()  # messages may come on several threads
        super().__init__()
        self.on_msg(self._on_message)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """What was asked and answered since the chat began, or was begun anew."""
        return tuple(self._turns)

    def ask(self, question: str) -> None:
        """Ask as the reader would; returns at once. Nothing happens while another question is being answered."""
        with self._lock:
            if self._busy or not question.strip():
                return
            turn = Turn(len(self._turns), self._brain.scrubbed(question.strip()))
            self._turns.append(turn)
            self._start(turn)

    def stop(self) -> None:
        """Stop the answer that is being written; what has come of it stays."""
        with self._lock:
            if self._running is not None:
                self._running.cancel()

    def retry(self) -> None:
        """Ask the last question again; its answer is replaced."""
        with self._lock:
            if self._turns and not self._busy:
                self._turns[-1] = Turn(len(self._turns) - 1, self._turns[-1].question)
                self._start(self._turns[-1])

    def forget(self) -> None:
        """Begin a new conversation."""
        with self._lock:
            if not self._busy:
                self._turns.clear()

    def judge(self, number: int, verdict: str) -> None:
        """Keep what the reader says about an answer: right, wrong or missed (see ``Brain.feedback``).

        Raises:
            UsageError: the reply is not in the log, or the verdict is none.
        """
        turn = self._turns[number]
        if turn.reply is not None:
            self._brain.feedback(turn.reply.id, verdict)
            turn.verdict = verdict

    def close(self) -> None:
        """Stop, and take the widget off the page."""
        self.stop()
        super().close()

    def __repr__(self) -> str:
        return f"Chat over {self._brain.counts()['documents']} documents; run the notebook to talk to them"

    # Inside

    @property
    def _busy(self) -> bool:
        return bool(self._turns) and self._turns[-1].state == "asking"

    def _start(self, turn: Turn) -> None:
        history = [
            said
            for earlier in self._turns[: turn.number]
            if earlier.reply is not None
            for said in (Message("user", earlier.question), Message("assistant", earlier.reply.text))
        ]
        self.send({"type": "turn", **self._shown(turn)})
        self._running = asyncio.run_coroutine_threadsafe(self._answer(turn, history), _loop())

    async def _answer(self, turn: Turn, history: list[Message]) -> None:
        waiting = {"thinking": "", "text": ""}
        timer: asyncio.TimerHandle | None = None

        def flush() -> None:
            nonlocal timer
            if timer is not None:
                timer.cancel()
                timer = None
            if any(waiting.values()):
                self.send({"type": "piece", "number": turn.number, **waiting})
                waiting.update(thinking="", text="")

        try:
            async with aclosing(self._brain.stream(turn.question, history)) as events:
                async for event in events:
                    if isinstance(event, DoneEvent):
                        turn.reply, turn.text, turn.state = event.reply, event.reply.text, "done"
                        break
                    first = isinstance(event, DeltaEvent) and not turn.text
                    if isinstance(event, ThinkingEvent):
                        turn.thinking += event.text
                        waiting["thinking"] += event.text
                    else:
                        turn.text += event.text
                        waiting["text"] += event.text
                    if first:
                        flush()
                    elif timer is None:  # also when the model falls silent, what it said comes
                        timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, flush)
        except asyncio.CancelledError:
            turn.state = "stopped"
        except BrainkitError as error:
            turn.state, turn.error = "failed", str(error)
        except Exception as error:  # the reader must never be left with a chat that waits for ever
            turn.state, turn.error = "failed", f"{type(error).__name__}: {self._brain.scrubbed(str(error))}"
        finally:
            flush()
            self.send({"type": "done", **self._shown(turn)})

    def _on_message(self, _widget: object, content: dict[str, Any], _buffers: object) -> None:
        def answer(message: dict[str, Any]) -> None:
            self.send({**message, "view": content.get("view")})  # the others of this chat need not know

        try:
            match content["type"]:
                case "ready":
                    answer(self._state())
                    asyncio.run_coroutine_threadsafe(self._greet(), _loop())
                case "ask":
                    self.ask(str(content["question"]))
                case "stop":
                    self.stop()
                case "retry":
                    self.retry()
                case "forget":
                    self.forget()
                    self.send(self._state())
                case "judge":
                    self.judge(int(content["number"]), str(content["verdict"]))
                    self.send({"type": "judged", "number": content["number"], "verdict": content["verdict"]})
                case "open":
                    answer(self._opened(int(content["number"]), int(content["source"])))
                case "settings":
                    answer(self._settings())
                case "adjust":
                    answer(self._adjust(content))
        except BrainkitError as error:
            answer({"type": "refused", "what": content.get("type"), "text": str(error)})

    def _state(self) -> dict[str, Any]:
        with self._lock:
            return {"type": "state", "turns": [self._shown(turn) for turn in self._turns]}

    async def _greet(self) -> None:
        try:
            counts = await asyncio.to_thread(self._brain.counts)
            self.send({"type": "brain", "documents": counts["documents"], "model": self._model()})
            self.send({"type": "suggestions", "items": await asyncio.to_thread(self._brain.suggestions)})
            if (llm := self._brain.llm) is not None:
                await asyncio.to_thread(llm.llama)  # its import takes seconds; the first question need not wait
        except BrainkitError as error:
            self.send({"type": "refused", "what": "ready", "text": str(error)})

    def _model(self) -> str:
        return self._brain.llm.model if self._brain.llm else ""

    def _shown(self, turn: Turn) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "number": turn.number,
            "question": turn.question,
            "state": turn.state,
            "thinking": turn.thinking,
            "text": turn.text,
            "verdict": turn.verdict,
            "error": turn.error,
            "plain": not self._model(),
        }
        if (reply := turn.reply) is not None:
            shown |= {key: value for key, value in reply.to_dict().items() if key in TOLD}
            shown |= {"plain": not reply.model, "looked_for": "" if reply.question == turn.question else reply.question}
        return shown

    def _opened(self, number: int, place: int) -> dict[str, Any]:
        """A source with the passages marked that were quoted, or would be if no model had written the answer."""
        reply = self._turns[number].reply
        assert reply is not None
        source, recall = reply.sources[place], reply.decision.recall
        title, text = self._brain.document_text(source.source, source.path)
        named = (source.source, source.path)
        documents = [document for document in recall.documents if (document.source, document.path) == named]
        quotes = reply.quotes or extract(recall.question, documents, recall.chunks, recall.weights)
        passages = [quote.text for quote in quotes if (quote.source, quote.path) == named]
        parts = segments(text[:SHOWN_CHARS], passages)
        return {
            "type": "opened",
            "title": title,
            "name": f"{source.source}/{source.path}",
            "parts": parts,
            "more": len(text) > SHOWN_CHARS,
        }

    def _settings(self) -> dict[str, Any]:
        brain, threshold = self._brain, self._brain.threshold()
        return {
            "type": "settings",
            "retrieval": str(brain.retrieval),
            "gate": brain.gate.name,
            "gates": list(gate_names()),
            "threshold": threshold.value,
            "origin": threshold.origin,
            "overridden": brain.settings.relevance_threshold is not None,
            "steering": brain.steering.read(),
            "most": brain.settings.steering_max_chars,
            "model": self._model(),
        }

    def _adjust(self, wanted: dict[str, Any]) -> dict[str, Any]:
        if self._busy:
            return {"type": "refused", "what": "adjust", "text": "An answer is being written; stop it first."}
        threshold = wanted.get("threshold")
        self._brain.adjust(
            retrieval=str(wanted["retrieval"]),
            gate=str(wanted["gate"]),
            threshold=None if threshold is None else float(threshold),
        )
        if str(wanted["steering"]).strip() != self._brain.steering.read().strip():
            self._brain.steering.write(str(wanted["steering"]))
        return {**self._settings(), "saved": True}

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        return mimebundle(super()._repr_mimebundle_(**kwargs), repr(self))


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """One event loop for all chats of a process, in a thread of its own: a notebook's is busy while a cell runs."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="brainkit-chat", daemon=True).start()
    return loop
