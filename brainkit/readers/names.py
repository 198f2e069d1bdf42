"""File names and other short texts, made storable and scrubbed before anyone sees them."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import PurePath

    from brainkit.readers.model import TextScrubber


PLAIN = re.compile(r"(?:(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,6})?\d{0,6}(?:[ ._-]|$)){1,20}")


def storable(name: str) -> str:
    r"""The name without NUL and lone surrogates; bytes that are not UTF-8 are read as windows-1252, else as U+FFFD.

    Example:
        >>> storable("caf\udce9.md")
        'café.md'
    """
    name = name.replace("\0", "")
    try:
        name.encode()
    except UnicodeEncodeError:
        try:
            raw = name.encode("utf-8", "surrogateescape" if os.name == "posix" else "replace")
        except UnicodeEncodeError:  # not from a file name: pairs become their character, what stands alone U+FFFD
            return name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        name = raw.decode("cp1252", "replace")
    return name


def scrub_each(texts: Sequence[str], scrubber: TextScrubber, counts: Counter[str] | None = None) -> list[str]:
    """Each text storable and scrubbed, in one call where none holds a newline; ``counts`` grows by kind."""
    tally: Counter[str] = Counter() if counts is None else counts
    texts = [storable(text) for text in texts]
    if len(texts) > 1 and not any("\n" in text for text in texts):
        result = scrubber.scrub("\n".join(texts))
        lines = result.text.split("\n")
        if len(lines) == len(texts):
            tally.update(finding.kind for finding in result.findings)
            return lines
    scrubbed = []
    for text in texts:
        result = scrubber.scrub(text)
        tally.update(finding.kind for finding in result.findings)
        scrubbed.append(result.text)
    return scrubbed


class _Shown(NamedTuple):
    """A part of a path as it may be shown, and the kinds of secrets that were in it."""

    text: str
    kinds: tuple[str, ...]


_MAX_KNOWN = 100_000
_known: WeakKeyDictionary[TextScrubber, dict[tuple[str, str], _Shown]] = WeakKeyDictionary()
"""Parts of paths seen before, by version of the rules and raw part: folders come again with each of their files."""


def _known_by(scrubber: TextScrubber) -> dict[tuple[str, str], _Shown]:
    known = _known.setdefault(scrubber, {})
    if len(known) > _MAX_KNOWN:
        known.clear()
    return known


def learn_names(names: Sequence[str], scrubber: TextScrubber) -> None:
    """Scrub the names of a folder in one call, so that ``shown_path`` need not ask for each of them.

    Only names made of words and short numbers, since what else a text holds may make a bare token look harmless; and
    only when nothing at all is found in them. All others are looked at by themselves when they are shown.
    """
    known, version = _known_by(scrubber), scrubber.version
    new = [name for name in names if (version, name) not in known and PLAIN.fullmatch(name)]
    if new and not scrubber.scrub("\n".join(part for name in new for part in (name, _stem(name)) if part)).findings:
        known.update(((version, name), _Shown(name, ())) for name in new)


def _stem(name: str) -> str:
    """The name without its ending; '' where it has none. Glued to a value it can hide it: ``password=hunter2.txt``."""
    stem, _, ending = name.rpartition(".")
    return stem if ending.isalnum() else ""


def _shown(part: str, scrubber: TextScrubber) -> _Shown:
    counts: Counter[str] = Counter()
    raw = part.replace(os.sep, "")
    text = scrub_each([raw], scrubber, counts)[0]
    if text == raw and (stem := _stem(raw)):
        text = scrub_each([stem], scrubber, counts)[0] + raw[len(stem) :]
    return _Shown(text, tuple(counts.elements()))


def shown_path(path: PurePath, scrubber: TextScrubber, counts: Counter[str] | None = None) -> str:
    """The path as it may be stored and shown: POSIX separators, each part storable and scrubbed."""
    known, version, parts = _known_by(scrubber), scrubber.version, []
    for part in path.parts:
        shown = known.get((version, part))
        if shown is None:
            shown = known[version, part] = _shown(part, scrubber)
        if counts is not None:
            counts.update(shown.kinds)
        if shown.text:
            parts.append(shown.text)
    return ("/" if path.is_absolute() else "") + "/".join(parts) or "."
