"""Answering in a conversation: streamed, by a language model where there is one, with the notes quoted otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import cached_property
from typing import TYPE_CHECKING

from brainkit.answering import LLM, DoneEvent, Message, Reply, Speaker, Steering, StreamEvent, iterate, make_llm
from brainkit.answering.probing import Probe, probe_embedder, probe_llm
from brainkit.answering.prompt import persona
from brainkit.answering.suggestions import starters
from brainkit.brain.asking import Asking
from brainkit.gate import Decision
from brainkit.store import detect_language

if TYPE_CHECKING:
    from brainkit.answering.chat_engine import BrainChatEngine

SHORT_TERM_TOKENS = 3000


class Answering(Asking):
    """What answers in words of its own, and remembers what was said before."""

    _starters: tuple[object, list[str]] | None = None

    @cached_property
    def llm(self) -> LLM | None:
        """The language model that writes the answers; None without BOR_LLM_BASE_URL."""
        return make_llm(self.settings)

    @cached_property
    def steering(self) -> Steering:
        """The owner's own words to the model."""
        return Steering(self.settings.home, self.settings.steering_max_chars, self.scrubbed)

    async def stream(
        self, question: str, history: Sequence[Message | tuple[str, str]] = ()
    ) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece: thinking, pieces of the text, and last one ``DoneEvent`` with the whole reply.

        Closing the generator (``aclose``) stops the model. A model that fails before its first piece of text is done
        without: the notes are quoted, and ``reply.note`` says why. One that fails later leaves ``reply.cut``.

        Args:
            question: any string; after ``history`` it may be a follow-up such as "and the other one?".
            history: what was said before, oldest first, as ("user" | "assistant", text); it is used to make a
                question that stands alone, which ``reply.question`` tells.

        Example::

            async for event in brain.stream("When was the battery changed?"):
                if isinstance(event, DeltaEvent):
                    print(event.text, end="")
        """
        turns = [Message(*turn) for turn in history]
        alone = await self._speaker.standalone(question, turns) if turns else question
        decision = await asyncio.to_thread(self.decide, alone)
        async with aclosing(self._said(decision)) as events:
            async for event in events:
                yield event

    def ask(self, question: str, history: Sequence[Message | tuple[str, str]] = ()) -> Reply:
        """Answer a question from the notes, or say that they hold no answer; the question is logged, scrubbed.

        Args:
            question: any string.
            history: what was said before, as ``stream`` takes it.
        """
        if self.llm is None and not history:
            return super().ask(question)
        return _last(lambda: self.stream(question, history))

    def suggestions(self) -> list[str]:
        """Up to three questions that the notes answer, to begin with; made once for each state of the notes."""
        state = (self.corpus(), self.gate.name, str(self.retrieval), self.settings.relevance_threshold)
        if self._starters is None or self._starters[0] != state:
            titles = [title for title in self._titles() if title]
            language = detect_language(" ".join(titles[:100]))
            self._starters = state, starters(titles, language, lambda question: self.decide(question).answer)
        return self._starters[1]

    def as_chat_engine(self, token_limit: int = SHORT_TERM_TOKENS) -> BrainChatEngine:
        """A LlamaIndex chat engine that answers, or deflects, as ``ask`` does, and understands follow-ups.

        Args:
            token_limit: tokens of the conversation that it remembers.
        """
        from brainkit.answering.chat_engine import BrainChatEngine

        return BrainChatEngine(self.stream, token_limit)

    def probe(self) -> list[Probe]:
        """Ask the embedder and, if there is one, the language model for real: model, dimension, window, speed."""
        return [probe_embedder(self._models.configured.embedder), probe_llm(self.llm)]

    # Inside

    @cached_property
    def _speaker(self) -> Speaker:
        return Speaker(
            self.llm,
            self._quote,
            self.scrubbed,
            self._system,
            self._cite,
            self.document_names,
            self.settings.stream_thinking,
        )

    def _system(self) -> str:
        steering = self.steering.for_prompt()
        return persona(self.settings.home) + (f"\n\nThe owner of the notes adds:\n{steering}" if steering else "")

    def _reply(self, decision: Decision) -> Reply:
        return super()._reply(decision) if self.llm is None else _last(lambda: self._said(decision))

    async def _said(self, decision: Decision) -> AsyncGenerator[StreamEvent, None]:
        """The events of a reply; it is logged before the last of them is told."""
        async with aclosing(self._speaker.say(decision)) as events:
            async for event in events:
                if isinstance(event, DoneEvent):
                    await asyncio.to_thread(self._log, event.reply)
                yield event


def _last(make: Callable[[], AsyncGenerator[StreamEvent, None]]) -> Reply:
    replies = [event.reply for event in iterate(make) if isinstance(event, DoneEvent)]
    return replies[-1]
