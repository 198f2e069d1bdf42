"""What reStructuredText and Org files say about themselves: title, tags and date."""

from __future__ import annotations

import re
from itertools import pairwise

from brainkit.readers.draft import Draft
from brainkit.readers.frontmatter import parse_date

HEAD_CHARS = 20_000
_RULER = re.compile(r"([!-/:-@\[-`{-~])\1{2,}")
_ORG_KEY = re.compile(r"#\+(title|filetags|date):\s*(.*)", re.IGNORECASE)
_ORG_HEADING = re.compile(r"\*+\s+(?:(?:TODO|DONE)\s+)?(.*?)(?:\s+:[\w@#%:]+:)?\s*")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def restructured(text: str) -> Draft:
    """The text as a Draft titled by its first heading: a line underlined by punctuation as long as itself."""
    lines = [line.rstrip() for line in text[:HEAD_CHARS].split("\n")]
    found = (
        above.strip()
        for above, below in pairwise(lines)
        if above.strip() and not _RULER.fullmatch(above) and _RULER.fullmatch(below) and len(below) >= len(above)
    )
    return Draft(text, "rst", title=next(found, ""))


def org(text: str) -> Draft:
    """The text as a Draft: ``#+TITLE`` or the first heading, ``#+FILETAGS: :a:b:``, ``#+DATE``."""
    lines = text[:HEAD_CHARS].split("\n")
    keys = {m[1].lower(): m[2].strip() for line in lines if (m := _ORG_KEY.fullmatch(line.rstrip()))}
    headings = (m[1] for line in lines if (m := _ORG_HEADING.fullmatch(line)) and m[1])
    day = _DAY.search(keys.get("date", ""))
    return Draft(
        text,
        "org",
        title=keys.get("title") or next(headings, ""),
        tags=tuple(dict.fromkeys(tag for tag in re.split(r"[:\s]+", keys.get("filetags", "")) if tag)),
        ts=parse_date(day[0]) if day else None,
    )
