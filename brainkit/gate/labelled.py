"""Labelled questions -> evidence: each asked as it is, and each with a known document once more with it hidden."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol

from brainkit.labels import Label, hidden_variant
from brainkit.retrieval import Evidence


class Ask(Protocol):
    """Retrieval as calibration needs it."""

    def __call__(self, question: str, exclude: Collection[str] = ()) -> Evidence:
        """Evidence for a question, with the named documents (and their twins) treated as absent."""


class LabelledEvidence(NamedTuple):
    """Evidence for one question; ``stratum`` is '' if the notes answer it, ``hidden`` tells the made-up form."""

    label: str
    stratum: str
    evidence: Evidence
    hidden: bool = False


def gather(
    labels: Sequence[Label], ask: Ask, progress: Callable[[str, int, int], None] | None = None
) -> list[LabelledEvidence]:
    """Ask every label; one or two recalls each.

    Args:
        labels: whose documents are all in the brain.
        ask: gives the evidence.
        progress: told ("calibrate", done, total).
    """
    found: list[LabelledEvidence] = []
    for number, label in enumerate(labels, 1):
        found.append(LabelledEvidence(label.id, label.stratum, ask(label.question)))
        if label.answerable and label.relevant:
            hidden = hidden_variant(label)
            found.append(
                LabelledEvidence(label.id, hidden.stratum, ask(hidden.question, hidden.exclude_documents), hidden=True)
            )
        if progress:
            progress("calibrate", number, len(labels))
    return found
