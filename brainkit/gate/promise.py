"""A certificate in words: one sentence that says what is promised, what is not, and what more labels would do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from brainkit.gate.calibration import labels_needed

if TYPE_CHECKING:
    from brainkit.gate.certificate import Certificate

_NAMES: Final = {
    "missing_note": "things your notes do not hold",
    "off_topic": "things far from your notes",
    "missing_detail": "details missing from an existing note",
    "false_premise": "things that are not so",
    "unspecified": "unanswerable questions without a kind",
}
_LEAKS: Final = "missing_detail"
"""The kind a threshold for missing notes does not hold for; it is named even where nobody labelled one."""


def promise(certificate: Certificate) -> str:
    """One sentence for a person."""
    share, confidence = f"{100 * certificate.alpha:g}%", f"{100 * (1 - certificate.delta):g}%"
    if not certificate.feasible:
        return _refusal(certificate, share, confidence)
    if certificate.basis != "labels":
        answered = _answered(certificate)
        return (
            f"An estimate, not certified, from {certificate.basis}: of {certificate.n} such questions with their notes "
            f"hidden, {certificate.k} may get an answer{answered}; with real questions several times as many false "
            f"answers are possible, and {certificate.needed} labelled questions would give a promise."
        )
    covered = _all_of(_name(name) for name in certificate.covers)
    asked = f"questions about {covered}" if covered else "unanswerable questions like those labelled, all together"
    each = " of each kind" if certificate.joint and len(certificate.covers) > 1 else ""
    parts = [f"Of {asked}, at most {share}{each} get an answer, with {confidence} confidence{_answered(certificate)}"]
    alone = "" if covered else " by themselves"
    for name, rate in certificate.strata.items():
        if not rate.covered:
            more = f": {rate.missing} more such labels would do if they fare alike" if rate.missing else ""
            parts.append(f"{_name(name)} are not covered{alone} ({rate.answered} of {rate.n} were answered){more}")
    if _LEAKS not in certificate.strata:
        least = labels_needed(certificate.alpha, certificate.delta)
        parts.append(f"{_name(_LEAKS)} are not covered: it takes {least} such labels at least")
    return "; ".join(parts) + "."


def _answered(certificate: Certificate) -> str:
    """The other side of the bargain, if it was measured."""
    if not certificate.answerable:
        return ""
    return f"; {certificate.answered / certificate.answerable:.0%} of those your notes can answer are answered"


def _refusal(certificate: Certificate, share: str, confidence: str) -> str:
    few = {name: rate for name, rate in certificate.strata.items() if rate.missing}
    if certificate.joint and few:
        named = _all_of(f"{rate.missing} about {_name(name)}" for name, rate in few.items())
        return (
            f"Not certified: for at most {share} false answers of every kind with {confidence} confidence more labels "
            f"are missing: {named}."
        )
    missing = max(0, certificate.needed - certificate.n)
    return (
        f"Not certified: {certificate.n} unanswerable questions are too few for at most {share} false answers with "
        f"{confidence} confidence; {missing} more would do (an answerable label with its document gives one)."
    )


def _name(stratum: str) -> str:
    return _NAMES.get(stratum, stratum)


def _all_of(parts: Iterable[str]) -> str:
    """Such as ``a, b and c``."""
    *most, last = [*parts] or [""]
    return f"{', '.join(most)} and {last}" if most else last
