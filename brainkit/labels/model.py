"""One label: a question, whether the notes answer it, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brainkit.labels.form import Fields, as_text

if TYPE_CHECKING:
    from collections.abc import Mapping

STRATA = ("off_topic", "missing_note", "missing_detail", "false_premise")
"""Kinds of unanswerable question, from the easiest to tell to the hardest; a certificate names those it covers.

off_topic: nothing in the notes is near. missing_note: the subject is theirs, that note is not there. missing_detail:
the note is there, the detail is not. false_premise: the question takes something for granted that the notes contradict.
"""

UNSPECIFIED = "unspecified"
"""Stratum of an unanswerable label that came without a kind."""

ABOUT = "about:"
"""A tag ``about:<path>`` names the note an unanswerable question comes near to."""


@dataclass(frozen=True, slots=True)
class Relevant:
    """A document that answers the question.

    ``doc`` is the document's path (or ``source:path`` where two sources share it), ``quote`` the words in it that
    answer ('' = not given), ``grade`` how well it answers, 1 upwards.
    """

    doc: str
    quote: str = ""
    grade: int = 1


@dataclass(frozen=True, slots=True)
class Label:
    """A question and what is known about its answer; ``relevant`` is empty for an unanswerable one.

    ``kind`` of an unanswerable label is one of ``STRATA``; for an answerable one it is free (``exact_token``, ...).
    ``must_pass`` makes a regression run fail if this question breaks; ``source`` says who or what wrote the label.

    Example:
        >>> label = Label.from_dict({"id": "q1", "question": "Which port?", "answerable": True,
        ...                          "relevant": [{"doc": "dns.md"}]})
        >>> label.grades, label.must_pass
        ({'dns.md': 1}, False)
    """

    id: str
    question: str
    answerable: bool
    relevant: tuple[Relevant, ...] = ()
    reference: str = ""
    kind: str = ""
    tags: tuple[str, ...] = ()
    must_pass: bool = False
    source: str = ""

    @property
    def stratum(self) -> str:
        """Kind of an unanswerable label ('unspecified' without one); '' for an answerable label."""
        return "" if self.answerable else self.kind or UNSPECIFIED

    @property
    def grades(self) -> dict[str, int]:
        """Each relevant document with its best grade, as the retrieval metrics want it."""
        best: dict[str, int] = {}
        for item in self.relevant:
            best[item.doc] = max(item.grade, best.get(item.doc, 0))
        return best

    @property
    def about(self) -> tuple[str, ...]:
        """Documents named by ``about:`` tags: the notes an unanswerable question comes near to."""
        return tuple(tag.removeprefix(ABOUT) for tag in self.tags if tag.startswith(ABOUT))

    def to_dict(self) -> dict[str, Any]:
        """All fields in the order of the file, ready for JSON."""
        return {
            "id": self.id,
            "question": self.question,
            "answerable": self.answerable,
            "relevant": [{"doc": r.doc, "quote": r.quote, "grade": r.grade} for r in self.relevant],
            "reference": self.reference,
            "kind": self.kind,
            "tags": list(self.tags),
            "must_pass": self.must_pass,
            "source": self.source,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str = "label") -> Label:
        """The label ``data`` describes; ``where`` (such as ``questions.jsonl:12``) opens the error messages.

        ``id``, ``question`` and ``answerable`` are needed; a missing or null other field takes its default; keys
        that are no field are ignored. Only the form is judged here, whether the label makes sense is for ``check``.

        Raises:
            LabelsError: a field is missing or has the wrong form; the message names it, its value and what is allowed.
        """
        fields = Fields(data, where)
        relevant = [_relevant(item, f"{where}: relevant[{i}]") for i, item in enumerate(fields.many("relevant"))]
        tags = [as_text(tag, f"{where}: tags[{i}]") for i, tag in enumerate(fields.many("tags"))]
        return cls(
            id=fields.text("id", needed=True),
            question=fields.text("question", needed=True),
            answerable=fields.flag("answerable", needed=True),
            relevant=tuple(relevant),
            reference=fields.text("reference"),
            kind=fields.text("kind"),
            tags=tuple(tags),
            must_pass=fields.flag("must_pass"),
            source=fields.text("source"),
        )


def _relevant(data: Any, where: str) -> Relevant:
    fields = Fields(data, where)
    return Relevant(fields.text("doc", needed=True), fields.text("quote"), fields.grade("grade"))
