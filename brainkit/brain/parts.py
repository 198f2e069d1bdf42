"""The parts of an open brain, and what all its chapters ask of them."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from brainkit.embedding import Embedder
from brainkit.gate import Gate, make_gate
from brainkit.ingestion import open_models
from brainkit.retrieval import Filters, Recall, RetrievalSettings, Searcher
from brainkit.scrub import Scrubber
from brainkit.settings import Settings, default_gate, default_retrieval
from brainkit.store import Database, DocumentStore, LabelStore, QueryLog
from brainkit.store.naming import document_ids, document_names, document_texts


class Parts:
    """Holds the open parts; the chapters of ``Brain`` stand on it."""

    def __init__(self, settings: Settings, database: Database, embedder: Embedder, scrubber: Scrubber) -> None:
        self.settings = settings
        self.log_failures = 0
        self._database = database
        self._configured = embedder
        self._scrubber = scrubber
        self._documents = DocumentStore(database)
        self._labels = LabelStore(database)
        self._query_log = QueryLog(database)
        self._choose_model()

    def document_names(self) -> dict[str, tuple[UUID, ...]]:
        """Every name a label, citation or exclude may use, with the ids it stands for."""
        return document_names(self._documents)

    def list_documents(self) -> list[str]:
        """``source:path`` of every document, sorted."""
        return list(self._documents.rows())

    def document_texts(self) -> dict[str, str]:
        """Whole text of every document by each of its names."""
        return document_texts(self._documents)

    def document_ids(self, names: Collection[UUID | str]) -> list[UUID]:
        """Ids of documents given by id, path or ``source:path``.

        Raises:
            UsageError: a name is not in the brain.
        """
        return document_ids(self._documents, names)

    # Inside

    def _choose_model(self, *, patient: bool = False) -> None:
        """Decide which model answers; ``patient``: wait for a server that may have to load it first."""
        self._models = open_models(self._database, self.settings, self._configured, patient=patient)
        kind, embedder, vectors = self._models.serving
        given, s = self.settings.model_fields_set, self.settings
        self.gate: Gate = make_gate(s.gate if "gate" in given else default_gate(kind), kind)
        self.retrieval = RetrievalSettings.parse(s.retrieval if "retrieval" in given else default_retrieval(kind))
        self._searcher = Searcher(
            self._database,
            embedder,
            vectors,
            self._documents,
            rerank_url=self.settings.rerank_url or "",
            rerank_key=self.settings.rerank_key.get_secret_value() if self.settings.rerank_key else "",
        )

    def _recall(
        self,
        question: str,
        settings: RetrievalSettings,
        k: int,
        exclude: Collection[UUID],
        filters: Filters | None = None,
    ) -> Recall:
        text = self._scrubber.scrub(question).text
        return self._searcher.recall(text, settings, k=k, exclude=exclude, filters=filters)

    def _parse(self, retrieval: str | RetrievalSettings | None) -> RetrievalSettings:
        if retrieval is None:
            return self.retrieval
        return retrieval if isinstance(retrieval, RetrievalSettings) else RetrievalSettings.parse(retrieval)
