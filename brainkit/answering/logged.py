"""A reply as the query log keeps it."""

from __future__ import annotations

from brainkit.answering.reply import Reply
from brainkit.store.query_log import LoggedQuery


def logged(reply: Reply) -> LoggedQuery:
    """The entry of a reply; its question was scrubbed before anything was done with it."""
    decision, recall = reply.decision, reply.decision.recall
    cosine = recall.evidence.best_cosine
    return LoggedQuery(
        question=recall.question.encode("utf-8", "replace").decode().replace("\0", " "),
        settings=recall.settings,
        best_cosine=cosine if cosine > -1 else None,
        lexical_hits=recall.evidence.lexical_hits,
        chunk_hits=len(recall.chunks),
        decision="deflect" if reply.deflected else "answer",
        score=decision.score,
        gate=decision.gate,
        sources=[f"{source.source}:{source.path}" for source in reply.sources],
        latency_ms=recall.latency_ms,
        reply=reply.id,
    )
