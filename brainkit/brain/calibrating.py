"""Calibrating a brain's gate: labels, certificates, the threshold in force."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from brainkit.brain.parts import Parts
from brainkit.gate import (
    Certificate,
    Gate,
    Threshold,
    allowed_false_answers,
    certificate_file,
    certify,
    gather,
    make_gate,
    read_certificate,
    shipped_threshold,
    threshold_in_force,
)
from brainkit.gate.certificate import digest
from brainkit.ingestion.sync import CHUNKING_VERSION, Progress
from brainkit.labels import Label, given_labels, scrubbed
from brainkit.retrieval import Evidence
from brainkit.retrieval.hybrid import RANKING_VERSION
from brainkit.settings import CHUNK_CAP_CHARS
from brainkit.store.naming import twins
from brainkit.store.terms import TERMS_VERSION


class Calibrating(Parts):
    """What sets the gate's threshold, and says what it promises."""

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
