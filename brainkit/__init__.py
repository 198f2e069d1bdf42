"""Ask your own notes; get an answer only when they hold one, and know, with numbers, how honest that is.

>>> from brainkit import Brain, Settings
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainkit.answering import DeltaEvent, DoneEvent, Reply, ThinkingEvent
    from brainkit.brain import Brain
    from brainkit.errors import BrainkitError
    from brainkit.gate import Certificate, Decision
    from brainkit.ingestion import ImportReport
    from brainkit.labels import Label
    from brainkit.retrieval import Recall, RetrievalSettings
    from brainkit.settings import Settings

__version__ = "0.1.0"
_HOMES = {
    "Brain": "brainkit.brain",
    "BrainkitError": "brainkit.errors",
    "Certificate": "brainkit.gate",
    "Decision": "brainkit.gate",
    "DeltaEvent": "brainkit.answering",
    "DoneEvent": "brainkit.answering",
    "Filters": "brainkit.retrieval",
    "ImportReport": "brainkit.ingestion",
    "Label": "brainkit.labels",
    "Recall": "brainkit.retrieval",
    "Reply": "brainkit.answering",
    "RetrievalSettings": "brainkit.retrieval",
    "Settings": "brainkit.settings",
    "ThinkingEvent": "brainkit.answering",
}
__all__ = [
    "Brain",
    "BrainkitError",
    "Certificate",
    "Decision",
    "DeltaEvent",
    "DoneEvent",
    "Filters",
    "ImportReport",
    "Label",
    "Recall",
    "Reply",
    "RetrievalSettings",
    "Settings",
    "ThinkingEvent",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: ``import brainkit`` alone costs nothing."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'brainkit' has no attribute {name!r}")
