"""Labels: questions people ask, and what in the notes answers them or that nothing does.

A label names documents and quotes, never chunks, so one set serves every chunking. On disk a set is
``questions.jsonl``: one object a line, sorted by id, keys in a fixed order.
"""

from brainkit.labels.checking import Problem, check
from brainkit.labels.given import given_labels, scrubbed
from brainkit.labels.hiding import HiddenVariant, hidden_variant
from brainkit.labels.jsonl import load, merge, save
from brainkit.labels.model import STRATA, Label, Relevant

__all__ = [
    "STRATA",
    "HiddenVariant",
    "Label",
    "Problem",
    "Relevant",
    "check",
    "given_labels",
    "hidden_variant",
    "load",
    "merge",
    "save",
    "scrubbed",
]
