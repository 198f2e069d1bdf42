"""The log of questions: what was asked (scrubbed), what was found, what was decided."""

from __future__ import annotations

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


class QueryLog:
    """Writes and counts logged questions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, entry: LoggedQuery) -> None:
        """Add one entry."""
        values = (*entry[:8], list(entry.sources), entry.latency_ms)
        with self._database.connection() as connection:
            connection.execute(
                """insert into query_log (question, settings, best_cosine, lexical_hits, chunk_hits, decision, score,
                                          gate, sources, latency_ms)
                   values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)""",
                values,
            )

    def counts(self) -> dict[str, int]:
        """Number of logged questions by decision."""
        with self._database.connection() as connection:
            return dict(connection.execute("select decision, count(*) from query_log group by 1 order by 1").fetchall())
