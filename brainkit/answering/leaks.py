"""Takes our own instructions out of what a model says: runs of words that stand in them and in no note."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

RUN: Final = 8
"""Words in a row that count as a repetition."""
KEPT: Final = 2
"""First words of a repetition that stay: nothing by themselves, and a stream need not wait for what follows them."""


class Leaks:
    """Knows our words, and those that may be said since notes or the question hold them too.

    Example:
        >>> leaks = Leaks("Answer only from the documents that come with the question.", [])
        >>> leaks.remove("Sure: answer ONLY from the documents that come with the question! Bye.")
        'Sure: answer ONLY! Bye.'
    """

    def __init__(self, own: str, allowed: Iterable[str], mark: str = "") -> None:
        words = _words(own)
        self._runs = {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}
        for text in allowed:
            said = _words(text)
            self._runs.difference_update(tuple(said[i : i + RUN]) for i in range(len(said) - RUN + 1))
        self._starts = {run[:n] for run in self._runs for n in range(KEPT + 1, RUN)}
        self._mark = mark

    def remove(self, text: str) -> str:
        """The text without repetitions and without the mark."""
        if self._mark:
            text = re.sub(re.escape(self._mark), "", text, flags=re.IGNORECASE)
        found = list(re.finditer(r"\w+", text))
        words = [match[0].casefold() for match in found]
        hit = {
            n for i in range(len(words) - RUN + 1) if tuple(words[i : i + RUN]) in self._runs for n in range(i, i + RUN)
        }
        for first, last in reversed(_ranges(sorted(hit))):
            text = text[: found[first + KEPT - 1].end()] + text[found[last].end() :]
        return text

    def held_from(self, text: str) -> int:
        """Where the end of a text begins that may become a repetition; the text's length if it may not."""
        found = list(re.finditer(r"\w+", text))
        words = [match[0].casefold() for match in found]
        for size in range(min(RUN - 1, len(words)), KEPT, -1):
            start = len(words) - size
            if tuple(words[start:]) in self._starts:
                while start and tuple(words[start - 1 : start - 1 + RUN]) in self._runs:
                    start -= 1
                return found[start + KEPT - 1].end()
        return len(text)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in re.findall(r"\w+", text)]


def _ranges(numbers: list[int]) -> list[tuple[int, int]]:
    """First and last of each run of neighbours."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
