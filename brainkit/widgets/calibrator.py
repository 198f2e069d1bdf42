"""The calibrator: where the gate's threshold lies, what it lets through, what it promises; and to set it."""

from __future__ import annotations

import dataclasses
from typing import Any

import anywidget
import traitlets
from IPython.display import Image

from brainkit.errors import BrainkitError, UsageError
from brainkit.gate import Certificate, Gate, allowed_false_answers, certify, clopper_pearson
from brainkit.labels import Label
from brainkit.widgets.front import front, mimebundle
from brainkit.widgets.numbers import make_sample, tally
from brainkit.widgets.picture import calibration_picture
from brainkit.widgets.workbench import Workbench

SHOWN_DOCUMENTS = 5
SHOWN_CHARS = 20_000
"""Of a document in the widget: more than one reads there; it says when there is more."""


class Calibrator(anywidget.AnyWidget):
    """A slider over the scores of labelled questions; the threshold it stands at is ``threshold``.

    Questions and notes travel in messages and are never part of the widget's state, so no notebook keeps them.

    Args:
        bench: the brain and its labelled questions.
        gate: the brain's own if None.
        alpha: highest share of unanswerable questions that may be answered, 0..1.
        delta: probability that the promise is wrong, 0..1.

    Raises:
        UsageError: there is no labelled question, or alpha or delta is out of range.
    """

    _esm = front("numbers.js", "dom.js", "calibrator.js")
    _css = front("base.css", "calibrator.css")
    gate = traitlets.Unicode().tag(sync=True)
    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    scores = traitlets.Bytes().tag(sync=True)
    groups = traitlets.Bytes().tag(sync=True)
    alpha = traitlets.Float(0.1).tag(sync=True)
    delta = traitlets.Float(0.1).tag(sync=True)
    threshold = traitlets.Float(0.0).tag(sync=True)
    in_force = traitlets.Float(0.0).tag(sync=True)
    certified = traitlets.Float(None, allow_none=True).tag(sync=True)
    promise = traitlets.Unicode().tag(sync=True)

    def __init__(self, bench: Workbench, gate: Gate | None = None, alpha: float = 0.1, delta: float = 0.1) -> None:
        allowed_false_answers(1, alpha, delta)  # a wrong alpha or delta has to fail before the questions are asked
        self._bench = bench
        self._gate = gate or bench.brain.gate
        self._asked = bench.labelled
        if not self._asked:
            raise UsageError(f"{bench.file}: no labelled question; make some with 04_label_questions.ipynb")
        self._labels: dict[str, Label] = {label.id: label for label in bench.labels}
        self.sample = make_sample(self._asked, self._gate)
        in_force = bench.brain.threshold(self._gate).value
        super().__init__(
            gate=self._gate.name,
            names=list(self.sample.names),
            scores=self.sample.scores.astype("<f8").tobytes(),
            groups=self.sample.groups.tobytes(),
            alpha=alpha,
            delta=delta,
            in_force=in_force,
            threshold=in_force,
        )
        self._certify()
        if self.certified is not None:
            self.threshold = self.certified
        self.observe(self._certify, ["alpha", "delta"])
        self.observe(self._promise, "threshold")
        self.on_msg(self._on_message)

    @traitlets.validate("alpha", "delta")
    def _between_0_and_1(self, proposal: Any) -> float:
        if not 0 < proposal["value"] < 1:
            raise traitlets.TraitError(f"{proposal['trait'].name} = {proposal['value']}: give a number between 0 and 1")
        return float(proposal["value"])

    @property
    def certificate(self) -> Certificate:
        """For alpha and delta, at the slider's threshold; where that is not certified, at the lowest one that is."""
        lowest = self._lowest
        if lowest.threshold is None or self.threshold <= lowest.threshold:
            return lowest
        return self._raised(lowest, self.threshold)

    def use(self) -> Certificate:
        """Keep the certificate at the slider's threshold, and the labels: the brain's gate uses it from now on.

        When the notes change, the brain makes it anew from the labels, at the lowest threshold that is certified then.

        Raises:
            UsageError: that threshold is not certified for alpha and delta.
        """
        lowest = self._lowest
        if lowest.threshold is None:
            raise UsageError(lowest.promise())
        if self.threshold < lowest.threshold:
            raise UsageError(
                f"{self.threshold:.4f} is below the lowest certified threshold, {lowest.threshold:.4f}: take a larger "
                f"alpha, or set BOR_RELEVANCE_THRESHOLD={self.threshold:.4f}, which promises nothing"
            )
        kept = self.certificate
        self._bench.keep_labels()
        self._bench.brain.keep_certificate(kept)
        self.in_force = self._bench.brain.threshold(self._gate).value
        return kept

    def picture(self) -> Image:
        """The same as a picture: what a saved notebook shows."""
        return calibration_picture(self.sample, self.threshold, self.gate)

    def __repr__(self) -> str:
        groups = ", ".join(
            f"{row.answered} of {row.n} {row.name.replace('_', ' ')}" for row in tally(self.sample, self.threshold)
        )
        return f"Calibrator of the {self.gate} gate at {self.threshold:.4f}; answered: {groups}"

    # Inside

    def _certify(self, _change: object = None) -> None:
        self._lowest = certify(
            self._gate,
            self._asked,
            alpha=self.alpha,
            delta=self.delta,
            fingerprint=self._bench.brain.fingerprint(self._gate),
            corpus=self._bench.corpus,
        )
        self.certified = self._lowest.threshold
        self._promise()

    def _promise(self, _change: object = None) -> None:
        below = self.certified is not None and self.threshold < self.certified
        said = f"{self.threshold:.4f} is not certified; {self.certified:.4f} is. " if below else ""
        self.promise = said + self.certificate.promise()

    def _raised(self, lowest: Certificate, threshold: float) -> Certificate:
        """The certificate at a higher threshold.

        The rule goes down from the highest score and stops before the first threshold that fails its test, so all
        above the lowest certified one are certified together with it, of every stratum by itself too.
        """
        answerable, *others = tally(self.sample, threshold)
        strata = dict(lowest.strata)
        for row in others:
            covered = lowest.strata[row.name].covered or (
                row.answered <= allowed_false_answers(row.n, self.alpha, self.delta)
            )
            low, high = clopper_pearson(row.answered, row.n)
            strata[row.name] = dataclasses.replace(
                strata[row.name],
                answered=row.answered,
                low=low,
                high=high,
                covered=covered,
                missing=0 if covered else strata[row.name].missing,
            )
        passed = tuple(
            sorted(
                item.label
                for item, score in zip(self._asked, self.sample.scores, strict=True)
                if item.stratum and not item.hidden and score >= threshold
            )
        )
        return dataclasses.replace(
            lowest, threshold=threshold, answered=answerable.answered, strata=strata, passed=passed
        )

    def _on_message(self, _widget: object, content: dict[str, Any], _buffers: object) -> None:
        try:
            if content["type"] == "ready":
                self.send({"type": "questions", "items": [self._shown(number) for number in range(len(self._asked))]})
            elif content["type"] == "open":
                self.send({"type": "opened", **self._opened(int(content["index"]))})
            elif content["type"] == "use":
                self.threshold = float(content["threshold"])
                kept = self.use()
                self.send({"type": "said", "ok": True, "text": f"In use from now on. {kept.promise()}"})
        except BrainkitError as error:
            self.send({"type": "said", "ok": False, "text": str(error)})

    def _shown(self, number: int) -> dict[str, Any]:
        item = self._asked[number]
        return {"question": self._labels[item.label].question, "hidden": item.hidden}

    def _opened(self, number: int) -> dict[str, Any]:
        """Evidence and documents of one question, as the gate saw it: hidden documents are left out again."""
        item = self._asked[number]
        label = self._labels[item.label]
        brain = self._bench.brain
        recall = brain.recall(label.question, exclude_documents=tuple(label.grades) if item.hidden else ())
        documents = [
            {
                "path": document.path,
                "title": document.title,
                "relevant": bool({document.path, f"{document.source}:{document.path}"} & set(label.grades)),
                "text": document.content[:SHOWN_CHARS] + ("\n…" if len(document.content) > SHOWN_CHARS else ""),
            }
            for document in recall.documents[:SHOWN_DOCUMENTS]
        ]
        return {
            "index": number,
            "score": float(self.sample.scores[number]),
            "evidence": dataclasses.asdict(item.evidence),
            "documents": documents,
        }

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        return mimebundle(super()._repr_mimebundle_(**kwargs), repr(self))
