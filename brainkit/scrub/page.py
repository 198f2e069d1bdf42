"""The text as RE2 reads it, one byte a character, and patterns that look before they run.

RE2 (google-re2) takes time linear in the text for every pattern. On ``str`` it converts offsets at each match; on bytes
of one character each none are converted. Characters beyond Latin-1, lone surrogates among them, become ``?``: no rule
tells them apart.

The patterns of the room share two automata of their leads (``lead.py``), run once a text; a pattern whose lead is not
in the text costs nothing more.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, ClassVar

import re2

from brainkit.scrub.lead import lead

_STRAIGHT = {
    **dict.fromkeys("\u201c\u201d\u201e", '"'),
    **dict.fromkeys("\u2018\u2019\u201a", "'"),
    "\u2028": "\n",
    "\u2029": "\n",
    "\u00a0": " ",
    "\u2192": "\u00bb",  # an arrow, as a sign that is kept
}
_SELECTIVE = 3  # a lead with fewer fixed characters is in nearly every text


class Page:
    """One text under the scrub: ``text`` and ``data`` have the same length, character for byte."""

    def __init__(self, text: str) -> None:
        if not text.isascii():
            for curly, straight in _STRAIGHT.items():
                text = text.replace(curly, straight)
        self.data = text.encode("latin-1", "replace")
        self.text = text if text.isascii() else self.data.decode("latin-1")

    @functools.cached_property
    def seen(self) -> frozenset[int]:
        """Numbers of the patterns whose lead is in the text."""
        return frozenset(numbers[i] for numbers, made in _leads() for i in made.Match(self.data) or ())


class Pattern:
    """A pattern in RE2 syntax, compiled when first needed.

    ``first_look`` takes the place of the lead where that found by itself is in too many texts; "" makes the pattern run
    over every text, which costs less than a lead of hundreds of words does in the shared automaton.
    """

    leads: ClassVar[list[str]] = []

    def __init__(self, pattern: str, *, ignore_case: bool = False, first_look: str | None = None) -> None:
        self.source = f"(?i){pattern}" if ignore_case else pattern
        self.number = -1
        if first_look is None:
            found = lead(self.source)
            first_look = found.pattern if found.literals >= _SELECTIVE else ""
        if first_look:
            self.number = len(self.leads)
            self.leads.append(first_look)

    @functools.cached_property
    def compiled(self) -> Any:
        """The pattern for RE2; raises ``re2.error`` when RE2 cannot run it (look-around, back-references)."""
        return re2.compile(self.source.encode("latin-1"), options())

    @functools.cached_property
    def groups(self) -> tuple[int, ...]:
        """Numbers of the groups, 0 where there are none."""
        return tuple(range(1, self.compiled.groups + 1)) or (0,)

    def matches(self, page: Page) -> Iterator[Any]:
        """All matches on a page, as RE2 gives them."""
        if self.number < 0 or self.number in page.seen:
            return self.compiled.finditer(page.data)  # type: ignore[no-any-return]  # re2 has no types
        return iter(())

    def spans(self, page: Page, group: int = 0) -> Iterator[tuple[int, int]]:
        """Where the pattern, or one group of it, matches."""
        if self.number >= 0 and self.number not in page.seen:
            return iter(())
        return (span for match in self.compiled.finditer(page.data) if (span := match.span(group))[0] >= 0)


def options() -> Any:
    """RE2's options for patterns over a page's bytes."""
    made = re2.Options()
    made.encoding = re2.Options.Encoding.LATIN1
    made.log_errors = False
    return made


def union(patterns: list[str]) -> Any:
    """One automaton of many patterns; its ``Match`` gives the numbers of those that occur."""
    settings = options()
    settings.max_mem = 64 << 20
    made = re2.Set.SearchSet(settings)
    for pattern in patterns:
        made.Add(pattern.encode("latin-1"))
    made.Compile()
    return made


@functools.cache
def _leads() -> list[tuple[list[int], Any]]:
    """Apart for either case and for both: together they would be an automaton of many more states, and so slower."""
    parts: tuple[list[int], list[int]] = ([], [])
    for number, pattern in enumerate(Pattern.leads):
        parts[pattern.startswith("(?i")].append(number)
    return [(numbers, union([Pattern.leads[n] for n in numbers])) for numbers in parts]
