"""Widgets for notebooks: the chat, the calibrator and the labeller, and the workbench these stand on.

They need the extra ``jupyter``; each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainkit.widgets.calibrator import Calibrator
    from brainkit.widgets.chat import Chat
    from brainkit.widgets.comparison import Comparison, compare_gates
    from brainkit.widgets.labeller import Labeller
    from brainkit.widgets.pool import logged_questions
    from brainkit.widgets.progress import NotebookProgress
    from brainkit.widgets.workbench import Workbench, open_workbench

_HOMES = {
    "Calibrator": "calibrator",
    "Chat": "chat",
    "Comparison": "comparison",
    "Labeller": "labeller",
    "NotebookProgress": "progress",
    "Workbench": "workbench",
    "compare_gates": "comparison",
    "logged_questions": "pool",
    "open_workbench": "workbench",
}
__all__ = [
    "Calibrator",
    "Chat",
    "Comparison",
    "Labeller",
    "NotebookProgress",
    "Workbench",
    "compare_gates",
    "logged_questions",
    "open_workbench",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"brainkit.widgets.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
