"""Judgements as they are given, key by key: each is on disk before the next, and each can be taken back."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from brainkit.errors import LabelsError, UsageError
from brainkit.labels import STRATA, Label, Relevant, load, save

SOURCE: Final = "labeller"
ACTIONS: Final = ("relevant", "not", "unanswerable", "skip", "done")


class Judgement(NamedTuple):
    """One key: ``action`` is one of ``ACTIONS``; ``what`` the document, or the kind of an unanswerable question."""

    question: str
    action: str
    what: str = ""


@dataclass
class Judged:
    """Where a question stands.

    Attributes:
        marks: document -> whether it answers the question.
        kind: of an unanswerable question, else ''.
        settled: nothing more is to be asked about it for now: judged, or skipped.
    """

    marks: dict[str, bool] = field(default_factory=dict)
    kind: str = ""
    settled: bool = False

    def take(self, judgement: Judgement) -> None:
        """Apply one key."""
        match judgement.action:
            case "relevant" | "not":
                self.marks[judgement.what] = judgement.action == "relevant"
                self.kind = "" if self.marks[judgement.what] else self.kind
            case "unanswerable":
                self.kind, self.settled = judgement.what, True
                self.marks = dict.fromkeys(self.marks, False)
            case _:
                self.settled = True


class Judgements:
    """The judgements of a labels file: labels go there, and every key to a journal beside it.

    The journal also keeps what a label has no place for: documents that were judged not to answer, and what was
    skipped. Undo takes the last key back, also one of an earlier session.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.journal = file.with_name(f".{file.name}.journal")
        self._made = list(self._read())

    def take(self, judgement: Judgement) -> None:
        """Keep one key: on disk when this returns.

        Raises:
            UsageError: there is no such action or kind.
            LabelsError: a file cannot be written or read.
        """
        if judgement.action not in ACTIONS or not judgement.question.strip():
            raise UsageError(f"action = {judgement.action!r} is not allowed: give one of {', '.join(ACTIONS)}")
        if judgement.action == "unanswerable" and judgement.what not in STRATA:
            raise UsageError(f"kind = {judgement.what!r} is not allowed: give one of {', '.join(STRATA)}")
        self._made.append(judgement)
        self._write(judgement.question)

    def undo(self) -> Judgement | None:
        """Take the last key back; None if there is none."""
        if not self._made:
            return None
        last = self._made.pop()
        self._write(last.question)
        return last

    def state(self, question: str) -> Judged:
        """Where a question stands."""
        judged = Judged()
        for judgement in self._made:
            if judgement.question == question:
                judged.take(judgement)
        return judged

    @property
    def last(self) -> Judgement | None:
        """The key that ``undo`` would take back."""
        return self._made[-1] if self._made else None

    def labels(self) -> list[Label]:
        """What the labels file holds now."""
        return load(self.file) if self.file.exists() else []

    # Inside

    def _write(self, question: str) -> None:
        """The journal first: from it the label can be made again, not the other way round."""
        lines = "".join(json.dumps(one._asdict(), ensure_ascii=False) + "\n" for one in self._made)
        _replace(self.journal, lines)
        labels = {label.id: label for label in self.labels()}
        name = label_id(question)
        made = _label(question, self.state(question), labels.get(name))
        if made is None and labels.get(name, Label("", "", False)).source == SOURCE:
            del labels[name]
        elif made is not None:
            labels[name] = made
        if labels or self.file.exists():
            save(self.file, labels.values())

    def _read(self) -> Iterator[Judgement]:
        try:
            text = self.journal.read_text("utf-8")
        except FileNotFoundError:
            return
        except (OSError, UnicodeDecodeError) as error:
            raise LabelsError(f"{self.journal} cannot be read: {error}") from None
        for line in text.split("\n"):
            with contextlib.suppress(ValueError, TypeError):  # a line that another program broke costs one key
                data: Mapping[str, Any] = json.loads(line)
                yield Judgement(**data)


def label_id(question: str) -> str:
    """The label's id follows from the question, so the same question is one label."""
    return "asked-" + hashlib.sha256(" ".join(question.split()).casefold().encode()).hexdigest()[:10]


def _label(question: str, judged: Judged, old: Label | None) -> Label | None:
    """The label that the judgements amount to, None as long as they amount to none; edits by hand are kept."""
    relevant = [name for name, answers in judged.marks.items() if answers]
    if not relevant and not judged.kind:
        return None
    base = old or Label(label_id(question), question, answerable=True, source=SOURCE)
    if judged.kind:
        return replace(base, answerable=False, relevant=(), kind=judged.kind)
    known: dict[str, Relevant] = {item.doc: item for item in base.relevant}
    kind = "" if base.kind in STRATA else base.kind
    documents = tuple(known.get(name) or Relevant(name) for name in relevant)
    return replace(base, answerable=True, relevant=documents, kind=kind)


def _replace(path: Path, text: str) -> None:
    """Write a file all or nothing, and wait for the disk."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise LabelsError(f"{path} cannot be written: {error.strerror or error}") from None


def undecided(questions: Sequence[str], judgements: Judgements) -> list[str]:
    """Questions that are not settled."""
    return [question for question in questions if not judgements.state(question).settled]
