"""A user with the password beside it and no word that says so: ``IPMI: admin / ...``, ``cam1 10.0.0.8/admin/...``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from brainkit.scrub import judge
from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.result import Finding
from brainkit.scrub.values import chosen, read_bare, shows_it

_USER = (
    r"(?:admin|administrator|root|superuser|sysadmin|supervisor|guest|gast|pi|ubuntu|debian|visitor|ubnt|cisco"
    r"|ADMIN|Admin|Administrator|USERID)"
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
    rf"\b(?:teamviewer|anydesk|rustdesk)\b[^\n]{{0,24}}?(?:\d{{3}} \d{{3}} \d{{3,4}}"
    rf"|\d{{9,10}})[ \t]{{0,2}}[/,;|][ \t]{{0,2}}{_VALUE}",
    ignore_case=True,
)
_AT_HOST = Pattern(rf"(?:^|[\s\"'`(]){_USER}:([^\s:@/\"'`]{{4,64}})@[\w.-]", first_look=rf"{_USER}:[^\s:@/\"'`]+@")
_COLON = Pattern(
    r"\b(?:log-?in|zugang|anmeldung|zugangsdaten|credentials|creds"
    r"|account)[ \t]+[A-Za-z][\w.-]{1,40}:([^\s:/\"'`]{4,64})",
    ignore_case=True,
)
_CELLS = Pattern(rf"[,;\t]{_USER}[,;\t]([^\s,;\"'`]{{6,64}})(?:[,;\t\n]|\z)", first_look=rf"[,;\t]{_USER}[,;\t]")
_LOGIN = re.compile(r"(?i)log-?ins?\b|log in|logon|sign in|zug[a\xe4]ng|anmeld|einlogg|konto|credential|creds|benutzer")
_PLACE = re.compile(
    r"(?i)account|user|ipmi|idrac|\bilo\b|\bbmc\b|\bnas\b|router|fritz|switch|camera|kamera|\bcam|drucker"
    r"|printer|web ?ui|portal|vpn|\bssh|s?ftp|smb|rdp|vnc"
)
_MAIL = re.compile(r"@[\w.-]+\.[A-Za-z]{2,}\Z")
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
        login, known = bool(_LOGIN.search(line)), bool(_KNOWN.match(user.strip()))
        about = login or behind_address or (apart and (known or "@" in user)) or bool(_PLACE.search(line))
        if about and "://" not in line[-40:]:
            yield from _password(page, start, end, sure=login or known or bool(_MAIL.search(user)), user=user.strip())


def _beside(page: Page) -> Iterator[Finding]:
    for pattern in (_WIFI, _AT_HOST, _COLON, _REMOTE):
        for start, end in pattern.spans(page, 1):
            yield from _password(page, start, end, sure=pattern is not _WIFI or page.text[start - 2 : start] != "/ ")
    for pattern in (_CELLS, _AS):
        for match in pattern.matches(page):
            start, end = match.span(1)
            line = page.text[max(0, match.start() - 80) : end + 60]
            if pattern is _CELLS or re.search(r"(?i)log|sign|anmeld|einlogg|connect|zug[a\xe4]ng", line):
                yield from _password(page, start, end, sure=pattern is _AS and end - start >= 8)


def _password(page: Page, start: int, end: int, *, sure: bool = True, user: str = "") -> Iterator[Finding]:
    """The value where it looks chosen; unless a login is sure to be meant, it must be no model's or port's name."""
    value = read_bare(page.text[:end], start)
    if value is None or not chosen(value.text) or page.text[value.end : value.end + 1] == "/":
        return
    figures = sum(map(str.isdigit, value.text))
    if value.text.lower().strip("0123456789") == user.lower() or not (figures or "!" in value.text):
        return
    if sure or shows_it(value.text) or (judge.is_worded(value.text) and figures >= 3):
        yield Finding("password", value.start, value.end)
