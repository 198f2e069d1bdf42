"""The labeller: questions people asked, documents that several settings find, and a key for each judgement."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import anywidget
import traitlets

from brainkit.brain import Brain
from brainkit.errors import BrainkitError
from brainkit.labels import Label
from brainkit.scrub import Scrubber
from brainkit.widgets.front import front, mimebundle
from brainkit.widgets.judgements import SOURCE, Judgement, Judgements
from brainkit.widgets.pool import RETRIEVALS, Candidate, logged_questions, pool, unlabelled

SHOWN_CHARS = 50_000
KINDS: Final = {
    "off_topic": "nothing in the notes is near",
    "missing_note": "the subject is theirs, that note is not there",
    "missing_detail": "the note is there, the detail is not",
    "false_premise": "it takes for granted what the notes contradict",
}


class Labeller(anywidget.AnyWidget):
    """Judge question after question; each key is on disk before the next (see ``Judgements``).

    Questions and notes travel in messages and are never part of the widget's state, so no notebook keeps them.

    Args:
        brain: whose notes are searched.
        file: labels file; made with the first label.
        questions: what to judge; those of the brain's log if None. Those that have a label already are left out.
        retrievals: settings whose first documents are judged, by name.

    Raises:
        LabelsError: the labels file is wrong.
    """

    _esm = front("dom.js", "labeller.js")
    _css = front("base.css", "labeller.css")
    kinds = traitlets.Dict(KINDS).tag(sync=True)

    def __init__(
        self,
        brain: Brain,
        file: Path | str = "questions.jsonl",
        questions: Sequence[str] | None = None,
        retrievals: Mapping[str, str] = RETRIEVALS,
    ) -> None:
        self._brain = brain
        self._retrievals = retrievals
        self._judgements = Judgements(Path(file).resolve())
        self._scrubber = Scrubber(email=brain.settings.scrub_email, rules=brain.settings.scrub_rules)
        asked = logged_questions(brain) if questions is None else questions
        elsewhere = [label.question for label in self._judgements.labels() if label.source != SOURCE]
        self._queue = unlabelled([self._scrubber.scrub(text).text for text in asked], elsewhere)
        self._current = self._next()
        self._pools: dict[str, list[Candidate]] = {}
        self._busy = threading.Lock()  # messages may come on several threads
        super().__init__()
        self.on_msg(self._on_message)

    @property
    def labels(self) -> list[Label]:
        """What the labels file holds."""
        return self._judgements.labels()

    def judge(self, action: str, what: str = "") -> None:
        """Judge the question that is shown, as a key does; ``what`` is a document or a kind.

        Raises:
            UsageError: there is no such action or kind, or no question is left.
            LabelsError: the judgement could not be kept.
        """
        self._judgements.take(Judgement(self._current, action, what))
        if self._judgements.state(self._current).settled:
            self._current = self._next()

    def undo(self) -> None:
        """Take the last judgement back, and show its question."""
        undone = self._judgements.undo()
        if undone is not None:
            self._current = undone.question
            self._queue = unlabelled([*self._queue, undone.question], [])

    def add(self, question: str) -> None:
        """Judge a question that is not in the list next; its secrets are taken out first."""
        added = unlabelled([self._scrubber.scrub(question).text], [])
        self._queue = unlabelled([*added, *self._queue], [])
        self._current = added[0] if added else self._current

    def __repr__(self) -> str:
        return f"Labeller of {self._judgements.file.name}: {self._left()} of {len(self._queue)} questions to judge"

    # Inside

    def _left(self) -> int:
        return sum(not self._judgements.state(question).settled for question in self._queue)

    def _next(self) -> str:
        return next((question for question in self._queue if not self._judgements.state(question).settled), "")

    def _on_message(self, _widget: object, content: dict[str, Any], _buffers: object) -> None:
        with self._busy:
            try:
                match content["type"]:
                    case "judge":
                        self.judge(str(content["action"]), str(content.get("what", "")))
                    case "undo":
                        self.undo()
                    case "add":
                        self.add(str(content["question"]))
                    case "open":
                        self.send(self._opened(str(content["name"])))
                        return
                self.send(self._state())
            except BrainkitError as error:
                self.send({"type": "failed", "text": str(error)})

    def _state(self) -> dict[str, Any]:
        judged, last = self._judgements.state(self._current), self._judgements.last
        return {
            "type": "state",
            "question": self._current,
            "left": self._left(),
            "total": len(self._queue),
            "labels": len(self.labels),
            "file": self._judgements.file.name,
            "kind": judged.kind,
            "undo": f"{last.action} {last.what}".strip() if last else "",
            "candidates": [
                {**one._asdict(), "found": list(one.found), "mark": judged.marks.get(one.name)}
                for one in self._candidates()
            ],
        }

    def _candidates(self) -> list[Candidate]:
        if not self._current:
            return []
        if self._current not in self._pools:
            self._pools[self._current] = pool(self._brain, self._current, self._retrievals)
        return self._pools[self._current]

    def _opened(self, name: str) -> dict[str, Any]:
        text = self._brain.document_texts().get(name, "")
        return {"type": "opened", "name": name, "text": text[:SHOWN_CHARS] + ("\n…" if len(text) > SHOWN_CHARS else "")}

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        return mimebundle(super()._repr_mimebundle_(**kwargs), repr(self))
