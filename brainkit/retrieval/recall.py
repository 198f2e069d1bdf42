"""What a question brings back: chunks with their ranks in both channels, every parent document, the evidence."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Literal

from brainkit.retrieval.evidence import Evidence

Channel = Literal["dense", "lexical", "both"]


@dataclass(frozen=True)
class RecalledChunk:
    """A chunk that was found.

    Attributes:
        cosine: cosine similarity with the question, -1..1; None while the chunk has no vector or the embedder is down.
        dense_rank: place in the dense channel from 1; None if that channel did not bring it.
        lexical_rank: place in the lexical channel from 1; None if that channel did not bring it.
        lexical_share: its BM25 score as a share of the most the question could reach, 0..1.
        score: what the ranking goes by; its scale depends on the fusion.
        channel: which channel brought it.
        ts: the document's own time, if it has one.
        late: late interaction with the question, about -1..1; None unless it was reranked by it.
    """

    chunk_id: int
    document_id: uuid.UUID
    source: str
    document_path: str
    title: str
    heading: str
    text: str
    cosine: float | None
    dense_rank: int | None
    lexical_rank: int | None
    lexical_share: float
    score: float
    matched: frozenset[int] = field(default_factory=frozenset, repr=False)
    ts: datetime | None = field(default=None, repr=False)
    late: float | None = field(default=None, repr=False)

    @property
    def channel(self) -> Channel:
        """``dense``, ``lexical`` or ``both``."""
        if self.dense_rank is None:
            return "lexical"
        return "dense" if self.lexical_rank is None else "both"


@dataclass(frozen=True)
class RecalledDocument:
    """A document that was found, by its best chunk; ``content`` is read from the brain when it is asked for.

    ``channel`` is ``found``, or ``linked`` for one that no chunk brought, but a link from one that was found.
    """

    id: uuid.UUID
    source: str
    path: str
    title: str
    score: float
    load: Callable[[uuid.UUID], str] = field(repr=False, compare=False)
    channel: Literal["found", "linked"] = "found"

    @cached_property
    def content(self) -> str:
        """The whole (scrubbed) text."""
        return self.load(self.id)


@dataclass(frozen=True)
class Recall:
    """The answer of retrieval to one question.

    Attributes:
        chunks: the first k, best first.
        documents: every parent document of the fused candidates, best first, never shortened; below them, with
            ``+expand(1)``, what they are linked with.
        measured: the evidence, or what measures it.
        settings: the retrieval string it was made with.
        weights: inverse document frequency of each of the question's words; the largest for words no chunk holds.
        degraded: why a channel was missing ("" when none was).
        latency_ms: milliseconds from question to result.
    """

    question: str
    chunks: tuple[RecalledChunk, ...]
    documents: tuple[RecalledDocument, ...]
    measured: Evidence | Callable[[], Evidence] = field(repr=False, compare=False)
    settings: str
    weights: Mapping[str, float] = field(default_factory=dict, repr=False)
    degraded: str = ""
    latency_ms: float = field(default=0.0, compare=False)

    @cached_property
    def evidence(self) -> Evidence:
        """What the gate looks at; measured when it is first asked for, as not every recall goes through a gate."""
        return self.measured() if callable(self.measured) else self.measured
