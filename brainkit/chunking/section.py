"""Sections: stretches of a text that belong together, each under the path of headings or keys that lead to it."""

from __future__ import annotations

from typing import NamedTuple

MAX_HEADING_CHARS = 200
SEPARATOR = " > "


class Section(NamedTuple):
    """``text[start:end]``, the headings or keys in force there, outermost first, and what is repeated before it."""

    start: int
    end: int
    path: tuple[str, ...]
    lead: str = ""


def heading_of(path: tuple[str, ...]) -> str:
    """The path in one line of at most 200 characters; of a longer one the innermost names stay.

    Example:
        >>> heading_of(("Backups", "restic", "Restore"))
        'Backups > restic > Restore'
    """
    names = [" ".join(name[:MAX_HEADING_CHARS].split()) for name in path]
    kept = names[-1:]
    room = MAX_HEADING_CHARS - sum(map(len, kept))
    for name in reversed(names[:-1]):
        room -= len(name) + len(SEPARATOR)
        if room < 0:
            break
        kept.append(name)
    return SEPARATOR.join(reversed(kept))


def common_path(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    """The names both paths begin with."""
    if left == right:
        return left
    same = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        same += 1
    return left[:same]
