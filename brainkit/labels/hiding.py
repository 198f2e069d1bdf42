"""Hiding the gold: with its documents hidden, an answerable question becomes an unanswerable one for nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainkit.errors import LabelsError

if TYPE_CHECKING:
    from brainkit.labels.model import Label

STRATUM = "missing_note"


@dataclass(frozen=True, slots=True)
class HiddenVariant:
    """What to ask, and which documents to leave out, to get an unanswerable question of stratum ``missing_note``.

    ``id`` is the label's own: whoever splits questions keeps both forms of one question on the same side.
    """

    id: str
    question: str
    exclude_documents: tuple[str, ...]
    stratum: str = STRATUM


def hidden_variant(label: Label) -> HiddenVariant:
    """The unanswerable form of an answerable label: all its relevant documents are to be excluded from the recall.

    It stands for questions whose note does not exist and says nothing about ``missing_detail``. It is only as true as
    the label is complete: a second document that answers too, and is not named, makes it answerable after all.

    Raises:
        LabelsError: the label is unanswerable or names no document.

    Example:
        >>> from brainkit.labels.model import Label, Relevant
        >>> hidden_variant(Label("q1", "Which port?", True, (Relevant("dns.md"),))).exclude_documents
        ('dns.md',)
    """
    if not label.answerable or not label.relevant:
        raise LabelsError(f"label {label.id!r} has no document to hide: it must be answerable and name one")
    return HiddenVariant(label.id, label.question, tuple(label.grades))
