"""The evaluation harness: labelled questions in, a verdict with intervals out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainkit.eval.frames import Evaluation, evaluate

__all__ = ["Evaluation", "evaluate"]


def __getattr__(name: str) -> Any:
    """Imported when they are asked for: they take seconds to import, and the command line's help must not."""
    if name in __all__:
        from brainkit.eval import frames

        return getattr(frames, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
