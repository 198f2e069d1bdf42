"""Keeping a brain's certificate and labels true: refresh after the notes changed, feedback, labels to look at."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

from brainkit.answering import Reply
from brainkit.brain.calibrating import Calibrating
from brainkit.errors import CertificateError, EmbeddingError, UsageError
from brainkit.gate import GATES, Certificate, Gate, LabelledEvidence, gather, other_brain
from brainkit.ingestion.sync import Progress
from brainkit.labels import Label, Review, Said, label_of, scrubbed, settled, verdict_of
from brainkit.store.state import newest_chunk

NEAR = 10
"""Chunks among which a document's new one is looked for."""


class Refreshed(NamedTuple):
    """What refreshing did: the new certificate, and the labels it set aside, see ``reviews``.

    An infeasible certificate was not stored: the old one stays, and stays stale.
    """

    certificate: Certificate
    set_aside: tuple[Review, ...] = ()


class Reviewing(Calibrating):
    """What follows the notes."""

    def refresh(self, gate: str | None = None, *, progress: Progress | None = None) -> Refreshed:
        """Make a gate's certificate anew for the notes as they are now, from the stored labels, at the same levels.

        Labels that the change may have made wrong are set aside first: an unanswerable question that a new or changed
        document now lifts over the threshold. (An answerable one whose document is gone is not asked in any case.)
        Stopped at any moment it can be run again; until it has ended the old certificate is used, and called stale.

        Args:
            gate: name of the gate; the brain's if None.
            progress: told ("calibrate", done, total).

        Raises:
            CertificateError: there is none, or it was made for other settings.
        """
        chosen = self.gate if gate is None else self._make_gate(gate)
        old = self.certificate(chosen)
        if old is None:
            raise CertificateError(f"the {chosen.name} gate has no certificate: run `brainkit calibrate --labels FILE`")
        if differs := old.mismatch(self.fingerprint(chosen)):
            raise CertificateError(other_brain(differs))
        if not old.certified:
            return Refreshed(self.calibrate(None, old.alpha, old.delta, gate, joint=old.joint, progress=progress))
        corpus = self.corpus()
        usable = self._questions(self.document_names())
        labelled = gather(usable, self._sure_evidence, progress)
        doubtful = self._doubtful(old, chosen, usable, labelled)
        self._labels.set_aside({one.id: one.reason for one in doubtful})
        left = [item for item in labelled if item.label not in {one.id for one in doubtful}]
        made = self._certify(
            chosen, left, old.alpha, old.delta, joint=old.joint, basis=old.basis, corpus=corpus, fitted=old.fitted
        )
        return Refreshed(made, tuple(doubtful))

    def stale(self) -> bool:
        """Whether the brain's gate has a certificate that fits it and was made before the notes changed."""
        certificate = self._fitting()
        return certificate is not None and certificate.corpus != self.corpus()

    def feedback(self, reply: Reply | str, verdict: str) -> Said:
        """Keep what a person says about a reply, in the log and as a label.

        A right answer becomes an answerable label with the documents it quoted. It serves estimates and no certificate,
        as the gate chose the question itself. Every other verdict waits in ``reviews`` until ``settle`` says what is
        true of the question: then it is a label like one written by hand.

        Args:
            reply: a reply, or its id.
            verdict: right, wrong, or missed ("should have answered": it deflected, though a note holds the answer).

        Returns:
            The label, and what it waits for ("" if for nothing).

        Raises:
            UsageError: no such reply was logged, or the verdict is none.
        """
        key = reply if isinstance(reply, str) else reply.id
        said = verdict_of(verdict)
        entry = self._query_log.put_feedback(key, said)
        if entry is None:
            raise UsageError(f"no reply {key!r} is in the log: `brainkit ask` prints the id of each")
        made = label_of(key, entry.question, entry.sources, said, deflected=entry.decision == "deflect")
        self._labels.put([scrubbed(made.label, self._scrubber)], made.review)
        return made

    def reviews(self) -> list[Review]:
        """Labels that are not used until a person decides (``settle``): set aside, or their document is gone."""
        waiting, known = self._labels.reviews(), self.document_names()
        found = []
        for label in self._stored():
            gone = [item.doc for item in label.relevant if item.doc not in known]
            reason = waiting.get(label.id) or (f"its document {gone[0]} is gone" if gone else "")
            if reason:
                found.append(Review(label.id, label.question, reason))
        return found

    def settle(
        self, label_id: str, *, drop: bool = False, document: str | None = None, kind: str | None = None
    ) -> None:
        """Decide about a label that waits (``reviews``); it is used from the next calibration on.

        Args:
            label_id: which one.
            drop: forget it.
            document: the document that answers it.
            kind: one of ``STRATA``, as nothing answers it. With none of the three it is right as it stands.

        Raises:
            UsageError: no such label waits, the document is not in the brain, or the decision settles nothing.
        """
        if label_id not in {one.id for one in self.reviews()}:
            raise UsageError(
                f"no label {label_id!r} waits for a decision: `brainkit labels review` lists those that do"
            )
        if drop:
            self._labels.remove([label_id])
            return
        label = settled(next(one for one in self._stored() if one.id == label_id), document=document, kind=kind)
        self.document_ids([item.doc for item in label.relevant])
        self._labels.put([scrubbed(label, self._scrubber)])

    # Inside

    def _fitting(self) -> Certificate | None:
        """The certificate of the brain's gate, if there is one that can be used."""
        try:
            certificate = self.certificate()
        except CertificateError:
            return None
        return None if certificate is None or certificate.mismatch(self.fingerprint()) else certificate

    def _follow_notes(self, progress: Progress | None) -> None:
        """Refresh the certificate if the notes changed and all of them can be found; a plain gate's, at no other cost.

        What asks a language model, or another package, about every label is left to ``brainkit calibrate --refresh``.
        """
        certificate = self._fitting() if self.gate.name in GATES else None
        if certificate is None or not certificate.certified or certificate.corpus == self.corpus():
            return
        if not self._models.serving.vectors.pending(1):  # what failed too often is waited for by nobody
            with contextlib.suppress(EmbeddingError):  # it stays, and stays stale
                self.refresh(progress=progress)

    def _doubtful(
        self, old: Certificate, gate: Gate, labels: Sequence[Label], labelled: Sequence[LabelledEvidence]
    ) -> list[Review]:
        """Unanswerable labels that pass the old threshold, did not when it was set, and do by what is new."""
        assert old.threshold is not None
        questions = {label.id: label.question for label in labels}
        since = newest_chunk(old.corpus)
        found = []
        for item in labelled:
            known = not item.stratum or item.hidden or item.label in old.passed
            if known or gate.score(item.evidence) < old.threshold:
                continue
            recall = self._recall(questions[item.label], self.retrieval, NEAR, ())
            best = recall.documents[0] if recall.documents else None
            if best and any(chunk.document_id == best.id and chunk.chunk_id > since for chunk in recall.chunks):
                reason = f"{best.source}:{best.path} is new or was changed, and may answer it now"
                found.append(Review(item.label, questions[item.label], reason))
        return found
