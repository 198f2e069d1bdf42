"""The parts of an open brain, and what all its chapters ask of them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal
from uuid import UUID

from brainkit.answering import make_llm
from brainkit.answering.judge import LLMJudge, notes_to_judge
from brainkit.embedding import Embedder
from brainkit.errors import CertificateError, SettingsError, UsageError
from brainkit.gate import Gate, make_gate, read_certificate
from brainkit.gate.judging import NoteReader
from brainkit.gate.refitting import restored
from brainkit.gate.sufficiency import SUFFICIENCY
from brainkit.ingestion import open_models
from brainkit.retrieval import Filters, Recall, RetrievalSettings, Searcher
from brainkit.scrub import Scrubber
from brainkit.settings import Settings, default_gate, default_retrieval
from brainkit.store import Database, DocumentStore, LabelStore, QueryLog
from brainkit.store.naming import document_ids, document_names, document_texts


def configured_gate(name: str, embedder: str, settings: Settings) -> Gate:
    """The gate called ``name`` with the language model of the settings, for the one gate that asks it.

    Raises:
        SettingsError: there is no such gate, or it needs a language model and none is set.
    """
    llm = make_llm(settings)
    if name == SUFFICIENCY and llm is None:
        raise SettingsError(
            "The sufficiency gate asks a language model, and BOR_LLM_BASE_URL is not set: give it, such as "
            "http://127.0.0.1:11434/v1 for Ollama, and BOR_LLM_MODEL, or choose another BOR_GATE."
        )
    return make_gate(name, embedder, f"{llm.model}, {llm.context} tokens" if llm else "")


class Parts:
    """Holds the open parts; the chapters of ``Brain`` stand on it."""

    def __init__(self, settings: Settings, database: Database, embedder: Embedder, scrubber: Scrubber) -> None:
        self.settings = settings
        self._database = database
        self._configured = embedder
        self._scrubber = scrubber
        self._documents = DocumentStore(database)
        self._labels = LabelStore(database)
        self._query_log = QueryLog(database)
        self._choose_model()

    @property
    def judge_calls(self) -> int:
        """Number of calls to the language model for the sufficiency gate since the brain was opened."""
        return self._reader.calls if self._reader else 0

    @property
    def log_failures(self) -> int:
        """Number of replies that could not be written into the log since the brain was opened."""
        return self._query_log.failures

    def scrubbed(self, text: str) -> str:
        """A text without secrets, by the brain's rules."""
        return self._scrubber.scrub(text).text

    def document_text(self, source: str, path: str) -> tuple[str, str]:
        """Title and whole text of one document.

        Raises:
            UsageError: it is not in the brain.
        """
        found = self._documents.text(source, path)
        if found is None:
            raise UsageError(f"no document {source}:{path} in the brain; `brainkit status --documents` lists them")
        return found

    def adjust(
        self,
        *,
        retrieval: str | None = None,
        gate: str | None = None,
        threshold: float | Literal["keep"] | None = "keep",
    ) -> None:
        """Ask otherwise from now on, in this open brain alone; what is not named stays.

        Args:
            retrieval: a retrieval string.
            gate: name of a gate.
            threshold: in place of the certificate's; None: the certificate's again.

        Raises:
            RetrievalSettingsError: the retrieval string does not parse.
            SettingsError: there is no such gate, or the threshold is no finite number.
        """
        changes: dict[str, Any] = {}
        if retrieval is not None:
            changes["retrieval"] = str(RetrievalSettings.parse(retrieval))
        if threshold != "keep":
            if threshold is not None and not math.isfinite(threshold):
                raise SettingsError(f"threshold {threshold} is not allowed: give a finite number, or none")
            changes["relevance_threshold"] = threshold
        if gate is not None:
            self._shipped_gate(gate)
            changes["gate"] = gate
        self.settings = self.settings.model_copy(update=changes)
        self._choose_ways()

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
        self._choose_ways()
        _, embedder, vectors = self._models.serving
        self._searcher = Searcher(
            self._database,
            embedder,
            vectors,
            self._documents,
            rerank_url=self.settings.rerank_url or "",
            rerank_key=self.settings.rerank_key.get_secret_value() if self.settings.rerank_key else "",
        )

    def _choose_ways(self) -> None:
        """Decide how notes are looked for and which gate judges."""
        kind, given, s = self._models.serving.kind, self.settings.model_fields_set, self.settings
        self.gate: Gate = self._make_gate(s.gate if "gate" in given else default_gate(kind))
        self.retrieval = RetrievalSettings.parse(s.retrieval if "retrieval" in given else default_retrieval(kind))

    def _shipped_gate(self, name: str) -> Gate:
        return configured_gate(name, self._models.serving.kind, self.settings)

    def _make_gate(self, name: str) -> Gate:
        """A gate, with the coefficients that its certificate holds if they were fitted for the model in use."""
        gate, identity = self._shipped_gate(name), self._models.serving.vectors.identity
        with contextlib.suppress(CertificateError, ValueError, KeyError, TypeError, AttributeError):
            certificate = read_certificate(self.settings.home, name)
            model = certificate.fingerprint.get("embedding model") if certificate else None
            if certificate and certificate.fitted and identity and model == identity.fingerprint:
                return restored(gate, certificate.fitted)
        return gate

    @cached_property
    def _reader(self) -> NoteReader | None:
        """Has the language model read notes for the sufficiency gate; None without one."""
        llm = make_llm(self.settings)
        return NoteReader(LLMJudge(llm), lambda recall: notes_to_judge(recall, llm.context)) if llm else None

    def _judged(self, recall: Recall) -> Recall:
        """With the language model's judgement in its evidence, which is asked for when a gate looks at it."""
        reader = self._reader
        return replace(recall, measured=lambda: reader.judged(recall)) if reader else recall

    def _recall(
        self,
        question: str,
        settings: RetrievalSettings,
        k: int,
        exclude: Collection[UUID],
        filters: Filters | None = None,
    ) -> Recall:
        return self._searcher.recall(self.scrubbed(question), settings, k=k, exclude=exclude, filters=filters)

    def _parse(self, retrieval: str | RetrievalSettings | None) -> RetrievalSettings:
        if retrieval is None:
            return self.retrieval
        return retrieval if isinstance(retrieval, RetrievalSettings) else RetrievalSettings.parse(retrieval)
