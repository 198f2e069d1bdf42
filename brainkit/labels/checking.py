"""Whether labels agree with the notes: documents exist, quotes are there word for word, each question has one id."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, NamedTuple

from brainkit.labels.model import STRATA, Label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class Problem(NamedTuple):
    """Something wrong with the label ``id``, in a sentence that says what to change."""

    id: str
    message: str


def check(labels: Iterable[Label], documents: Mapping[str, str]) -> list[Problem]:
    """All problems, in the order of the labels; an empty list means the set fits the notes.

    ``documents`` maps each document's path to its whole text, as the brain stores it (scrubbed). Quotes are compared
    after runs of white space were folded into one space; questions, to find the same one twice, also without regard to
    case.
    """
    texts = _FoldedTexts(documents)
    first_with_id: set[str] = set()
    first_with_text: dict[str, str] = {}
    problems = []
    for label in labels:
        if label.id in first_with_id:
            problems.append(Problem(label.id, "this id is used more than once; give each label its own"))
        first_with_id.add(label.id)
        asked = _fold(label.question).casefold()
        if asked and asked in first_with_text:
            problems.append(Problem(label.id, f"asks the same as {first_with_text[asked]!r}; drop or reword one"))
        first_with_text.setdefault(asked, label.id)
        problems.extend(Problem(label.id, message) for message in _faults(label, texts))
    return problems


def _faults(label: Label, texts: _FoldedTexts) -> Iterator[str]:
    if not label.id.strip():
        yield "the id is empty"
    if not label.question.strip():
        yield "the question is empty"
    if label.answerable and not label.relevant:
        yield "answerable, but names no relevant document; add one or set answerable to false"
    if not label.answerable and label.relevant:
        yield f"unanswerable, but names relevant documents; move a near one to a tag 'about:{label.relevant[0].doc}'"
    if not label.answerable and label.kind not in STRATA:
        near = _nearest(label.kind, STRATA)
        yield f"unanswerable, with kind {label.kind!r}{near}; allowed are {', '.join(STRATA)}"
    for item in label.relevant:
        if item.doc not in texts:
            yield f"relevant document {item.doc!r} is not there{_nearest(item.doc, texts.names)}"
        elif item.quote and _fold(item.quote) not in texts[item.doc]:
            yield f"the quote {_short(item.quote)!r} is not in {item.doc!r} word for word"
    for doc in label.about:
        if doc not in texts:
            yield f"document {doc!r} of the tag 'about:{doc}' is not there{_nearest(doc, texts.names)}"


class _FoldedTexts:
    """The documents with their white space folded, each once and only when a quote asks for it."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._documents = documents
        self._folded: dict[str, str] = {}

    @property
    def names(self) -> Iterable[str]:
        return self._documents

    def __contains__(self, name: str) -> bool:
        return name in self._documents

    def __getitem__(self, name: str) -> str:
        if name not in self._folded:
            self._folded[name] = _fold(self._documents[name])
        return self._folded[name]


def _fold(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    folded = _fold(text)
    return folded if len(folded) <= 60 else folded[:57] + "..."


def _nearest(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean {near[0]!r}?" if near else ""
