"""What a streamed reply is made of: thinking, pieces of the text, and at the end the whole reply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from brainkit.answering.reply import Reply, Source


@dataclass(frozen=True)
class ThinkingEvent:
    """A piece of the model's thinking; may also come after the first piece of text."""

    text: str


@dataclass(frozen=True)
class DeltaEvent:
    """A piece of the text, to be put behind those before it."""

    text: str


@dataclass(frozen=True)
class DoneEvent:
    """The end, always the last event and always there unless the stream was closed.

    ``reply.text`` is what counts: it has been checked as a whole, so it may differ from the pieces together.
    """

    reply: Reply

    @property
    def deflected(self) -> bool:
        """Whether the notes hold no answer."""
        return self.reply.deflected

    @property
    def sources(self) -> tuple[Source, ...]:
        """Documents the answer rests on."""
        return self.reply.sources

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Questions the notes can answer; given when deflected."""
        return self.reply.suggestions


StreamEvent: TypeAlias = ThinkingEvent | DeltaEvent | DoneEvent
