"""All that is done to what a model says before anybody sees it, on pieces as they come and on the whole at the end."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from brainkit.answering.citations import Checked, Citations, tidy
from brainkit.answering.leaks import Leaks
from brainkit.answering.links import Links

LONGEST_HELD: Final = 400
"""Characters of an unfinished link or tag that are waited for."""
_OPEN: Final = re.compile(r"!*\[[^\[\]]*(?:\](?:\([^()]*)?)?$|\\*<[^<>\n]*$")


class Checker(NamedTuple):
    """The checks of one answer.

    Attributes:
        scrub: takes secrets out.
        leaks: takes our instructions out.
        links: takes HTML, images and foreign links out.
        citations: takes documents out that were not given; None for thinking, which cites nothing.
    """

    scrub: Callable[[str], str]
    leaks: Leaks
    links: Links
    citations: Citations | None

    def check(self, text: str) -> Checked:
        """A text as it may be shown, with the documents it cites."""
        shown = self.links.defuse(self.leaks.remove(self.scrub(text)))
        checked = self.citations.check(shown) if self.citations else Checked(shown, (), 0)
        # Taking something out may have brought the halves of a secret together.
        return checked if checked.text == text else checked._replace(text=self.scrub(checked.text))

    def final(self, text: str) -> Checked:
        """The same for a whole answer, without the gaps."""
        checked = self.check(text)
        return checked._replace(text=self.scrub(tidy(checked.text)))


class Flow:
    """Gives a stream's text on in pieces that are checked already.

    What may still change is held back: the last word, an unfinished link or tag, the beginning of an instruction of
    ours. Where a later piece changes what was given on already, nothing more comes: the reply at the end is whole.
    """

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self.raw = ""
        self._settled = 0
        self._before = ""
        self._given = ""

    def feed(self, piece: str) -> str:
        """What may be shown after this piece, "" if nothing."""
        self.raw += piece
        return self._advance(self._sure()) if re.search(r"\s", piece) else ""

    def end(self) -> str:
        """What was held back, at the end."""
        return self._advance(len(self.raw))

    def _advance(self, upto: int) -> str:
        """Check what is new since the last paragraph that is through, and give on what it adds."""
        window = self.raw[self._settled : upto]
        shown = self._before + self._checker.check(window).text
        new = shown.rstrip()
        if not new.startswith(self._given):
            return ""
        found, self._given = new[len(self._given) :], new
        paragraph = window.rfind("\n\n")
        if paragraph >= 0 and "```" not in self.raw and "~~~" not in self.raw:
            self._settled += paragraph + 2
            self._before += self._checker.check(window[: paragraph + 2]).text
        return found

    def _sure(self) -> int:
        """Where the part ends that no further piece can change."""
        window = self.raw[self._settled :]
        end = max(window.rfind(space) for space in " \n\t") + 1
        window = window[:end]
        unfinished = _OPEN.search(window, max(0, len(window) - LONGEST_HELD))
        held = min(unfinished.start() if unfinished else end, self._checker.leaks.held_from(window))
        return self._settled + held
