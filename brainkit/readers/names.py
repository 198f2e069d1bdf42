"""File names and other short texts, made storable and scrubbed before anyone sees them."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from brainkit.readers.model import TextScrubber


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


def shown_path(path: Path, scrubber: TextScrubber, counts: Counter[str] | None = None) -> str:
    """The path as it may be stored and shown: POSIX separators, each part storable and scrubbed."""
    parts = [part.replace(os.sep, "") for part in path.parts]
    scrubbed = scrub_each(parts, scrubber, counts)
    stem, ending = (PurePath(parts[-1]).stem, PurePath(parts[-1]).suffix) if parts else ("", "")
    if stem and ending[1:].isalnum() and scrubbed[-1] == parts[-1]:
        # An ending glued to a value can hide it: ``password=hunter2.txt``.
        scrubbed[-1] = scrub_each([stem], scrubber, counts)[0] + ending
    return ("/" if path.is_absolute() else "") + "/".join(part for part in scrubbed if part) or "."
