"""The log of questions: what was asked (scrubbed), what was found, what was decided."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

from brainkit.store.database import Database


class LoggedQuery(NamedTuple):
    """One question as it is kept; ``question`` must be scrubbed before it comes here."""

    question: str
    settings: str
    best_cosine: float | None
    lexical_hits: int
    chunk_hits: int
    decision: str
    score: float
    gate: str
    sources: Sequence[str]
    latency_ms: float
    reply: str = ""


class FeedbackEntry(NamedTuple):
    """What feedback needs of a logged reply."""

    question: str
    decision: str
    sources: Sequence[str]


class QueryLog:
    """Writes and counts logged questions; ``failures`` is the number of those that could not be written."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.failures = 0
        self._counting = threading.Lock()

    def write(self, entry: LoggedQuery) -> None:
        """Add one entry."""
        values = entry._replace(sources=list(entry.sources))
        with self._database.connection() as connection:
            connection.execute(
                """insert into query_log (question, settings, best_cosine, lexical_hits, chunk_hits, decision, score,
                                          gate, sources, latency_ms, reply)
                   values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)""",
                values,
            )

    def missed(self) -> None:
        """Count a question that could not be written."""
        with self._counting:
            self.failures += 1

    def counts(self) -> dict[str, int]:
        """Number of logged questions by decision."""
        with self._database.connection() as connection:
            return dict(connection.execute("select decision, count(*) from query_log group by 1 order by 1").fetchall())

    def scores(self, gate: str, settings: str, since: str, limit: int) -> list[float]:
        """Scores of the newest questions under a gate and a retrieval string, asked since a time (ISO 8601)."""
        query = """select score from query_log
                   where gate = %s and settings = %s and created_at >= %s::timestamptz order by id desc limit %s"""
        with self._database.connection() as connection:
            return [row[0] for row in connection.execute(query, (gate, settings, since, limit))]

    def put_feedback(self, reply: str, verdict: str) -> FeedbackEntry | None:
        """Note what a person said about a reply; None if no reply with that id was logged."""
        query = (
            "update query_log set feedback = %s where reply = %s and reply <> '' returning question, decision, sources"
        )
        with self._database.connection() as connection:
            row = connection.execute(query, (verdict, reply)).fetchone()
            return FeedbackEntry(*row) if row else None
