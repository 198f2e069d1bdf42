"""A user with the password beside it and no word that says so: ``IPMI: admin / ...``, ``cam1 10.0.0.8/admin/...``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.result import Finding
from brainkit.scrub.values import chosen, read_bare, shows_it

_USER = (
    r"(?:admin|administrator|root|superuser|sysadmin|supervisor|guest|gast|pi|ubuntu|debian|operator|service|support|sa"
    r"|postgres|user|visitor|ubnt|cisco|monitor|backup|wartung|benutzer|ADMIN|Admin|Administrator|USERID)"
)
_VALUE = r"[\"'`]?([^\s\"'`/|,;<>{}()]{4,64})"
_SLASH = Pattern(
    rf"(?:^|[\s:(,|\"'`>=/])({_USER}|[A-Za-z][\w.+@-]{{1,60}} )[\"'`]?[ \t]{{0,2}}/[ \t]{{0,2}}{_VALUE}",
    first_look=rf"{_USER}[\"'`]?[ \t]{{0,2}}/|[\w.+-][\"'`]? / ",
)
_WIFI = Pattern(
    r"\b(?:wlan|wi-?fi|ssid|hotspot)\b[^\n:/|]{0,40}[:=]?[ \t]{0,4}[\"'`]?[\w .-]{1,32}[\"'`]?(?: / |[ ,;(]{1,3}"
    rf"(?:key|pass\w{{0,8}}|psk|schl\xfcssel|pw|kennwort)[: \t]{{1,4}}){_VALUE}",
    ignore_case=True,
)
_AS = Pattern(
    rf"\b(?:as|als)[ \t]{{1,3}}[\"'`]?{_USER}[\"'`]?[ \t]+(?:with|mit|and|und)[ \t]+"
    rf"(?:(?:the|dem)[ \t]+)?(?:password|passwort|kennwort|pw)?[ \t]{{0,2}}{_VALUE}",
    ignore_case=True,
)
_REMOTE = Pattern(
    rf"\b(?:teamviewer|anydesk|rustdesk)\b[^\n]{{0,24}}?(?:\d{{3}} \d{{3}} \d{{3,4}}|\d{{9,10}})[ \t]{{0,2}}[/,;|][ \t]{{0,2}}{_VALUE}",
    ignore_case=True,
)
_AT_HOST = Pattern(rf"(?:^|[\s\"'`(]){_USER}:([^\s:@/\"'`]{{4,64}})@[\w.-]", first_look=rf"{_USER}:[^\s:@/\"'`]+@")
_COLON = Pattern(
    r"\b(?:log-?in|zugang|anmeldung|zugangsdaten|credentials|creds|account)[ \t]+[A-Za-z][\w.-]{1,40}:([^\s:/\"'`]{4,64})",
    ignore_case=True,
)
_CELLS = Pattern(rf"[,;\t]{_USER}[,;\t]([^\s,;\"'`]{{6,64}})(?:[,;\t\n]|\z)", first_look=rf"[,;\t]{_USER}[,;\t]")
_PLACE = re.compile(
    r"(?i)log-?ins?\b|log in|logon|sign in|zug[a\xe4]ng|anmeld|einlogg|account|konto|credential|creds|benutzer|user|ipmi|idrac"
    r"|\bilo\b|\bbmc\b|\bnas\b|router|fritz|switch|camera|kamera|\bcam|drucker|printer|web ?ui|portal|vpn|\bssh|s?ftp|smb|rdp|vnc"
)
_KNOWN = re.compile(_USER + r"\Z")


def find(page: Page) -> list[Finding]:
    """Every password that stands beside a user."""
    return [*_slashed(page), *_beside(page)]


def _slashed(page: Page) -> Iterator[Finding]:
    """``admin / Hunter2!x``; other users only where the line says that it is about a login, and so without blanks."""
    for match in _SLASH.matches(page):
        start, end = match.span(2)
        user = page.text[match.start(1) : match.end(1)]
        apart = page.text[match.end(1) - 1 : start].count(" ") >= 2
        line = page.text[max(0, match.start() - 100) : match.start(1)].rpartition("\n")[2]
        behind_address = match.start() < match.start(1) and page.text[match.start()] == "/" and line[-2:-1].isdigit()
        place = bool(_PLACE.search(line))
        if not (place or behind_address or (apart and (_KNOWN.match(user) or "@" in user))) or "://" in line[-40:]:
            continue
        if not apart and not (place or behind_address):
            continue
        yield from _password(page, start, end)


def _beside(page: Page) -> Iterator[Finding]:
    for pattern in (_WIFI, _AT_HOST, _COLON, _REMOTE):
        for start, end in pattern.spans(page, 1):
            yield from _password(page, start, end)
    for pattern in (_CELLS, _AS):
        for match in pattern.matches(page):
            start, end = match.span(1)
            line = page.text[max(0, match.start() - 80) : end + 60]
            if pattern is _CELLS or re.search(r"(?i)log|sign|anmeld|einlogg|connect|zug[a\xe4]ng", line):
                yield from _password(page, start, end, strict=pattern is _CELLS)


def _password(page: Page, start: int, end: int, *, strict: bool = False) -> Iterator[Finding]:
    value = read_bare(page.text[:end], start)
    if value is None or not chosen(value.text) or page.text[value.end : value.end + 1] == "/":
        return
    if shows_it(value.text) if strict else any(map(str.isdigit, value.text)) or "!" in value.text:
        yield Finding("password", value.start, value.end)
