"""A vendor's name with a long random value right beside it and no word that says what it is (``wandb 8c1f...``)."""

from __future__ import annotations

import re

from brainkit.scrub import judge
from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.result import Finding
from brainkit.scrub.rules import words
from brainkit.scrub.values import read_bare

BESIDE = Pattern(
    rf"\b(?:{'|'.join(words('vendors'))})(?:[ _.-][a-z]{{1,8}})?[\"']?(?:[ \t]{{0,3}}(?:=>|:="
    rf"|[=:])[ \t]{{0,3}}|[ \t]{{1,3}}|-)[\"'`]?([A-Za-z0-9][A-Za-z0-9_.+/=-]{{15,}})",
    ignore_case=True,
    first_look="",
)
_FILE = re.compile(r"(?i).*\.(?:com|io|org|net|dev|svg|png|md|ya?ml|json|txt|js|html?)\b")


def find(page: Page) -> list[Finding]:
    """Every such value."""
    found = []
    for start, _ in BESIDE.spans(page, 1):
        value = read_bare(page.text, start)
        if (
            value is None
            or _FILE.match(page.text, start, value.end + 5)
            or judge.harmless(value.text)
            or judge.is_name(value.text)
        ):
            continue
        if judge.looks_random(value.text, 18) and sum(c.isdigit() for c in value.text) >= 3:
            found.append(Finding("vendor-token", value.start, value.end))
    return found
