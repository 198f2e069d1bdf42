"""Knowing a brain: what it holds and how it does."""

from __future__ import annotations

from typing import Any

from brainkit.brain.reviewing import Reviewing
from brainkit.gate import Drift
from brainkit.ingestion import list_models
from brainkit.store.catalogue import CatalogueRow, SourceCount, catalogue, source_counts
from brainkit.store.hnsw import index_state


class Knowing(Reviewing):
    """What counts and reports."""

    def counts(self) -> dict[str, int]:
        """Numbers of documents, chunks and redactions."""
        return self._documents.counts()

    def versions(self) -> dict[str, str]:
        """Versions of PostgreSQL, pgvector and the schema; asked of the database anew."""
        return self._database.versions()

    def source_counts(self) -> list[SourceCount]:
        """Every source with its numbers of documents and chunks, sorted by name."""
        return source_counts(self._database)

    def catalogue(self, limit: int = 1_000, offset: int = 0) -> list[CatalogueRow]:
        """Documents without their texts, sorted by source and path: at most ``limit``, after the first ``offset``."""
        return catalogue(self._database, limit, offset)

    def find_texts(self, text: str) -> int:
        """Number of stored texts (documents, chunks, titles, paths) that hold a string as it stands."""
        return self._documents.holding(text)

    def status(self) -> dict[str, Any]:
        """Counts, model, database, gate and certificate, as plain data."""
        threshold = self.threshold()
        model = self._models.serving
        certificate = self._fitting()
        return {
            **self._documents.counts(),
            "vectors": model.vectors.count(),
            "pending": model.vectors.pending_count(),
            "labels": len(self._labels.all()),
            "labels_in_review": len(self.reviews()),
            "questions": self._query_log.counts(),
            "embedding_model": model.embedder.name,
            "dimensions": model.vectors.identity.dimensions if model.vectors.identity else None,
            "models": list_models(self._database, self._models),
            "index": index_state(self._database, model.vectors)._asdict(),
            "retrieval": str(self.retrieval),
            "gate": self.gate.name,
            "threshold": threshold.value,
            "threshold_origin": threshold.origin,
            "threshold_note": threshold.note,
            "certificate": certificate.promise() if certificate else "",
            "stale": self.stale(),
            "drift": _drift(self.drift(certificate)) if certificate else None,
            "database": self._database.address,
            **self._database.versions(),
            "judge_calls": self.judge_calls,
            "log_failures": self.log_failures,
        }


def _drift(found: Drift) -> dict[str, Any]:
    return {**found._asdict(), "drifted": found.drifted}
