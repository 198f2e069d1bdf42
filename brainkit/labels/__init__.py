"""Labels: questions people ask, and what in the notes answers them or that nothing does.

A label names documents and quotes, never chunks, so one set serves every chunking. On disk a set is
``questions.jsonl``: one object a line, sorted by id, keys in a fixed order.
"""

from brainkit.labels.checking import Problem, check
from brainkit.labels.drafting import DRAFTS, Topic, drafted, topics
from brainkit.labels.feedback import FEEDBACK, VERDICTS, Review, Said, label_of, settled, verdict_of
from brainkit.labels.given import given_labels, scrubbed
from brainkit.labels.hiding import HiddenVariant, hidden_variant
from brainkit.labels.jsonl import load, merge, save
from brainkit.labels.model import STRATA, Label, Relevant

__all__ = [
    "DRAFTS",
    "FEEDBACK",
    "STRATA",
    "VERDICTS",
    "HiddenVariant",
    "Label",
    "Problem",
    "Relevant",
    "Review",
    "Said",
    "Topic",
    "check",
    "drafted",
    "given_labels",
    "hidden_variant",
    "label_of",
    "load",
    "merge",
    "save",
    "scrubbed",
    "settled",
    "topics",
    "verdict_of",
]
