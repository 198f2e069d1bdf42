"""The certificates of a brain, one file for each gate, and the threshold that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from brainkit.errors import CertificateError
from brainkit.gate.certificate import Certificate
from brainkit.gate.decision import Threshold


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
    home: Path, gate: str, *, override: float | None, shipped: float, fingerprint: Mapping[str, str]
) -> Threshold:
    """BOR_RELEVANCE_THRESHOLD, else that of a certificate that fits, else the shipped one with the reason."""
    if override is not None:
        return Threshold(override, "override")
    try:
        certificate = read_certificate(home, gate)
    except CertificateError as error:
        return Threshold(shipped, "shipped", str(error))
    if certificate is None or certificate.threshold is None:
        return Threshold(shipped, "shipped", "run `brainkit calibrate` for a certified threshold")
    if differs := certificate.mismatch(fingerprint):
        note = f"the certificate is for another {', '.join(differs)}: run `brainkit calibrate`"
        return Threshold(shipped, "shipped", note)
    return Threshold(certificate.threshold, "certificate")
