"""The certificates of a brain, one file for each gate, and the threshold that follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from brainkit.errors import CertificateError
from brainkit.gate.certificate import Certificate
from brainkit.gate.decision import Threshold
from brainkit.gate.drift import Drift


def certificate_file(home: Path, gate: str) -> Path:
    """Where the certificate of a gate lies in a brain's home."""
    return home / f"certificate-{gate}.json"


def read_certificate(home: Path, gate: str) -> Certificate | None:
    """The stored certificate of a gate, fitting or not; None if there is none.

    Raises:
        CertificateError: the file cannot be read.
    """
    try:
        return Certificate.load(certificate_file(home, gate))
    except CertificateError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def threshold_in_force(
    home: Path,
    gate: str,
    *,
    override: float | None,
    shipped: float,
    fingerprint: Mapping[str, str],
    corpus: str | None = None,
    live: Callable[[Certificate], Drift] | None = None,
) -> Threshold:
    """BOR_RELEVANCE_THRESHOLD, else that of a certificate that fits, else the shipped one with the reason.

    Args:
        home: where the certificates lie.
        gate: name of the gate.
        override: BOR_RELEVANCE_THRESHOLD.
        shipped: what there is without a certificate.
        fingerprint: of the brain as it is.
        corpus: state of its notes; a certificate of another state is used, and called stale. None: not looked at.
        live: tests what people ask against a certificate's scores; after drift it is used, and called so.
    """
    if override is not None:
        return Threshold(override, "override")
    try:
        certificate = read_certificate(home, gate)
    except CertificateError as error:
        return Threshold(shipped, "shipped", str(error))
    if certificate is None or certificate.threshold is None:
        return Threshold(shipped, "shipped", "run `brainkit calibrate` for a certified threshold")
    if differs := certificate.mismatch(fingerprint):
        return Threshold(shipped, "shipped", other_brain(differs))
    notes = []
    if corpus is not None and certificate.corpus != corpus:
        notes.append("stale, as the notes have changed: run `brainkit calibrate --refresh`")
    if live is not None and (found := live(certificate)).drifted:
        notes.append(
            f"drifted, as the last {found.n} questions score unlike those it was made from (p = {found.p:.1g}): "
            "run `brainkit calibrate --labels FILE` with such questions"
        )
    return Threshold(certificate.threshold, "certificate" if certificate.certified else "estimate", "; ".join(notes))


def other_brain(differs: Sequence[str]) -> str:
    """Why a certificate is not used, from the parts of its fingerprint that differ."""
    return f"the certificate is for another {', '.join(differs)}: run `brainkit calibrate`"
