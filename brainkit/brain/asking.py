"""Asking a brain: recall, decide, ask, and the same for LlamaIndex programs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import UUID

from brainkit.answering import Reply, Source, reply_to
from brainkit.brain.calibrating import Calibrating
from brainkit.errors import EmbedderUnavailableError, LLMUnavailableError, UsageError
from brainkit.gate import Decision, decide
from brainkit.gate.fallback import decide_without_judge
from brainkit.gate.sufficiency import SufficiencyGate
from brainkit.retrieval import Filters, Recall, RetrievalSettings

if TYPE_CHECKING:
    from llama_index.core.vector_stores.types import MetadataFilters
    from llama_index.vector_stores.postgres import PGVectorStore
    from llama_index_instrumentation.dispatcher import Dispatcher

    from brainkit.answering.llama import BrainQueryEngine
    from brainkit.retrieval import HybridRetriever


class Asking(Calibrating):
    """What answers questions."""

    def recall(
        self,
        question: str,
        k: int = 6,
        retrieval: str | RetrievalSettings | None = None,
        exclude_documents: Collection[UUID | str] = (),
        *,
        filters: Filters | None = None,
        expand: int | None = None,
    ) -> Recall:
        """What the notes hold near a question; secrets in the question are taken out before it is used.

        Args:
            question: any string.
            k: number of chunks to give, at least 1.
            retrieval: a retrieval string instead of the brain's.
            exclude_documents: ids, paths or ``source:path`` names of documents to treat as absent.
            filters: the only documents to look at, such as ``Filters(project=("homelab",), role=("note",))``.
            expand: steps along links from the found documents, whose ends come after them; as the retrieval says if
                None.

        Raises:
            UsageError: k < 1, or an excluded document is not in the brain.
            RetrievalSettingsError: the retrieval string does not parse.
            DatabaseError: the database does not answer.
        """
        if k < 1:
            raise UsageError(f"k = {k} is not allowed: give 1 or more")
        settings = self._parse(retrieval)
        if expand is not None:
            settings = replace(settings, expand=expand)
        return self._recall(question, settings, k, self.document_ids(exclude_documents), filters)

    def recall_each(self, question: str, retrievals: Sequence[str | RetrievalSettings], k: int = 6) -> list[Recall]:
        """What ``recall`` gives under each of many retrieval strings, for little more than the price of one.

        Raises:
            UsageError: k < 1.
            RetrievalSettingsError: a retrieval string does not parse.
            DatabaseError: the database does not answer.
        """
        if k < 1:
            raise UsageError(f"k = {k} is not allowed: give 1 or more")
        settings = [self._parse(retrieval) for retrieval in retrievals]
        return self._searcher.recall_each(self.scrubbed(question), settings, k=k)

    def decide(self, question: str, *, gate: str | None = None) -> Decision:
        """Whether the notes can answer a question; ``gate`` names another gate than the brain's for this once."""
        chosen = self.gate if gate is None else self._make_gate(gate)
        recall, threshold = self._judged(self.recall(question)), self.threshold(chosen)
        try:
            return decide(recall, chosen, threshold)
        except LLMUnavailableError as error:
            if not isinstance(chosen, SufficiencyGate):
                raise
            return decide_without_judge(recall, chosen, threshold, self.threshold(chosen.evidence), str(error))

    def ask(self, question: str) -> Reply:
        """Answer a question from the notes, or say that they hold no answer; the question is logged, scrubbed."""
        return self._reply(self.decide(question))

    def as_retriever(
        self,
        retrieval: str | RetrievalSettings | None = None,
        k: int = 6,
        filters: Filters | MetadataFilters | None = None,
    ) -> HybridRetriever:
        """A LlamaIndex retriever over this brain; ``filters`` are ours or LlamaIndex's."""
        from brainkit.retrieval import HybridRetriever

        def recall(question: str, filters: Filters | None = None) -> Recall:
            return self.recall(question, k, retrieval, filters=filters)

        return HybridRetriever(recall, self._documents.contents, rerank=self._searcher.rerank, filters=filters)

    def as_query_engine(self) -> BrainQueryEngine:
        """A LlamaIndex query engine that answers, or deflects, as ``ask`` does."""
        from brainkit.answering.llama import BrainQueryEngine

        return BrainQueryEngine(self.decide, self._reply)

    def as_vector_store(self) -> PGVectorStore:
        """LlamaIndex's own PGVectorStore over this brain, read-only.

        Raises:
            EmbedderUnavailableError: the brain has no vectors, since its embedder's server was never reached.
        """
        from brainkit.retrieval.stock import stock_vector_store

        identity = self._models.serving.vectors.identity
        if identity is None:
            raise EmbedderUnavailableError("no vectors yet: start the embedder's server and run `brainkit embed`")
        return stock_vector_store(self._database, identity.dimensions)

    # Inside

    def _reply(self, decision: Decision) -> Reply:
        reply = self._quote(decision)
        self._log(reply)
        return reply

    def _quote(self, decision: Decision) -> Reply:
        similarity = None if decision.recall.degraded else self._models.serving.embedder.similarity
        return reply_to(decision, similarity, lambda other: self.decide(other).answer, self._titles, self._cite)

    def _titles(self) -> list[str]:
        return [row.title for row in self._documents.rows().values()]

    def _cite(self, document: Source) -> str:
        """Its path, or ``source:path`` where several sources have that path."""
        shared = len(self.document_names().get(document.path, ())) > 1
        return f"{document.source}:{document.path}" if shared else document.path

    def _log(self, reply: Reply) -> None:
        """Tell it as an event, which the query log and other programs' handlers get."""
        from brainkit.answering.events import ReplyEvent

        self._replies.event(ReplyEvent(reply=reply))

    @cached_property
    def _replies(self) -> Dispatcher:
        from brainkit.answering.events import reply_dispatcher  # takes a moment to import

        return reply_dispatcher(self._query_log)
