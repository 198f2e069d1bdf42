"""The reply to a question: its text, whether it deflects, its sources, what else could be asked."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any, NamedTuple

from brainkit.answering.deflect import deflection
from brainkit.answering.extractive import Quote, Similarity, extract
from brainkit.answering.suggestions import suggest
from brainkit.gate import Decision
from brainkit.retrieval import RetrievalSettings, context_documents
from brainkit.store import detect_language

NEAR = 2
"""Titles of weak hits that a deflection names."""


class Usage(NamedTuple):
    """What an answer of a language model took.

    Attributes:
        prompt_tokens: tokens taken in; None if the server does not say.
        completion_tokens: tokens given out, thinking included; None if the server does not say.
        first_ms: milliseconds to the first token.
        total_ms: milliseconds to the last.
    """

    prompt_tokens: int | None
    completion_tokens: int | None
    first_ms: float
    total_ms: float


class Source(NamedTuple):
    """A document an answer rests on."""

    source: str
    path: str
    title: str


@dataclass(frozen=True)
class Reply:
    """What a person gets.

    Attributes:
        text: the answer with its paths, or the deflection.
        deflected: True if the notes hold no answer.
        sources: documents the text quotes; empty when deflected.
        suggestions: questions the notes can answer; given when deflected.
        decision: what the gate decided, and on what.
        quotes: the passages quoted; none where a language model wrote the text.
        model: name of the language model that wrote the text, "" where the notes are quoted or it deflects.
        note: what the reader must know beside it, such as why no model wrote it ("" if nothing).
        cut: True if the text ends before its end, since the model failed or had said as much as it may.
        unsupported: numbers, versions, hosts and paths in the text that stand in none of the given documents.
        removed_citations: number of documents the model named that it had not been given; they are taken out.
        usage: what the model took; None without one.
        id: ten characters by which the log of questions knows it, for ``Brain.feedback``.
    """

    text: str
    deflected: bool
    sources: tuple[Source, ...]
    suggestions: tuple[str, ...]
    decision: Decision
    quotes: tuple[Quote, ...] = field(default=(), repr=False)
    model: str = ""
    note: str = ""
    cut: bool = False
    unsupported: tuple[str, ...] = ()
    removed_citations: int = 0
    usage: Usage | None = field(default=None, compare=False)
    id: str = field(default_factory=lambda: secrets.token_hex(5), compare=False)

    @property
    def question(self) -> str:
        """What was looked for: the question without secrets, after a follow-up as one that stands alone."""
        return self.decision.recall.question

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        decision = self.decision
        return {
            "id": self.id,
            "question": self.question,
            "text": self.text,
            "deflected": self.deflected,
            "sources": [source._asdict() for source in self.sources],
            "suggestions": list(self.suggestions),
            "decision": {
                "answer": decision.answer,
                "score": decision.score,
                "threshold": decision.threshold,
                "gate": decision.gate,
                "reason": decision.reason,
            },
            "degraded": decision.recall.degraded,
            "model": self.model,
            "note": self.note,
            "cut": self.cut,
            "unsupported": list(self.unsupported),
            "removed_citations": self.removed_citations,
            "usage": self.usage._asdict() if self.usage else None,
        }


def reply_to(
    decision: Decision,
    similarity: Similarity | None,
    passes: Callable[[str], bool],
    titles: Callable[[], Iterable[str]],
    cite: Callable[[Source], str],
) -> Reply:
    """Answer by quoting the first documents, or deflect.

    Args:
        decision: of the gate.
        similarity: cosine of the question with passages; None when the embedder is down.
        passes: whether the gate answers a suggested question.
        titles: gives those of all documents, to make suggestions from when the weak hits give too few.
        cite: the name under which the text cites a document.
    """
    recall = decision.recall
    if decision.answer:
        given = context_documents(recall, RetrievalSettings.parse(recall.settings).docs)
        documents = [item.document for item in given]
        quotes = extract(recall.question, documents, recall.chunks, recall.weights, similarity)
        if quotes:
            quoted = {(quote.source, quote.path) for quote in quotes}
            sources = tuple(Source(d.source, d.path, d.title) for d in documents if (d.source, d.path) in quoted)
            copies = {(d.source, d.path): [cite(Source(a.source, a.path, a.title)) for a in also] for d, also in given}
            names = {
                (source.source, source.path): (cite(source), source.title, copies[source.source, source.path])
                for source in sources
            }
            return Reply(_text(quotes, names), False, sources, (), decision, tuple(quotes))
    language, known = detect_language(recall.question), list(titles())
    suggestions = suggest(recall, language, passes, known)
    near = list(dict.fromkeys(document.title for document in recall.documents[:NEAR]))
    text = deflection(recall.question, language, near, suggestions, empty=not known)
    return Reply(text, True, (), tuple(suggestions), decision)


def _text(quotes: Sequence[Quote], names: Mapping[tuple[str, str], tuple[str, str, Sequence[str]]]) -> str:
    """Passages under the name and heading they stand below; ``names`` gives name, title and the names of copies."""
    lines: list[str] = []
    last: tuple[str, str, str] | None = None
    said = {""}
    for quote in quotes:
        place = (quote.source, quote.path, quote.heading)
        if place != last:
            name, title, copies = names[quote.source, quote.path]
            heading = f" ({quote.heading})" if quote.heading and quote.heading != title else ""
            also = f" (the same in {', '.join(copies)})" if copies and (last is None or last[:2] != place[:2]) else ""
            lines += ([""] if lines else []) + [f"[{name}]{heading}{also}"]
            last, said = place, {""}
        if quote.lead not in said:
            lines.append(f"  {quote.lead}")
        said = {"", quote.lead, quote.text}
        lines.append(indent(quote.text, "    " if quote.lead else "  "))
    return "\n".join(lines)
