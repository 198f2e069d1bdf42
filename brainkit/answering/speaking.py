"""Decision -> events: a language model answers from whole documents, checked; without one the notes are quoted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from brainkit.answering.checking import Checker, Flow
from brainkit.answering.citations import Citations, given_names
from brainkit.answering.condensing import condense
from brainkit.answering.leaks import Leaks
from brainkit.answering.links import Links
from brainkit.answering.llm import LLM, Ended, Message
from brainkit.answering.prompt import Prompt, make_prompt
from brainkit.answering.reply import Reply, Source
from brainkit.answering.streaming import DeltaEvent, DoneEvent, StreamEvent, ThinkingEvent
from brainkit.answering.support import Support
from brainkit.answering.thinking import Part
from brainkit.errors import LLMUnavailableError
from brainkit.gate import Decision
from brainkit.retrieval import RecalledDocument, RetrievalSettings, context_documents
from brainkit.store import detect_language

log = logging.getLogger(__name__)
_NOTES: Final = {
    "english": {
        "quoted": "The notes are quoted, as no model answers. {why}",
        "empty": "The notes are quoted, as the model {model} gave no text.",
        "cut": "The answer is cut: the model stopped before its end. {why}",
    },
    "german": {
        "quoted": "Die Notizen sind zitiert, weil kein Modell antwortet. {why}",
        "empty": "Die Notizen sind zitiert, weil das Modell {model} keinen Text lieferte.",
        "cut": "Die Antwort ist abgebrochen: das Modell hörte vor dem Ende auf. {why}",
    },
}


@dataclass(frozen=True)
class Speaker:
    """Says replies.

    Attributes:
        llm: the model; None to quote the notes.
        quote: answers a decision by quoting, or deflects; may take a while.
        scrub: takes secrets out of a text.
        system: gives persona and steering, read anew for each answer.
        cite: the name under which a document is cited.
        known: gives the names of all documents of the brain.
        thinking: whether the model's thinking is passed on.
    """

    llm: LLM | None
    quote: Callable[[Decision], Reply]
    scrub: Callable[[str], str]
    system: Callable[[], str]
    cite: Callable[[Source], str]
    known: Callable[[], Collection[str]]
    thinking: bool = True

    async def standalone(self, question: str, history: Sequence[Message]) -> str:
        """A follow-up as a question that can be understood without what was said before."""
        safe = [Message(turn.role, self.scrub(turn.text)) for turn in history]
        return await condense(self.scrub(question), safe, self.llm)

    async def say(self, decision: Decision) -> AsyncGenerator[StreamEvent, None]:
        """The reply, piece by piece; the last event is a DoneEvent."""
        if self.llm is None or not decision.answer:
            async for event in self._quoted(decision):
                yield event
            return
        prompt, checker, names = await asyncio.to_thread(self._prepare, decision, self.llm)
        answer, thought = Flow(checker), Flow(checker._replace(citations=None))
        ended: Ended | None = None
        why = ""
        try:
            async with aclosing(self.llm.stream(prompt.messages, prompt.answer_tokens)) as parts:
                async for part in parts:
                    if isinstance(part, Ended):
                        ended = part
                        continue
                    for event in self._shown(part, answer, thought):
                        yield event
        except LLMUnavailableError as error:
            why = str(error)
        if self.thinking and (text := thought.end()):
            yield ThinkingEvent(text)
        notes = _NOTES["german" if detect_language(decision.recall.question) == "german" else "english"]
        checked = checker.final(answer.raw)
        if not checked.text:
            note = notes["quoted"].format(why=why) if why else notes["empty"].format(model=self.llm.model)
            async for event in self._quoted(decision, note):
                yield event
            return
        if text := answer.end():
            yield DeltaEvent(text)
        cut = ended is None or not ended.complete
        note = " ".join(filter(None, [notes["cut"].format(why=why).strip() if cut else "", prompt.note]))
        given = [_source(item.document) for item in prompt.given]
        reply = Reply(
            checked.text,
            False,
            tuple(source for source in given if source in checked.cited) or tuple(given),
            (),
            decision,
            model=self.llm.model,
            note=note,
            cut=cut,
            unsupported=Support([*prompt.texts, *names]).missing(checked.text),
            removed_citations=checked.removed,
            usage=ended.usage if ended else None,
        )
        yield DoneEvent(reply)

    def _shown(self, part: Part, answer: Flow, thought: Flow) -> Iterator[StreamEvent]:
        """What may be shown after a piece of the model's; its thinking is through when its answer goes on."""
        if self.thinking and (new := thought.feed(part.text) if part.thinking else thought.end()):
            yield ThinkingEvent(new)
        if not part.thinking and (new := answer.feed(part.text)):
            yield DeltaEvent(new)

    async def _quoted(self, decision: Decision, note: str = "") -> AsyncGenerator[StreamEvent, None]:
        reply = await asyncio.to_thread(self.quote, decision)
        if note:
            log.warning("the notes are quoted: the language model gave no answer")
            reply = replace(reply, note=note)
        for line in reply.text.splitlines(keepends=True):
            yield DeltaEvent(line)
        yield DoneEvent(reply)

    def _prepare(self, decision: Decision, llm: LLM) -> tuple[Prompt, Checker, list[str]]:
        recall = decision.recall
        documents = context_documents(recall, RetrievalSettings.parse(recall.settings).docs)
        language = detect_language(recall.question)
        prompt = make_prompt(recall, documents, self.cite, self.scrub(self.system()), llm.context, language)
        names = given_names([(_source(d), [_source(other) for other in also]) for d, also in prompt.given], self.cite)
        checker = Checker(
            self.scrub,
            Leaks(prompt.own, prompt.texts, prompt.mark),
            Links(prompt.texts, names),
            Citations(names, self.cite, self.known()),
        )
        return prompt, checker, list(names)


def _source(document: RecalledDocument) -> Source:
    return Source(document.source, document.path, document.title)
