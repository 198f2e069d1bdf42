"""Tells a model's thinking from its answer where both come in one stream, as ``<think>...</think>answer``."""

from __future__ import annotations

from typing import Final, NamedTuple

OPEN: Final = "<think>"
CLOSE: Final = "</think>"


class Part(NamedTuple):
    """A piece of what a model says."""

    text: str
    thinking: bool = False


class ThinkSplitter:
    """Splits a stream of pieces; only a tag that opens the stream counts, as a later one may be quoted from a note.

    Example:
        >>> splitter = ThinkSplitter()
        >>> [*splitter.feed("<thi"), *splitter.feed("nk>Let me see</th"), *splitter.feed("ink>It is 3.")]
        [Part(text='Let me see', thinking=True), Part(text='It is 3.', thinking=False)]
    """

    def __init__(self) -> None:
        self._held = ""
        self._opened: bool | None = None
        self._lead = False

    def feed(self, text: str) -> list[Part]:
        """Parts that are sure after this piece."""
        self._held += text
        if self._opened is None and (start := self._held.lstrip()):
            if start.startswith(OPEN):
                self._opened, self._held, self._lead = True, start[len(OPEN) :], True
            elif not OPEN.startswith(start):
                self._opened = False
        if self._opened is None:
            return []
        found = []
        if self._opened:
            inside, closed, self._held = self._held.partition(CLOSE)
            if not closed:
                kept = len(inside) - _suffix(inside, CLOSE)
                inside, self._held = inside[:kept], inside[kept:]
            found.append(Part(self._begun(inside), thinking=True))
            if closed:
                self._opened, self._lead = False, True
        if not self._opened:
            found.append(Part(self._begun(self._held)))
            self._held = ""
        return [part for part in found if part.text]

    def _begun(self, text: str) -> str:
        """Without the line breaks at the beginning of thinking or answer, which belong to neither."""
        if self._lead:
            text = text.lstrip()
            self._lead = not text
        return text

    def end(self) -> list[Part]:
        """What is left at the end of the stream."""
        text, self._held = self._held, ""
        return [Part(text, thinking=bool(self._opened))] if text else []


def _suffix(text: str, tag: str) -> int:
    """Length of the longest end of a text with which a tag may begin."""
    return next((n for n in range(min(len(tag) - 1, len(text)), 0, -1) if tag.startswith(text[-n:])), 0)
