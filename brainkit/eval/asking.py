"""Ask one labelled question under every setting, and keep what it gave, so that it need not be asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from brainkit.brain import Brain
from brainkit.eval.comparison import HIT
from brainkit.eval.config import METRICS, EvalConfig
from brainkit.eval.metrics import parse_metric
from brainkit.eval.outcome import ChannelRanks, RankedQuestion
from brainkit.eval.records import label_digest
from brainkit.gate import LabelledEvidence
from brainkit.gate.judging import JudgedEvidence
from brainkit.gate.sufficiency import SUFFICIENCY
from brainkit.labels import Label, hidden_variant
from brainkit.retrieval import Evidence, Recall, RetrievalSettings, context_documents

DEPTH: Final = 10
LOOK: Final = 200
"""Chunks of either channel that are looked through for a document that is missed."""


@dataclass(frozen=True)
class Asked:
    """What a label gave: ranks under each setting if it is answerable, its evidence, and that with its note hidden."""

    label: str
    digest: str
    ranked: tuple[RankedQuestion, ...]
    evidence: tuple[LabelledEvidence, ...]

    def to_dict(self) -> dict[str, Any]:
        """For a line of JSON; ``from_dict`` reads it back."""
        return {
            "id": self.label,
            "digest": self.digest,
            "ranked": [asdict(row) for row in self.ranked],
            "evidence": [
                {"stratum": one.stratum, "hidden": one.hidden, "values": _values(one.evidence)} for one in self.evidence
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Asked:
        """What ``to_dict`` made.

        Raises:
            KeyError, TypeError: it is something else.
        """
        ranked = [
            RankedQuestion(
                **{
                    **row,
                    "top": tuple(row["top"]),
                    "channels": {doc: ChannelRanks(*ranks) for doc, ranks in row["channels"].items()},
                }
            )
            for row in data["ranked"]
        ]
        evidence = [
            LabelledEvidence(data["id"], one["stratum"], _evidence(one["values"]), one["hidden"])
            for one in data["evidence"]
        ]
        return cls(data["id"], data["digest"], tuple(ranked), tuple(evidence))


def digest_of(label: Label) -> str:
    """Changes with all of a label that changes what it gives."""
    return label_digest(f"{label.question}\0{label.stratum}", label.grades)


def ask(brain: Brain, label: Label, config: EvalConfig) -> Asked:
    """Ask it under every setting, then as the gates see it, then with its documents hidden."""
    ranked = rank(brain, label, config) if label.answerable else ()
    found = [LabelledEvidence(label.id, label.stratum, brain.evidence(label.question))]
    if label.answerable and label.relevant:
        hidden = hidden_variant(label)
        evidence = brain.evidence(hidden.question, hidden.exclude_documents)
        found.append(LabelledEvidence(label.id, hidden.stratum, evidence, hidden=True))
    if SUFFICIENCY in config.gates:
        for item in found if config.gate == SUFFICIENCY else found[:1]:
            if isinstance(item.evidence, JudgedEvidence):
                item.evidence.sufficiency  # noqa: B018 - asked now, and kept in the evidence
    return Asked(label.id, digest_of(label), ranked, tuple(found))


def rank(brain: Brain, label: Label, config: EvalConfig) -> tuple[RankedQuestion, ...]:
    """One answerable question under every setting."""
    metrics = [parse_metric(name) for name in METRICS]
    recalls = brain.recall_each(label.question, list(config.settings.values()), k=DEPTH)
    found = []
    for name, recall in zip(config.settings, recalls, strict=True):
        paths = [_name(document.path, document.source, label.grades) for document in recall.documents]
        hits = [place for place, path in enumerate(paths, 1) if path in label.grades]
        values = {str(metric): metric(paths, label.grades) for metric in metrics}
        is_main = name == config.main
        given = _relevant_given(recall, label.grades) if is_main else None
        channels = _channels(brain, label, paths) if is_main and not (values[HIT] and given) else {}
        found.append(
            RankedQuestion(
                label.id, name, values, hits[0] if hits else 0, tuple(paths[:DEPTH]), recall.latency_ms, given, channels
            )
        )
    return tuple(found)


def _channels(brain: Brain, label: Label, paths: Sequence[str]) -> dict[str, ChannelRanks]:
    """Where either channel has the documents that are missed, among its documents."""
    deep = brain.recall(label.question, 2 * LOOK, RetrievalSettings(dense=LOOK, lexical=LOOK))
    by_channel: list[list[str]] = []
    for channel in ("dense_rank", "lexical_rank"):
        places = [(getattr(chunk, channel), chunk) for chunk in deep.chunks if getattr(chunk, channel)]
        names = [
            _name(chunk.document_path, chunk.source, label.grades)
            for _, chunk in sorted(places, key=lambda one: one[0])
        ]
        by_channel.append(list(dict.fromkeys(names)))
    return {
        doc: ChannelRanks(_place(doc, paths), *(_place(doc, names) for names in by_channel)) for doc in label.grades
    }


def _place(doc: str, names: Sequence[str]) -> int:
    return names.index(doc) + 1 if doc in names else 0


def _relevant_given(recall: Recall, grades: Mapping[str, int]) -> bool:
    """Whether a relevant document, or a near-copy of one, is among those an answer is given."""
    given = context_documents(recall, RetrievalSettings.parse(recall.settings).docs)
    return any(_name(one.path, one.source, grades) in grades for first, also in given for one in (first, *also))


def _name(path: str, source: str, grades: Mapping[str, int]) -> str:
    full = f"{source}:{path}"
    return full if full in grades else path


def _values(evidence: Evidence) -> dict[str, Any]:
    """Its numbers, and the language model's judgement if it was asked for."""
    return {name: value for name, value in vars(evidence).items() if name != "read"}


def _evidence(values: Mapping[str, Any]) -> Evidence:
    plain = {one.name: values[one.name] for one in fields(Evidence)}
    if SUFFICIENCY not in values:
        return Evidence(**plain)
    judgement = float(values[SUFFICIENCY])
    return JudgedEvidence(**plain, read=lambda: judgement)
