"""Secrets in addresses and headers: URL user parts, Authorization, Cookie, curl's -u, login pairs, pgpass lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from brainkit.scrub import judge
from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.result import Finding
from brainkit.scrub.values import chosen_in_prose

_USERINFO = Pattern(r"://[^\s/:\"'<>`]{0,200}:([^\s/\"'<>`]{1,300})@[\w.$\[{:-]")
_SLASHED = Pattern(
    r"(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|ldaps?|ftps?|sftp|smb|cifs"
    r"|rtsps?|mqtts?|smtps?|imaps?)(?:\+\w+)?://[^\s/:@\"'<>`]{0,100}:([^\s@\"'<>`]{1,200})@[\w.$\[{-]"
)
_IN_A_NAME = Pattern(  # of a file, which has _ where an address has / and perhaps :
    r"(?:https?|ftps?|postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?)[:_]_{1,2}[A-Za-z0-9.-]{1,64}[:_]([^\s/:@]{3,64})@[\w.-]",
    first_look=r"(?:http|ftp|postgres|postgresql|mysql|mariadb|mongodb|redis|amqp)s?[:_]_",
)
_DSN = Pattern(
    r"(?:^|[\s\"'=(])[\w.-]{1,64}:([^\s:@/\"'<>`(){}]{3,100})@(?:tcp\(|unix\(|[\w.-]{1,100}:\d{2,5}/)",
    first_look=r"@(?:tcp\(|unix\(|[\w.-]+:\d\d)",
)
_ORACLE = Pattern(r"\b[\w.$#-]{1,32}/([^\s/@\"'<>`{}$]{3,64})@//?[\w.-]{1,100}(?::\d{2,5})?/\w")
_SCHEME = Pattern(
    r"\b(?:bearer|basic|ntlm|negotiate)\b[\"'`]?[:=]?[ \t]{1,4}[\"'`]?([\w+/=.~%-]{6,})", ignore_case=True
)
_HEADER = Pattern(
    r"\b(?:proxy-)?authorization[\"'\])]{0,3}[ \t]{0,4}[:=,][>]?[ \t]{0,4}[\"'`/]{0,2}(?:(?:token|bot"
    r"|apikey|key|hmac|digest|aws4-hmac-sha256|sso-key|client-id|oauth|splunk|genieKey|ntlm|negotiate|ssws"
    r"|basic|bearer)[ \t:=]{1,3})?[\"'`]?([\w+/=.~%:-]{8,})",
    ignore_case=True,
)
_SIGNATURE = Pattern(
    r"\b(?:oauth_signature|oauth_token_secret|signature|x-amz-signature|x-amz-security-token|hmac)=[\"']?"
    r"([\w%+/=-]{16,})",
    ignore_case=True,
)
_COOKIE = Pattern(
    r"\b(?:set-)?cookies?[\"'\]]{0,2}[ \t]{0,4}[:=][ \t]{0,4}[\"']?([\w.%-]{1,80}=[^\n\"'`<>]+)", ignore_case=True
)
_COOKIE_PAIR = re.compile(r"([\w.%-]{1,80})=([^;,\s]+)")
_COOKIE_NAME = re.compile(r"(?i).*(?:sess|sid|auth|token|jwt|csrf|xsrf|remember|login|secret|connect)")
_COOKIE_SETTING = re.compile(
    r"(?i)(?:path|domain|expires|max-age|samesite|version|priority|secure|httponly|theme|lang|locale)\Z"
)
_USER_FLAG = Pattern(
    r"[ \t(\"'\[,](?:-u|--user|--proxy-user|-U|--http-user|--basic)[ \t=,\"']{0,4}[\"']?"
    r"([^\s:\"'$<{]{1,100}):([^\s\"'$<{][^\s\"']{0,200})",
    first_look=r"[ \t(\"'\[,](?:-u|--user|--proxy-user|-U|--http-user|--basic)[ \t=,\"']",
)
_LOGIN = Pattern(
    r"\b(?:log[ -]?ins?|zugang(?:sdaten)?|credentials?|creds|anmeldung|anmeldedaten|account|user"
    r"(?:name)?[ ]?[/&+|][ ]?pass(?:word)?|benutzer(?:name)?[ ]?[/&+|][ ]?passwor?t"
    r"|id/pw)\b[^\n:=/|]{0,30}[:=][ \t]{0,4}[\"'`*]{0,3}"
    r"([\w.@+-]{2,64})[\"'`]{0,2}[ \t]?[/:|,][ \t]?[\"'`]{0,2}([^\s\"'`/|,<>{}$]{4,64})",
    ignore_case=True,
)
_PGPASS = Pattern(
    r"(?m)^[\w.*-]{1,253}:(?:[0-9]{2,5}|\*):[\w.*$-]{1,63}:[\w.*@-]{1,63}:([^\s:/][^\n\r]{0,200})$",
    first_look=r":(?:[0-9]{2,5}|\*):[\w*$-]",
)
_NETRC = Pattern(r"(?m)^[ \t]*(?:login|user)[ \t]+\S{1,200}\s+(?:account\s+\S{1,100}\s+)?password[ \t]+(\S{1,300})")
_ACCOUNT = Pattern(r"\b(?:login|user)\s+\S{1,200}\s+password\s+(\S{1,300})", ignore_case=True)
_SHADOW = re.compile(r"\d*(?::\d*){3,}")  # the rest of a line of shadow(5)
_EMAIL = Pattern(r"\b[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b")
_SCHEMATIC = frozenset(["PASSWORD", "PASS", "PASSWD", "PWD", "SECRET", "TOKEN", "KEY", "APIKEY", "API_KEY", "PASSWORT"])


def find(page: Page) -> list[Finding]:
    """Every secret in an address or a header."""
    found: list[Finding] = []
    if "@" in page.text:
        found += _user_parts(page)
    found += _headers(page)
    found += _cookies(page)
    found += _logins(page)
    return found


def find_emails(page: Page) -> list[Finding]:
    """Every e-mail address."""
    return [Finding("email", *span) for span in _EMAIL.spans(page)]


def _user_parts(page: Page) -> Iterator[Finding]:
    text = page.text
    for pattern in (_USERINFO, _SLASHED, _IN_A_NAME):
        for start, end in pattern.spans(page, 1):
            if pattern is _IN_A_NAME and text[start:end].isalpha():
                continue
            if _is_url_password(text[start:end]) and not text.startswith("@host:port", end):
                yield Finding("url-password", start, end)
    for pattern in (_DSN, _ORACLE) if "@/" in text else (_DSN,):
        for start, end in pattern.spans(page, 1):
            value = text[start:end]
            if _is_url_password(value) and not value.isdigit() and not judge.is_name(value) and "." not in value:
                yield Finding("connection-password", start, end)


def _is_url_password(value: str) -> bool:
    """Any word is one; templates, placeholders and the schematic USER:PASSWORD@HOST are not."""
    if value in _SCHEMATIC:
        return False
    return value.isalnum() or not judge.harmless(value)


def _headers(page: Page) -> Iterator[Finding]:
    text = page.text
    for pattern in (_SCHEME, _HEADER, _SIGNATURE):
        for start, end in pattern.spans(page, 1):
            value = judge.without_ending(text[start:end].rstrip("."))
            plain = judge.decoded(value)
            if judge.harmless(value) or judge.is_name(value) or text.startswith("...", start + len(value)):
                continue
            if judge.looks_random(value, 8) or (plain is not None and ":" in plain and len(value) >= 8):
                yield Finding("authorization", start, start + len(value))


def _cookies(page: Page) -> Iterator[Finding]:
    text = page.text
    for start, end in _COOKIE.spans(page, 1):
        for pair in _COOKIE_PAIR.finditer(text, start, end):
            name, value = pair.groups()
            if _COOKIE_SETTING.match(name) or judge.harmless(value):
                continue
            if judge.looks_random(value, 10) or (
                _COOKIE_NAME.match(name) and len(value) >= 6 and judge.looks_chosen(value)
            ):
                yield Finding("cookie", pair.start(2), pair.end(2))


def _logins(page: Page) -> Iterator[Finding]:
    text = page.text
    for match in _USER_FLAG.matches(page):
        start, end = match.span(2)
        value = text[start:end].rstrip(")],;")
        web = re.search(r"(?i)curl|wget|http|\bab\b|xh\b", text[max(0, match.start() - 300) : match.start()])
        if value.isdigit() or judge.harmless(value) or not (web or chosen_in_prose(value)):
            continue
        yield Finding("password", start, start + len(value))
    for match in _LOGIN.matches(page):
        start, end = match.span(2)
        value = text[start:end].rstrip(".)")
        if chosen_in_prose(value):
            yield Finding("password", start, start + len(value))
    for pattern in (_PGPASS, _NETRC, _ACCOUNT):
        for start, end in pattern.spans(page, 1):
            value = text[start:end].rstrip()
            if not judge.harmless(value) and not _SHADOW.fullmatch(value):
                yield Finding("password", start, start + len(value))
