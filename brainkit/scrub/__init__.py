"""No secret passes: text goes in, the same text without its secrets comes out, labels and lines kept.

Example:
    >>> scrub("db_password: s3cr3t-Pa55").text
    'db_password: [REDACTED:password]'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainkit.scrub.engine import SCRUB_VERSION, Scrubber, scrub
from brainkit.scrub.result import Finding, ScrubResult

if TYPE_CHECKING:
    from brainkit.scrub.transform import ScrubTransform

__all__ = ["SCRUB_VERSION", "Finding", "ScrubResult", "ScrubTransform", "Scrubber", "scrub"]


def __getattr__(name: str) -> object:
    if name == "ScrubTransform":  # llama_index takes seconds to import, scrub() must not
        from brainkit.scrub.transform import ScrubTransform

        return ScrubTransform
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
