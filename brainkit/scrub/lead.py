r"""The telling part of a pattern: a cheap first look that says whether the whole pattern is worth running over a text.

Every match of a pattern contains a match of its lead, and leads are short and without long repetitions, so that
hundreds of them run together in one small automaton.

Example:
    >>> lead(r"\bgh[pousr]_[A-Za-z0-9]{36,255}").pattern
    '\\bgh[pousr]_[A-Za-z0-9]'
    >>> lead(r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}")
    Lead(pattern='\\.atlasv1\\.[\\w-]', literals=9)
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\(\?[a-z]+\)|\((?:\?[a-z-]*:)?|[^\\\[(]", re.DOTALL)
_TIMES = re.compile(r"(?:\{(\d+)(,?)(\d*)\}|([*+?]))\??")
_MOST = 6  # repetitions that a lead follows
_ENDLESS = 10**9


class Lead(NamedTuple):
    """The lead of a pattern, and how many characters of it are fixed letters, figures or signs, at the least."""

    pattern: str
    literals: int


class _Read(NamedTuple):
    lead: Lead
    end: int
    complete: bool  # whether what follows in the pattern may be added to the lead


def lead(pattern: str) -> Lead:
    """The lead of a pattern in RE2 syntax: of each alternative the stretch with the most fixed characters."""
    flags = re.match(r"(?:\(\?[a-z]+\))?", pattern)
    start = flags.end() if flags else 0
    text, literals = _alternatives(pattern, start, inner=False).lead
    return Lead(pattern[:start] + text, literals)


def _alternatives(pattern: str, at: int, *, inner: bool) -> _Read:
    texts, fewest, complete = [], _ENDLESS, True
    while True:
        (text, literals), at, whole = _sequence(pattern, at, inner=inner)
        texts.append(text)
        fewest, complete = min(fewest, literals), complete and whole
        if at >= len(pattern) or pattern[at] == ")":
            return _Read(Lead("|".join(texts), fewest), at, complete)
        at += 1  # the bar


def _sequence(pattern: str, at: int, *, inner: bool) -> _Read:
    """Inside a group only the beginning is of use, since what came before it stays in the lead."""
    best, text, literals, going = Lead("", 0), "", 0, True
    while at < len(pattern) and pattern[at] not in "|)":
        atom = _ATOM.match(pattern, at)
        assert atom is not None  # every character starts an atom
        part, at, count, complete = atom.group(), atom.end(), 0, True
        if part[0] == "(" and part[-1] != ")":
            (inside, count), at, complete = _alternatives(pattern, at, inner=True)
            part, at = f"(?:{inside})", at + 1
        elif part[0] not in "\\[(." or (part[0] == "\\" and not part[1].isalnum()):
            count = int(part not in "^$")
        times = _TIMES.match(pattern, at)
        at = times.end() if times else at
        least, most = _times(times)
        if most > _MOST:
            most = least = min(least, _MOST if count else 1)
            complete = False
        if going and most:
            text += part if most == 1 == least else f"(?:{part}){{{least},{most}}}"
            literals += count * least
        going = going and complete
        if not going and not inner:
            best = max(best, Lead(text, literals), key=_telling)
            text, literals, going = "", 0, True
    last = Lead(text, literals)
    return _Read(last if inner else max(best, last, key=_telling), at, going)


def _telling(found: Lead) -> tuple[int, int]:
    return found.literals, len(found.pattern)


def _times(times: re.Match[str] | None) -> tuple[int, int]:
    """How often at least and at most."""
    if times is None:
        return 1, 1
    if times.group(4):
        return int(times.group(4) == "+"), 1 if times.group(4) == "?" else _ENDLESS
    least = int(times.group(1))
    if not times.group(2):
        return least, least
    return least, int(times.group(3)) if times.group(3) else _ENDLESS
