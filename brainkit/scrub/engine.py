"""The scrubber: runs all detectors over a text, merges what they find, and repeats until nothing new is found."""

from __future__ import annotations

import functools
import hashlib
from bisect import bisect_right
from pathlib import Path

from brainkit.scrub import (
    allow,
    blocks,
    calls,
    keywords,
    links,
    locks,
    logins,
    markup,
    pairs,
    spoken,
    tables,
    tokens,
    userrules,
    vendors,
)
from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.result import MARKER, Finding, ScrubResult, redact

SCRUB_VERSION = "5"
"""Changes whenever the built-in rules do; documents scrubbed by another version are due to be scrubbed again."""

_PASSES = 6
_DETECTORS = (tokens, blocks, calls, tables, vendors)
_LABELLED = (links, pairs, spoken, logins, locks)  # go by a label beside the value, which markup may separate from it

_TITLE = 240  # characters
_NAMED = Pattern("|".join(f"(?:{p.source})" for p in (keywords.TRIGGER, spoken.LABEL, vendors.BESIDE)), first_look="")
"""What the detectors go by that no lead announces; ``links`` and ``tables`` need a sign or one of these as well."""


class Scrubber:
    """Takes secrets out of text by the built-in rules and, where given, the user's.

    Args:
        email: take e-mail addresses out too.
        rules: a TOML file with more rules and an allow-list, see ``brainkit.scrub.userrules``.

    Raises:
        SettingsError: the rules file cannot be read or is wrong; the message names BOR_SCRUB_RULES.
    """

    def __init__(self, *, email: bool = False, rules: Path | None = None) -> None:
        self._user = userrules.load(rules)
        self._email = email

    @property
    def version(self) -> str:
        """Names the rules in force: same version, same text in, same text out."""
        digest = hashlib.sha256(f"{SCRUB_VERSION}\0{self._email}\0{self._user.digest}".encode()).hexdigest()
        return f"{SCRUB_VERSION}-{digest[:12]}"

    def scrub(self, text: str) -> ScrubResult:
        """The text with each secret replaced by ``[REDACTED:<kind>]``; labels and line breaks stay.

        Takes time linear in the text, never raises on any string, and gives back its own output unchanged.
        """
        findings: tuple[Finding, ...] = ()
        for _ in range(_PASSES):
            now = redact(text, findings)
            new = self._find(now)
            if not new:
                return ScrubResult(now, findings)
            findings = _merge([*findings, *map(_Moved(findings), new)], text)
        return ScrubResult(redact(text, findings), findings)

    def _find(self, text: str) -> list[Finding]:
        page = Page(text)
        found = self._user.find(page)
        if not found and _nothing(page):
            return []
        for detector in _DETECTORS:
            found += detector.find(page)
        labelled = _labelled(page)
        rendered = markup.Rendered(page)
        if rendered.page is not None:
            labelled = rendered.up_to_tags(labelled)
            labelled += rendered.between_tags(_labelled(rendered.page))
        found += labelled
        if self._email:
            found += links.find_emails(page)
        if not found:
            return []
        sealed = allow.kept(page)
        found = [f for f in found if not _inside(f, sealed)]
        kept = [m.span() for m in MARKER.finditer(page.text)]
        return _outside(_merge(found, page.text), sorted(kept + self._user.allowed(page)))


def _nothing(page: Page) -> bool:
    """Whether a title or a path holds nothing that any detector goes by, which is quicker to see than to ask each."""
    if len(page.data) > _TITLE or "@" in page.text or "<" in page.text or "&lt;" in page.text or page.seen:
        return False
    return not _NAMED.compiled.search(page.data) and not tokens.find(page) and not any(blocks.find_bare(page))


def _labelled(page: Page) -> list[Finding]:
    return [finding for detector in _LABELLED for finding in detector.find(page)]


def _merge(found: list[Finding], text: str) -> tuple[Finding, ...]:
    """The findings cut at line breaks, sorted, and joined where they overlap; the longest names the kind."""
    pieces = [piece for finding in found for piece in _lines(finding, text)]
    merged: list[Finding] = []
    longest = 0
    for piece in sorted(pieces, key=lambda f: (f.start, -f.end)):
        if merged and piece.start < merged[-1].end:
            last = merged[-1]
            size = piece.end - piece.start
            merged[-1] = Finding(piece.kind if size > longest else last.kind, last.start, max(last.end, piece.end))
            longest = max(longest, size)
        else:
            merged.append(piece)
            longest = piece.end - piece.start
    return tuple(merged)


def _lines(finding: Finding, text: str) -> list[Finding]:
    """The finding as one finding a line, without the blanks at either end, so that line breaks and indentation stay."""
    pieces, at = [], finding.start
    for line in text[finding.start : finding.end].splitlines(keepends=True):
        start = at + len(line) - len(line.lstrip())
        end = at + len(line.rstrip())
        if start < end:
            pieces.append(Finding(finding.kind, start, end))
        at += len(line)
    return pieces


def _outside(found: tuple[Finding, ...], kept: list[tuple[int, int]]) -> list[Finding]:
    """The findings that touch none of the stretches to keep (sorted, not overlapping)."""
    starts = [start for start, _ in kept]
    free = []
    for finding in found:
        before = bisect_right(starts, finding.end - 1) - 1
        if before < 0 or kept[before][1] <= finding.start:
            free.append(finding)
    return free


def _inside(finding: Finding, kept: list[tuple[int, int]]) -> bool:
    """Whether the finding lies within one of the stretches (sorted, not overlapping)."""
    before = bisect_right(kept, (finding.start, len(kept) and kept[-1][1])) - 1
    return before >= 0 and finding.end <= kept[before][1]


class _Moved:
    """Moves offsets in the output of an earlier pass back to the input."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        self._starts: list[int] = []  # where each marker ends in the output
        self._shifts: list[int] = []  # what to add to an offset from there on
        shift = 0
        for kind, start, end in findings:
            marker = len(kind) + len("[REDACTED:]")
            self._starts.append(start - shift + marker)
            shift += end - start - marker
            self._shifts.append(shift)

    def __call__(self, finding: Finding) -> Finding:
        at = bisect_right(self._starts, finding.start) - 1
        shift = self._shifts[at] if at >= 0 else 0
        return Finding(finding.kind, finding.start + shift, finding.end + shift)


@functools.cache
def _default() -> Scrubber:
    return Scrubber()


def scrub(text: str) -> ScrubResult:
    """The text without its secrets, by the built-in rules.

    Returns:
        ``.text``, with ``[REDACTED:<kind>]`` where a secret stood, and ``.findings``: kind and offsets in the input.

    Example:
        >>> result = scrub("user: ina, password: Sommer2026!")
        >>> result.text
        'user: ina, password: [REDACTED:password]'
        >>> [f.kind for f in result.findings]
        ['password']
    """
    return _default().scrub(text)
