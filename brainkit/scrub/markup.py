"""HTML and XML as their reader sees them: tags made blank, so that they bound labels and values as line ends do."""

from __future__ import annotations

import re
from bisect import bisect_right

from brainkit.scrub.page import Page
from brainkit.scrub.result import Finding

_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]{0,60})(?:\s[^<>]{0,400}|/)?>|<br\s{0,3}/?>|&[lg]t;")
_ALONE = frozenset(["br", "hr", "p", "li", "td", "th", "tr", "dt", "dd"])
"""Elements that HTML lets stand without an end tag."""
_INLINE = frozenset(["a", "b", "em", "font", "i", "label", "mark", "small", "span", "strong", "sub", "sup", "u"])
_CODE = frozenset(["code", "kbd", "samp", "tt"])
_ENTITIES = {"&lt;": "   <", "&gt;": ">   "}


class Rendered:
    """A page without its tags, of the same length, and where the tags lie."""

    def __init__(self, page: Page) -> None:
        text = page.text
        tags = list(_TAG.finditer(text)) if "<" in text or "&lt;" in text else []
        closed = {tag[2].lower() for tag in tags if tag[1]} | _ALONE
        parts: list[str] = []
        self._spans: list[tuple[int, int]] = []
        at = 0
        for tag in tags:
            if tag[2] and tag[2].lower() not in closed:  # a placeholder or a program's type: <token>, List<String>
                continue
            parts += text[at : tag.start()], _ENTITIES.get(tag.group()) or _filler(tag)
            at = tag.end()
            self._spans.append(tag.span())
        self.page = Page("".join(parts) + text[at:]) if self._spans else None

    def up_to_tags(self, found: list[Finding]) -> list[Finding]:
        """The findings of the page as written: each ends with the tag that it lies in, or where the next one begins."""
        pieces = []
        starts = [start for start, _ in self._spans]
        for kind, start, end in found:
            tag = bisect_right(starts, start) - 1
            if tag >= 0 and start < self._spans[tag][1] - 1:  # an attribute
                limit = self._spans[tag][1] - 1
            else:
                limit = starts[tag + 1] if tag + 1 < len(starts) else end
            pieces.append(Finding(kind, start, min(end, limit)))
        return pieces

    def between_tags(self, found: list[Finding]) -> list[Finding]:
        """The findings of the page without tags: those that reach over a tag are cut in pieces around it."""
        pieces = []
        ends = [end for _, end in self._spans]
        for kind, start, end in found:
            at, tag = start, bisect_right(ends, start)
            while tag < len(ends) and self._spans[tag][0] < end:
                pieces.append(Finding(kind, at, self._spans[tag][0]))
                at, tag = ends[tag], tag + 1
            pieces.append(Finding(kind, at, end))
        return [piece for piece in pieces if piece.start < piece.end]


def _filler(tag: re.Match[str]) -> str:
    """A line end for a block or a field, blanks for emphasis, a backtick beside the blanks for code."""
    name, size = (tag[2] or "br").lower(), len(tag.group())
    if name in _CODE:
        return "`".ljust(size) if tag[1] else "`".rjust(size)
    return (" " if name in _INLINE else "\n") * size
