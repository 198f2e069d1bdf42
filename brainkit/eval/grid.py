"""A grid in one retrieval string: ``hybrid(dense=[10,30],fusion=rrf,k=[10,60])`` stands for every combination."""

from __future__ import annotations

import itertools
import re
from typing import Final

from brainkit.errors import UsageError
from brainkit.retrieval import RetrievalSettings

MOST: Final = 1_000
"""Settings a grid may stand for."""
_LIST: Final = re.compile(r"(\w+)\s*([=(])\s*\[([^\[\]]*)\]")


def expand(name: str, text: str) -> dict[str, RetrievalSettings]:
    """Settings by name: the one the string is, or, where it holds lists, each combination of their values.

    Raises:
        RetrievalSettingsError: one of them does not parse.
        UsageError: a list is empty, or they stand for too many settings.

    Example:
        >>> [name for name in expand("rrf", "hybrid(dense=[10,30],fusion=rrf,k=60)")]
        ['rrf dense=10', 'rrf dense=30']
    """
    lists = list(_LIST.finditer(text))
    if not lists:
        return {name: RetrievalSettings.parse(text)}
    choices = [[value.strip() for value in found[3].split(",") if value.strip()] for found in lists]
    if not all(choices):
        raise UsageError(f"{name} = {text!r} holds an empty list: give values, such as dense=[10,30]")
    count = 1
    for one_list in choices:
        count *= len(one_list)
    if count > MOST:
        raise UsageError(f"{name} = {text!r} stands for {count} settings, {MOST} at most are allowed")
    settings = {}
    for values in itertools.product(*choices):
        one, chosen = text, []
        for found, value in zip(reversed(lists), reversed(values), strict=True):  # from behind, so that places stay
            one = one[: found.start()] + found[1] + found[2] + value + one[found.end() :]
            chosen.append(f"{found[1]}={value}")
        settings[" ".join([name, *reversed(chosen)])] = RetrievalSettings.parse(one)
    return settings
