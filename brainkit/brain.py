"""The brain: puts the rooms together; everything a program or the command line does goes through here."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from brainkit.answering import Reply, Source, logged, reply_to
from brainkit.embedding import Embedder, make_embedder
from brainkit.errors import (
    DatabaseError,
    EmbedderUnavailableError,
    RetrievalSettingsError,
    UsageError,
)
from brainkit.gate import (
    Certificate,
    Decision,
    Gate,
    Threshold,
    allowed_false_answers,
    certificate_file,
    certify,
    decide,
    gather,
    make_gate,
    read_certificate,
    shipped_threshold,
    threshold_in_force,
)
from brainkit.gate.certificate import digest
from brainkit.ingestion import (
    EmbedReport,
    Importer,
    ImportReport,
    Preparer,
    RescrubReport,
    embed_pending,
    list_models,
    open_models,
    rescrub,
)
from brainkit.ingestion.sync import CHUNKING_VERSION, Progress
from brainkit.labels import Label, given_labels, scrubbed
from brainkit.retrieval import Evidence, Filters, Recall, RetrievalSettings, Searcher
from brainkit.retrieval.hybrid import RANKING_VERSION
from brainkit.scrub import Scrubber
from brainkit.settings import CHUNK_CAP_CHARS, Settings, default_gate, default_retrieval
from brainkit.store import Database, DocumentStore, LabelStore, QueryLog
from brainkit.store.hnsw import build_index, index_state
from brainkit.store.naming import document_ids, document_names, document_texts, twins
from brainkit.store.terms import TERMS_VERSION

if TYPE_CHECKING:
    from llama_index.core.vector_stores.types import MetadataFilters
    from llama_index.vector_stores.postgres import PGVectorStore

    from brainkit.answering.llama import BrainQueryEngine
    from brainkit.retrieval import HybridRetriever

log = logging.getLogger(__name__)


class Brain:
    """An open brain; made by ``Brain.open``, closed by ``close`` or a ``with`` statement.

    Example::

        with Brain.open(Settings(home="~/.my-brain")) as brain:
            brain.import_paths(["~/notes"])
            print(brain.ask("When is the next UPS battery due?").text)
    """

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

    @classmethod
    def open(cls, settings: Settings | None = None) -> Brain:
        """Open a brain: start or attach to its database, load its embedder.

        Args:
            settings: where it lives and how it works; the environment's if None.

        Raises:
            SettingsError: a setting is wrong.
            DatabaseError: the database cannot be used.
            EmbeddingError: the embedder cannot be used, or has another dimension than BOR_EMBEDDING_DIM.
        """
        settings = settings or Settings()
        try:
            RetrievalSettings.parse(settings.retrieval)
        except RetrievalSettingsError as error:
            raise RetrievalSettingsError(f"BOR_RETRIEVAL = {settings.retrieval!r} is not allowed: {error}") from None
        make_gate(settings.gate, settings.embedder)
        scrubber = Scrubber(email=settings.scrub_email, rules=settings.scrub_rules)
        embedder = make_embedder(settings)
        with contextlib.suppress(EmbedderUnavailableError):  # without it, notes are found by words
            embedder.identity  # noqa: B018 - a wrong dimension has to fail before the database is touched
        database = Database(settings)
        try:
            return cls(settings, database, embedder, scrubber)
        except BaseException:
            database.close()
            raise

    # Filling

    def import_paths(
        self,
        paths: Iterable[Path | str],
        prune: bool = False,
        *,
        embed: bool = True,
        git_log: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Bring the brain up to date with files and folders, then embed what is new.

        Args:
            paths: files or folders; a folder is one source, named after it.
            prune: remove documents whose file is gone, only under folders that were really read.
            embed: also compute vectors; without, new chunks are found by words only.
            git_log: also import the commit messages of folders that are Git repositories.
            dry_run: write nothing, and report what would be done.
            progress: told ("import" | "history" | "embed", done, total).

        Raises:
            UsageError: a path does not exist.
            DatabaseError: the database went away; nothing stored is lost, run it again.
        """
        importer = Importer(self._database, self._documents, self._scrubber, self.settings)
        report = importer.run(paths, prune=prune, git_log=git_log, dry_run=dry_run, progress=progress)
        if embed and not dry_run:
            outcome = self.embed(progress=progress)
            report.embedded, report.pending, report.embedding_error = outcome.embedded, outcome.pending, outcome.error
        else:
            report.pending = self._models.configured.vectors.pending_count()
        return report

    def embed(self, *, retry: bool = False, progress: Progress | None = None) -> EmbedReport:
        """Compute the vectors that are missing; with ``retry`` also those that failed before.

        After a change of the model, questions are answered with the former one until this has come to its end.
        """
        self._choose_model(patient=True)
        _, embedder, vectors = self._models.configured
        report = embed_pending(embedder, vectors, retry=retry, progress=progress)
        if report.embedded:
            build_index(self._database, vectors)
        self._choose_model()
        return report

    def rescrub(self, *, progress: Progress | None = None) -> RescrubReport:
        """Apply today's rules to all that is stored, and rewrite the tables so that nothing older stays on disk.

        Raises:
            DatabaseError: the database went away; run it again.
        """
        report = rescrub(self._database, self._documents, self._preparer(), self._scrubber, progress=progress)
        self._configured.forget()
        return report

    # Asking

    def recall(
        self,
        question: str,
        k: int = 6,
        retrieval: str | RetrievalSettings | None = None,
        exclude_documents: Collection[UUID | str] = (),
        *,
        filters: Filters | None = None,
    ) -> Recall:
        """What the notes hold near a question; secrets in the question are taken out before it is used.

        Args:
            question: any string.
            k: number of chunks to give, at least 1.
            retrieval: a retrieval string instead of the brain's.
            exclude_documents: ids, paths or ``source:path`` names of documents to treat as absent.
            filters: the only documents to look at, such as ``Filters(project=("homelab",), role=("note",))``.

        Raises:
            UsageError: k < 1, or an excluded document is not in the brain.
            RetrievalSettingsError: the retrieval string does not parse.
            DatabaseError: the database does not answer.
        """
        if k < 1:
            raise UsageError(f"k = {k} is not allowed: give 1 or more")
        return self._recall(question, self._parse(retrieval), k, self.document_ids(exclude_documents), filters)

    def decide(self, question: str, *, gate: str | None = None) -> Decision:
        """Whether the notes can answer a question; ``gate`` names another gate than the brain's for this once."""
        chosen = self.gate if gate is None else make_gate(gate, self._models.serving.kind)
        return decide(self.recall(question), chosen, self.threshold(chosen))

    def ask(self, question: str) -> Reply:
        """Answer a question from the notes, or say that they hold no answer; the question is logged, scrubbed."""
        decision = self.decide(question)
        similarity = None if decision.recall.degraded else self._models.serving.embedder.similarity
        reply = reply_to(decision, similarity, lambda other: self.decide(other).answer, self._titles, self._cite)
        self._log(reply)
        return reply

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

        return BrainQueryEngine(self.ask)

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

    # Calibrating

    def calibrate(
        self,
        labels: Path | str | Iterable[Mapping[str, Any] | Label] | None = None,
        alpha: float = 0.1,
        delta: float = 0.1,
        gate: str | None = None,
        *,
        progress: Progress | None = None,
    ) -> Certificate:
        """Set the gate's threshold so that false answers stay below ``alpha`` with confidence 1 - ``delta``.

        Labels are stored (the same id replaces) and used with those already there. A question whose documents are known
        is also asked with them hidden, which makes it one whose note is missing: answerable labels alone are enough.

        Args:
            labels: a labels file, or labels as dicts.
            alpha: highest share of false answers, 0..1.
            delta: probability that the promise is wrong, 0..1.
            gate: name of the gate; the brain's if None.
            progress: told ("calibrate", done, total).

        Returns:
            The certificate; stored if feasible, else ``feasible`` is False, and the gate stays as it was.

        Raises:
            LabelsError: a label is wrong or names a document the brain does not hold.
            UsageError: alpha or delta is out of range.
        """
        allowed_false_answers(1, alpha, delta)  # a wrong alpha or delta has to fail before anything is stored
        chosen = self.gate if gate is None else make_gate(gate, self._models.serving.kind)
        known = self.document_names()
        given = given_labels(labels, known)
        self._labels.put([scrubbed(label, self._scrubber) for label in given])
        stored = [Label.from_dict(data, f"stored label {data.get('id')}") for data in self._labels.all()]
        usable = [label for label in stored if all(item.doc in known for item in label.relevant)]
        labelled = gather(usable, self.evidence, progress)
        certificate = certify(chosen, labelled, alpha=alpha, delta=delta, fingerprint=self.fingerprint(chosen))
        if certificate.feasible:
            self.keep_certificate(certificate)
        return certificate

    def keep_certificate(self, certificate: Certificate) -> None:
        """Store a certificate in the brain's home; its gate uses it from now on."""
        certificate.save(certificate_file(self.settings.home, certificate.gate))

    def evidence(self, question: str, exclude: Collection[str] = ()) -> Evidence:
        """Evidence under the brain's retrieval; excluded documents are hidden together with those of equal text."""
        hidden = twins(self._documents, self.document_ids(exclude)) if exclude else []
        return self._recall(question, self.retrieval, 1, hidden).evidence

    def threshold(self, gate: Gate | None = None) -> Threshold:
        """The threshold in force: BOR_RELEVANCE_THRESHOLD, else the certificate's, else the shipped one."""
        gate = gate or self.gate
        return threshold_in_force(
            self.settings.home,
            gate.name,
            override=self.settings.relevance_threshold,
            shipped=shipped_threshold(gate.name, self._models.serving.kind),
            fingerprint=self.fingerprint(gate),
        )

    def certificate(self, gate: Gate | None = None) -> Certificate | None:
        """The stored certificate of a gate, fitting or not; None if there is none.

        Raises:
            CertificateError: the file cannot be read.
        """
        return read_certificate(self.settings.home, (gate or self.gate).name)

    def fingerprint(self, gate: Gate | None = None) -> dict[str, str]:
        """What a threshold depends on: model, chunking, retrieval string, gate, whose notes."""
        gate, s = gate or self.gate, self.settings
        versions = f"v{CHUNKING_VERSION},terms v{TERMS_VERSION},ranking v{RANKING_VERSION}"
        return {
            "embedding model": identity.fingerprint if (identity := self._models.serving.vectors.identity) else "",
            "chunking": f"{s.chunk_target_chars},{s.chunk_overlap_chars},{CHUNK_CAP_CHARS},{versions}",
            "retrieval": str(self.retrieval),
            "gate": f"{gate.name} {digest(gate.version)}",
            "database": self._database.address if self._database.server is None else "embedded",
        }

    # Knowing

    def counts(self) -> dict[str, int]:
        """Numbers of documents, chunks and redactions."""
        return self._documents.counts()

    def find_texts(self, text: str) -> int:
        """Number of stored texts (documents, chunks, titles, paths) that hold a string as it stands."""
        return self._documents.holding(text)

    def status(self) -> dict[str, Any]:
        """Counts, model, database, gate and certificate, as plain data."""
        threshold = self.threshold()
        model = self._models.serving
        return {
            **self._documents.counts(),
            "vectors": model.vectors.count(),
            "pending": model.vectors.pending_count(),
            "labels": len(self._labels.all()),
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
            "database": self._database.address,
            **self._database.versions(),
            "log_failures": self.log_failures,
        }

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

    def close(self) -> None:
        """Give back the database; the embedded server stops with its last user."""
        self._configured.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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

    def _preparer(self) -> Preparer:
        return Preparer(self.settings, self._scrubber)

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

    def _titles(self) -> list[str]:
        return [row.title for row in self._documents.rows().values()]

    def _cite(self, document: Source) -> str:
        """Its path, or ``source:path`` where several sources have that path."""
        shared = len(self.document_names().get(document.path, ())) > 1
        return f"{document.source}:{document.path}" if shared else document.path

    def _log(self, reply: Reply) -> None:
        try:
            self._query_log.write(logged(reply))
        except DatabaseError:  # a reply must not be lost because it could not be logged; status shows the count
            self.log_failures += 1
            log.warning("a question could not be logged")
