r"""Makes what a model says harmless to show: no HTML, no images, no link but those that stand in the given notes.

An address that is in no note stays readable, as ``https[:]//host/x``, and opens nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_URL: Final = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s<>\"'`\\\])]+")
_WWW: Final = re.compile(r"(?<![\w/.@-])www\.[^\s<>\"'`\])]+", re.IGNORECASE)
_TAIL: Final = ".,;:!?*_)|"
_IMAGE: Final = re.compile(r"!\[([^\[\]\n]*)\]\([^()\n]*\)")
_LINK: Final = re.compile(r"\][ \t\n]*[(\[]")
_TARGET: Final = re.compile(r"\](\((?:[^()]|\([^()]*\)){0,2000}\))")
_DEFINITION: Final = re.compile(r"^([ \t>]*)\\*(?=\[[^\]\n]+\]:)", re.MULTILINE)
_TAG: Final = re.compile(r"\\*<(?=[A-Za-z/!?])")
_ACTIVE: Final = re.compile(
    r"</?(?:script|iframe|object|embed|svg|form|base|meta|link|style)\b|<[^>]{0,500}\b(?:src|href|srcset|style|action|on\w+)\s*=",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_SPAN: Final = re.compile(r"(?<!`)(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")


class Links:
    r"""Knows the addresses in given texts.

    Args:
        texts: the given notes and the question.
        names: of documents, which a link may point to.

    Example:
        >>> links = Links(["The NAS is at http://nas.lan:5000/ui."], ["nas.md"])
        >>> links.defuse("See http://nas.lan:5000/ui or ![x](http://evil.example/?q=1) <b>now</b>")
        'See http://nas.lan:5000/ui or x \\<b>now\\</b>'
    """

    def __init__(self, texts: Iterable[str], names: Iterable[str] = ()) -> None:
        self._texts = "\n".join(texts)
        self._urls = {match[0].rstrip(_TAIL) for pattern in (_URL, _WWW) for match in pattern.finditer(self._texts)}
        self._names = set(names)

    def defuse(self, text: str) -> str:
        """The text with nothing left in it that opens, loads or runs anything from elsewhere, or steers a terminal."""
        text = _CONTROL.sub("", text)
        text = _IMAGE.sub(r"\1", text)
        if _LINK.search(text):  # where there is a link, an odd form of an image may be hidden
            text = text.replace("![", "[")
        text = _TARGET.sub(lambda m: self._target(m[1][1:-1]), text)
        text = _DEFINITION.sub(r"\1\\", text)
        text = _URL.sub(lambda m: m[0] if self._known(m[0].rstrip(_TAIL)) else m[0].replace("://", "[:]//", 1), text)
        text = _WWW.sub(lambda m: m[0] if self._known(m[0].rstrip(_TAIL)) else m[0].replace(".", "[.]", 1), text)
        return "".join(self._code(part) if code else _TAG.sub(r"\\<", part) for part, code in _parts(text))

    def _target(self, target: str) -> str:
        """What follows the text of a link: nothing clickable but a document; an address is shown as what it is."""
        address = (target.split() or [""])[0].strip("<>")
        # What leads nowhere else is mostly code: ``d["key"](1)``.
        if address in self._names or not re.search(r"[:/\\&]", target):
            return f"]({target})"
        return f"] ({address})" if self._known(address) else "]"

    def _known(self, url: str) -> bool:
        return url in self._urls or any(known.startswith(url.rstrip("/") + "/") for known in self._urls)

    def _code(self, part: str) -> str:
        """Tags in code are shown as they are, unless they would do something and stand in no note."""
        if _ACTIVE.search(part) and part.strip("`~ \n") not in self._texts:
            return _TAG.sub(r"\\<", part)
        return part


def _parts(text: str) -> list[tuple[str, bool]]:
    """A text as parts, each with whether it is code."""
    found: list[tuple[str, bool]] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            found.append((line, True))
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
            found.append((line, False))
        else:
            at = 0
            for span in _SPAN.finditer(line):
                found += [(line[at : span.start()], False), (span[0], True)]
                at = span.end()
            found.append((line[at:], False))
    return found
