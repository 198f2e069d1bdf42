"""Passwords that a program passes by position, right after a user's name or address: ``smtp.login("ina", "...")``."""

from __future__ import annotations

import re

from brainkit.scrub import judge
from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.result import Finding
from brainkit.scrub.values import chosen

_STRING = r"[rbfu]?[\"']([^\"'\n]{3,100})[\"']"
_LAST = r"\s{0,20},?\s{0,20}(?:[)\]}]|\w{1,40}\s?=)"
_LOGIN = Pattern(
    r"(?:log_?in|log_?on|sign_?in|authenticate|authentication|auth|credentials?|creds|account|connect|connection|pw_set"
    r"|userpass|(?:smtp|imap|ftp|mqtt|pop3|imap4)(?:_ssl|s)?|password|passwd)[\"']?\s{0,4}[=:(]\s{0,4}(?:\w{1,40}\s{0,2}[=:(]\s{0,4})?[(\[]{0,2}\s{0,12}"
    r"(?:[^,()\n]{0,80},\s{0,20}){0,4}?[rbfu]?[\"'][^\"'\n]{1,80}[\"'],\s{0,20}" + _STRING + _LAST,
    ignore_case=True,
)
_AFTER_ADDRESS = Pattern(r"[\"'][\w.+-]{1,64}@[\w.-]{1,100}[\"'],\s{0,20}" + _STRING, first_look=r"@[\w.-]+[\"'],")
_BASIC = Pattern(  # any word is the password here
    r"\bauth[ \t]?=[ \t]?(?:[\w.]{0,20}Auth)?\([\"'][^\"'\n]{1,80}[\"'],[ \t]?[\"']([^\"'\n]{5,80})[\"'][ \t]?\)"
)
_NO_PASSWORD = re.compile(r"(?i)[\w-]+(?:\.[\w-]+)+(?::\d+)?|[\w.+-]+@[\w.-]+|/.*|[A-Z]\w*:.*|utf-?\w+|rfc\d+")


def find(page: Page) -> list[Finding]:
    """Every string literal that looks like a password and follows a user in a login-like call or tuple."""
    found: list[Finding] = []
    for pattern in (_LOGIN, _AFTER_ADDRESS):
        for start, end in pattern.spans(page, 1):
            value = page.text[start:end]
            if chosen(value, quoted=True) and not _NO_PASSWORD.fullmatch(value) and not judge.is_env_name(value):
                found.append(Finding("password", start, end))
    found += [
        Finding("password", *span) for span in _BASIC.spans(page, 1) if not judge.harmless(page.text[slice(*span)])
    ]
    return found
