"""What people say about replies, made into labels; and labels that a person has to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from brainkit.errors import UsageError
from brainkit.labels.model import STRATA, Label, Relevant

FEEDBACK: Final = "feedback"
"""``Label.source`` of what came from feedback: the gate chose those questions, so they certify nothing."""
REVIEWED: Final = "reviewed"
"""``Label.source`` of such a label after a person has settled it: as good as one written by hand."""
VERDICTS: Final = ("right", "wrong", "missed")
"""What can be said of a reply; ``missed``: it deflected and should have answered."""


class Review(NamedTuple):
    """A label that is not used until a person decides, and why."""

    id: str
    question: str
    reason: str


class Said(NamedTuple):
    """A label made of feedback; ``review`` says why it has to be looked at first, "" if it can be used."""

    label: Label
    review: str


def verdict_of(text: str) -> str:
    """One of ``VERDICTS``, however it was written.

    Raises:
        UsageError: it is none.

    Example:
        >>> verdict_of("Should have answered")
        'missed'
    """
    plain = " ".join(text.casefold().replace("_", " ").split())
    plain = "missed" if plain == "should have answered" else plain
    if plain not in VERDICTS:
        raise UsageError(f"feedback {text!r} is not allowed: give one of {', '.join(VERDICTS)}")
    return plain


def label_of(reply: str, question: str, sources: Sequence[str], verdict: str, *, deflected: bool) -> Said:
    """The label that a verdict on a reply makes.

    A right answer is an answerable question with the documents it quoted. Nothing else says by itself what is true: a
    wrong answer may stand in a note that was not found or in none, a deflection that was right does not say what kind
    of question it was, and one that was wrong does not name the note. Those wait until a person has settled them.

    Args:
        reply: id of the reply.
        question: what was asked, scrubbed.
        sources: documents it quoted, as ``source:path``.
        verdict: one of ``VERDICTS``.
        deflected: whether it deflected.
    """
    label = Label(f"reply-{reply}", question, False, source=FEEDBACK)
    if verdict == "right" and not deflected:
        return Said(replace(label, answerable=True, relevant=tuple(Relevant(name) for name in sources)), "")
    if verdict == "right":
        return Said(label, "the deflection was right: say what kind of question it is")
    if deflected:
        return Said(replace(label, answerable=True), "should have been answered: name the document that holds it")
    return Said(label, "the answer was wrong: name the document that holds the right one, or the kind if none does")


def settled(label: Label, *, document: str | None = None, kind: str | None = None) -> Label:
    """A label after a person decided: answered by a document, or unanswerable of a kind, or as it stands.

    Raises:
        UsageError: both are given, the kind is none, or as it stands it says neither.
    """
    if document is not None and kind is not None:
        raise UsageError("give a document or a kind: a question that a note answers has no kind")
    if kind is not None and kind not in STRATA:
        raise UsageError(f"kind = {kind!r} is not allowed: give one of {', '.join(STRATA)}")
    if document is not None:
        label = replace(label, answerable=True, relevant=(Relevant(document),), kind="")
    elif kind is not None:
        label = replace(label, answerable=False, relevant=(), kind=kind)
    elif label.source == FEEDBACK:
        raise UsageError(f"label {label.id!r} cannot be kept as it is: give a document that answers it, or a kind")
    return replace(label, source=REVIEWED if label.source == FEEDBACK else label.source)
