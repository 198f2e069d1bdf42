"""What every embedder does to a text first: make it encodable, and cut what is too long into overlapping windows."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

logger = logging.getLogger(__name__)

BLANK = "."
"""Stands in for a text without a visible character: no model defines a vector for nothing, and servers refuse it."""
MAX_WINDOWS = 64
"""A longer text is sampled by this many windows spread evenly over it, so that one text cannot take minutes."""


def clean(text: str) -> str:
    r"""The text without NUL, lone surrogates replaced by U+FFFD, and :data:`BLANK` where nothing visible is left.

    Example:
        >>> clean("a\0b"), clean(" \n"), clean("x\ud800") == "x\ufffd"
        ('ab', '.', True)
    """
    text = text.replace("\0", "")
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text if text.strip() else BLANK


def windows(length: int, size: int, overlap: int) -> list[slice]:
    """Equally long windows of at most ``size`` that cover ``length`` and share at least ``overlap`` with the next.

    Equal lengths make the plain mean of the windows' vectors the mean weighted by length.
    Beyond :data:`MAX_WINDOWS` they lie evenly spread with gaps between them, which is logged.

    Example:
        >>> windows(10, 6, 2)
        [slice(0, 6, None), slice(4, 10, None)]
        >>> windows(5, 6, 2)
        [slice(0, 5, None)]
    """
    if length <= size:
        return [slice(0, length)]
    count = math.ceil((length - overlap) / (size - overlap))
    if count > MAX_WINDOWS:
        logger.warning("a text of %d units is embedded by %d windows of %d, not whole", length, MAX_WINDOWS, size)
        count = MAX_WINDOWS
    else:
        size = math.ceil((length + (count - 1) * overlap) / count)
    starts = [round(i * (length - size) / (count - 1)) for i in range(count)]
    return [slice(start, start + size) for start in starts]


def normalised(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Rows of length 1 (a row of zeros stays one), as float32; finite numbers of any size are fine."""
    wide = vectors.astype(np.float64)
    largest = np.abs(wide).max(axis=-1, keepdims=True, initial=0)
    wide /= np.where(largest > 0, largest, 1)  # so that no square overflows or vanishes
    lengths = np.linalg.norm(wide, axis=-1, keepdims=True)
    unit: NDArray[np.float32] = (wide / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit
