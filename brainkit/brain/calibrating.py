"""Calibrating a brain's gate: labels, certificates, the threshold in force."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from brainkit.brain.parts import Parts
from brainkit.errors import CertificateError, EmbedderUnavailableError
from brainkit.gate import (
    Certificate,
    Drift,
    Gate,
    LabelledEvidence,
    Threshold,
    allowed_false_answers,
    certificate_file,
    certify,
    drift,
    gather,
    read_certificate,
    refitting,
    shipped_threshold,
    threshold_in_force,
)
from brainkit.gate.certificate import digest
from brainkit.gate.drift import NEWEST
from brainkit.ingestion.sync import CHUNKING_VERSION, Progress
from brainkit.labels import DRAFTS, FEEDBACK, Label, drafted, given_labels, scrubbed, topics
from brainkit.retrieval import Evidence, Recall
from brainkit.retrieval.hybrid import RANKING_VERSION
from brainkit.settings import CHUNK_CAP_CHARS
from brainkit.store.naming import twins
from brainkit.store.state import corpus_state
from brainkit.store.terms import TERMS_VERSION

CHUNKS: Final = 6
"""As many as ``recall`` gives: of a document that is too large, a language model reads the same as at a question."""
DRIFT_SECONDS: Final = 300.0
"""How long a test for drift stands."""


class Calibrating(Parts):
    """What sets the gate's threshold, and says what it promises."""

    def calibrate(
        self,
        labels: Path | str | Iterable[Mapping[str, Any] | Label] | None = None,
        alpha: float = 0.1,
        delta: float = 0.1,
        gate: str | None = None,
        *,
        joint: bool = False,
        refit: bool = False,
        draft: Callable[[str], str] | None = None,
        progress: Progress | None = None,
    ) -> Certificate:
        """Set the gate's threshold so that false answers stay below ``alpha`` with confidence 1 - ``delta``.

        Labels are stored (the same id replaces) and used with those already there. A question whose documents are known
        is also asked with them hidden, which makes it one whose note is missing: answerable labels alone are enough.

        Where nobody has given a label, questions whose answers were called right, and questions drafted from titles and
        headings, give an estimate: a threshold that is used, and called uncertified everywhere.

        Args:
            labels: a labels file, or labels as dicts.
            alpha: highest share of false answers, 0..1.
            delta: probability that the promise is wrong, 0..1.
            gate: name of the gate; the brain's if None.
            joint: promise it of every stratum there are labels of, all at once, by one threshold.
            refit: fit the gate's coefficients on half of the labels (300 or more) and set the threshold on the others;
                without, the shipped coefficients and all labels.
            draft: makes a question from a document's text, such as a language model; for an estimate.
            progress: told ("calibrate", done, total).

        Returns:
            The certificate; stored if feasible, else ``feasible`` is False, and the gate stays as it was.

        Raises:
            LabelsError: a label is wrong or names a document the brain does not hold; too few to ``refit``.
            UsageError: alpha or delta is out of range; a gate without coefficients is to be refitted.
            EmbedderUnavailableError: the embedder does not answer.
        """
        allowed_false_answers(1, alpha, delta)  # a wrong alpha or delta has to fail before anything is stored
        chosen = self._shipped_gate(gate or self.gate.name)
        known = self.document_names()
        given = given_labels(labels, known)
        self._labels.put([scrubbed(label, self._scrubber) for label in given])
        corpus = self.corpus()  # before anything is asked: what changes meanwhile makes it stale
        usable, basis = self._questions(known), "labels"
        if not usable:
            usable, basis = self._stand_ins(known, draft)
        labelled = gather(usable, self._sure_evidence, progress)
        fitted = None
        if refit:
            chosen, fitted = refitting.refit(chosen, labelled)
        return self._certify(chosen, labelled, alpha, delta, joint=joint, basis=basis, corpus=corpus, fitted=fitted)

    def keep_certificate(self, certificate: Certificate) -> None:
        """Store a certificate in the brain's home; its gate uses it from now on."""
        certificate.save(certificate_file(self.settings.home, certificate.gate))

    def evidence(self, question: str, exclude: Collection[str] = ()) -> Evidence:
        """Evidence under the brain's retrieval; excluded documents are hidden together with those of equal text."""
        return self._hiding(question, exclude).evidence

    def drafts(self, count: int = DRAFTS, write: Callable[[str], str] | None = None) -> list[Label]:
        """Questions made from titles and headings, to begin a labels file with; not one is stored.

        Args:
            count: of documents that are asked about, at most.
            write: makes a question from a document's text, such as a language model.
        """
        return drafted(topics(self._database, count), write)

    def corpus(self) -> str:
        """State of the notes and their vectors; another one makes a certificate stale."""
        return corpus_state(self._database, self._models.serving.vectors)

    def threshold(self, gate: Gate | None = None) -> Threshold:
        """The threshold in force: BOR_RELEVANCE_THRESHOLD, else the certificate's, else the shipped one."""
        gate = gate or self.gate
        return threshold_in_force(
            self.settings.home,
            gate.name,
            override=self.settings.relevance_threshold,
            shipped=shipped_threshold(gate.name, self._models.serving.kind),
            fingerprint=self.fingerprint(gate),
            corpus=self.corpus(),
            live=self.drift,
        )

    def drift(self, certificate: Certificate) -> Drift:
        """Whether people now ask otherwise than a certificate was made for, by the log's newest questions.

        It counts what was asked since the first certificate under the same settings; looked up every few minutes.
        """
        key = (certificate.gate, certificate.created)
        known = self._drifts.get(key)
        if known is None or time.monotonic() - known[0] > DRIFT_SECONDS:
            live = self._query_log.scores(
                certificate.gate, str(self.retrieval), certificate.since or certificate.created, NEWEST
            )
            known = time.monotonic(), drift(live, certificate.answerable_scores, certificate.unanswerable_scores)
            self._drifts = {key: known}
        return known[1]

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

    # Inside

    _drifts: Mapping[tuple[str, str], tuple[float, Drift]] = MappingProxyType({})

    def _hiding(self, question: str, exclude: Collection[str]) -> Recall:
        hidden = twins(self._documents, self.document_ids(exclude)) if exclude else []
        return self._judged(self._recall(question, self.retrieval, CHUNKS, hidden))

    def _sure_evidence(self, question: str, exclude: Collection[str] = ()) -> Evidence:
        """Evidence to certify with: a channel that is missing just now must not set a threshold for later."""
        recall = self._hiding(question, exclude)
        if recall.degraded:
            raise EmbedderUnavailableError(f"no threshold can be set now, since notes are {recall.degraded}")
        return recall.evidence

    def _stored(self) -> list[Label]:
        return [Label.from_dict(data, f"stored label {data.get('id')}") for data in self._labels.all()]

    def _questions(self, known: Collection[str], *, confirmed: bool = False) -> list[Label]:
        """The labels people gave that can be asked now; with ``confirmed`` those that came from feedback instead."""
        waiting = self._labels.reviews()
        return [
            label
            for label in self._stored()
            if label.id not in waiting
            and (label.source == FEEDBACK) == confirmed
            and all(item.doc in known for item in label.relevant)
        ]

    def _stand_ins(self, known: Collection[str], draft: Callable[[str], str] | None) -> tuple[list[Label], str]:
        """Questions for an estimate, and what they are."""
        said = [label for label in self._questions(known, confirmed=True) if label.answerable]
        made = drafted(topics(self._database, DRAFTS - len(said)), draft) if len(said) < DRAFTS else []
        parts = [f"{len(said)} answers called right"] * bool(said)
        parts += [f"{len(made)} questions drafted from titles and headings"] * bool(made)
        return [*said, *made], " and ".join(parts) or "labels"

    def _certify(
        self,
        gate: Gate,
        labelled: Sequence[LabelledEvidence],
        alpha: float,
        delta: float,
        *,
        joint: bool,
        basis: str,
        corpus: str,
        fitted: Mapping[str, Any] | None = None,
    ) -> Certificate:
        """Make a certificate; if it is feasible, keep it, and use its gate."""
        fingerprint = self.fingerprint(gate)
        since = ""
        with contextlib.suppress(CertificateError):  # a damaged one is replaced
            old = self.certificate(gate)
            since = old.since if old is not None and not old.mismatch(fingerprint) else ""
        made = certify(
            gate, labelled, alpha=alpha, delta=delta, fingerprint=fingerprint, joint=joint, basis=basis, corpus=corpus,
            since=since, fitted=fitted,
        )  # fmt: skip
        if made.feasible:
            self.keep_certificate(made)
            if gate.name == self.gate.name:
                self.gate = gate
        return made
