"""Whether a passage holds the kind of thing a question asks for: a time, a number, a command."""

from __future__ import annotations

import re
from typing import Final

_KINDS: Final = (
    (
        re.compile(r"\b(when|wann|what (time|year|date|day)|since when|seit wann)\b", re.IGNORECASE),
        re.compile(
            r"\d{1,2}:\d\d|\b(19|20)\d\d\b|\b\d{1,2}\. ?[A-ZÄ]|\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
            r"|\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mai|Okt|Dez)"
        ),
    ),
    (
        re.compile(
            r"\b(how (many|much|long|often|old|far|big)|wie ?(viele?|lange|oft|alt|groß)|port|version)\b", re.IGNORECASE
        ),
        re.compile(r"\d"),
    ),
    (
        re.compile(r"\b(which|what|welcher?) (command|befehl)|\bhow (do|can) I\b|\bwie kann ich\b", re.IGNORECASE),
        re.compile(r"`|^\s*[$#>] |^    \S", re.MULTILINE),
    ),
)  # fmt: skip
"""What a question begins with or names, and what an answer to it looks like."""


def expected_answer(question: str, passage: str) -> float:
    """1 if the passage holds what the question asks for, -1 if it does not, 0 if the question does not tell.

    Source: answer typing, Li and Roth 2002, doi:10.3115/1072228.1072378, by a few patterns instead of a classifier.

    Example:
        >>> expected_answer("When was it changed?", "It was changed in May."), expected_answer("When?", "It was red.")
        (1.0, -1.0)
        >>> expected_answer("Which image does it run?", "It runs 2.14.")
        0.0
    """
    answer = next((answer for asked, answer in _KINDS if asked.search(question)), None)
    return 0.0 if answer is None else 1.0 if answer.search(passage) else -1.0
