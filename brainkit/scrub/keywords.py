"""The names that secrets go by, and the neighbours that make such a name harmless (``password_file``)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.rules import words


class Strength(IntEnum):
    """How much a name says about the value beside it."""

    WEAK = 1  # key, auth, hash: only a long random value is one
    SECRET = 2  # token, secret, api key: a random value is one
    PASSWORD = 3  # password, Passwort: any value that is no reference is one


_STRONGEST = (
    r"pass(?:w(?:or[dt]|d)|phrase|code|wd)|passwort|kennwort|wachtwoord|senha|pwd|psk|passkey|userpwd|codewort"
    r"|requirepass|masterauth|(?:pre[_ -]?shared|wpa|wi-?fi|wlan)[ _-]?key|(?:wlan|wi-?fi)-?schl\xfcssel"
)
_QUALIFIED = (
    r"(?:api|access|secret|private|auth|encryption|signing|signature|master|licen[cs]e|shared|account"
    r"|consumer|client|app|application|service|deploy|session|symmetric|preshared|pre[_ -]shared"
    r"|subscription|integration"
    r"|admin|root|server|write|ingest|ingestion|insert|storage|hmac|jwt|cookie|crypto|cipher|aes|rsa|ssh"
    r"|gpg|wallet|dev|developer|project|network|wifi|wpa|wlan|stream|host|query|license|registration|local"
    r"|activation|product|rest|bot|device|provision|sas)"
    r"[ _.-]?(?:access[ _.-]?)?key"
)
_STRONG = (
    r"(?:auth)?token|authkey|secret|credentials?|bearer|crumb|webhook|mnemonic|seed|geheimnis|sessionid"
    r"|\bt?otp|jwt|dsn|nonce|cookie"
)
_WEAK = (
    r"key|authorization|authentication|auth|api|hash|salt|signature|sig|sid|code|schl\xfcssel|zugangscode|login|creds?"
)

TRIGGER = Pattern(rf"{_STRONGEST}|{_QUALIFIED}|{_STRONG}|(?:pass|pw|pat|{_WEAK})s?(?:[^a-z]|\z)", ignore_case=True)

_IS_STRONGEST = re.compile(rf"(?i)(?:{_STRONGEST}|pass|pw)\Z")
_IS_STRONG = re.compile(rf"(?i)(?:{_QUALIFIED}|{_STRONG}|pat)\Z")
_FREE_STANDING = re.compile(
    r"(?i)(?:pass|pw|pwd|psk|pat|otp|seed|jwt|dsn|key|access|private|auth|api|hash|salt|signature|sig|sid"
    r"|code|login|creds?|nonce|cookie|crumb)\Z"
)
_GLUED = re.compile(
    r"(?i)(?:db|user|usr|remote|admin|root|my|sql|api|ftp|smtp|imap|mail|ssh|web|app|vpn|default|sudo|become"
    r"|sample|test|irc|wifi|wlan|bind|ldap|redis|vnc|rdp|master|secret|access|auth|private|public|host|dns"
    r"|tls|ssl|ssl|license|sign|crypt)\Z"
)

_HARMLESS_AFTER = frozenset(words("harmless_after"))
_HARMLESS_BEFORE = frozenset(words("harmless_before"))
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME_BACKWARDS = re.compile(r"[A-Za-z0-9_.$-]*")
_REST = re.compile(r"[A-Za-z0-9_-]{0,80}")
_REACH = 64
_NO_NAME = frozenset(" \t\r\n\"'`()[]{}<>:=,;|/*!?&")


def triggers(page: Page) -> Iterator[tuple[int, int]]:
    """Where the keywords lie, also those that turn out to be part of other words."""
    for start, end in TRIGGER.spans(page):
        yield start, end if page.text[end - 1].isalpha() else end - 1


class Key(NamedTuple):
    """A name beside which a secret may stand: where the whole name lies, where its keyword ends, and what it says."""

    start: int
    keyword_end: int
    end: int
    strength: Strength
    name: str


def key_at(text: str, start: int, end: int) -> Key | None:
    """The name around a keyword; None when it is part of another word or its neighbours make it harmless."""
    if (not start or text[start - 1] in _NO_NAME) and (end >= len(text) or text[end] in _NO_NAME):  # most stand alone
        strength = _strength("", text[start:end], "")
        return None if strength is None else Key(start, end, end, strength, text[start:end])
    behind, ahead = _NAME_BACKWARDS.match(text[max(0, start - _REACH) : start][::-1]), _REST.match(text, end)
    left, right = start - behind.end() if behind else start, ahead.end() if ahead else end
    strength = _strength(text[left:start], text[start:end], text[end:right])
    return None if strength is None else Key(left, end, right, strength, text[left:right])


@functools.lru_cache(4096)
def _strength(before: str, keyword: str, after: str) -> Strength | None:
    """What a name says that is made of these parts; a text repeats its names, so the last ones are remembered."""
    if not _begins(before, keyword) or not _ends(keyword, after):
        return None
    plural = after[:1] in ("s", "S")
    parts = [part.lower() for part in _PARTS.findall(after[plural:])] if after else []
    if not _HARMLESS_AFTER.isdisjoint(parts):
        return None
    earlier = _PARTS.findall(before) if before else []
    if earlier and earlier[-1].lower() in _HARMLESS_BEFORE and keyword.lower() != "psk":
        return None
    if _IS_STRONGEST.match(keyword):
        return Strength.PASSWORD
    if _IS_STRONG.match(keyword) or any(part.lower() in _QUALIFIERS for part in earlier + parts):
        return Strength.SECRET
    return Strength.WEAK


_QUALIFIERS = frozenset(
    ["secret", "token", "apikey", "private", "access", "auth", "oauth", "credential", "credentials"]
)


def _begins(before: str, keyword: str) -> bool:
    """Whether a name's word begins with the keyword: ``db_pass`` and ``dbPass`` yes, ``compass`` no."""
    if not before or not before[-1].isalpha():
        return True
    if before[-1].islower() and keyword[0].isupper():
        return True
    if keyword[0].lower() in "pk":  # pass, pw, key: dbpass, sshkey
        return not _FREE_STANDING.match(keyword) or _GLUED.search(before) is not None
    return not _FREE_STANDING.match(keyword)


def _ends(keyword: str, after: str) -> bool:
    """Whether a name's word ends with the keyword: ``token1``, ``tokens`` and ``tokenValue`` yes, ``tokenizer`` no."""
    if not after or not after[0].isalpha():
        return True
    if after[0] in "sS":
        return not after[1:2].islower()
    return after[0].isupper() and keyword[-1].islower()
