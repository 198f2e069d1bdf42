"""Secrets that span lines: private keys, Kubernetes Secrets, seed phrases, recovery codes; texts of one token."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

from brainkit.scrub import judge
from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.result import Finding

_BEGIN = Pattern(r"-{4,5} ?BEGIN [A-Z0-9a-z ]{0,40}?(?:PRIVATE KEY|Static key|SECRET KEY)[A-Z0-9a-z ]{0,12} ?-{4,5}")
_EDGE = Pattern(r"-{4,5} ?(?:BEGIN|END) [A-Za-z0-9 ]{3,60}?-{4,5}")
_KEY_SIZE = 40_000
_BODY = re.compile(r"[A-Za-z0-9+/=]{16,}")
_NOTHING_MORE = re.compile(r"[\s\\nr\"']{0,80}\Z")
_BODY_LINES = Pattern(
    r"(?:[\s\"'`+,>|#*\\-]*[A-Za-z0-9+/=\\]{16,}[ \t\r\"'`+,;\\]*(?:\n|\z)|[ \t]*(?:Proc-Type|DEK-Info|Ver"
    r"sion|Comment|Hash|Charset)[ \t]*:[^\n]*\n|[ \t\r]*\n)*"
)
_PUTTY = Pattern(r"Private-Lines: \d{1,3}\s*\n")

_SECRET_KIND = Pattern(
    r"(?m)^[ \t]*[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?Secret[\"']?[ \t\r]*$",
    ignore_case=True,
    first_look=r"(?i)kind[\"']?[ \t]{0,2}:[ \t]{0,4}[\"']?secret",
)
_DOCUMENT = re.compile(r"(?m)^---[ \t\r]*$")
_DATA = re.compile(r"(?mi)^([ \t]*)(?:stringData|data)[ \t]*:[ \t\r]*$")
_ENTRY = re.compile(r"(?m)^([ \t]+)[\"']?([\w.-]+)[\"']?[ \t]*:[ \t]*(.*?)[ \t\r]*$")
_PLAIN_KEY = re.compile(
    r"(?i)(?:.*[_.-])?(?:user(?:name)?|login|host(?:name)?|port|database|db(?:name)?|url|endpoint|region"
    r"|bucket|email|type|name|ca\.crt|tls\.crt|cert|cert_?file|domain|project|scheme|ssl_?mode)"
)

_SEED = Pattern(
    r"seed|mnemonic|wallet[ -]?(?:words|w\xf6rter|seed|phrase|backup|recovery)"
    r"|(?:recovery|backup) (?:phrase|words)|wiederherstellungs(?:phrase|w\xf6rter)|secret phrase",
    ignore_case=True,
)
_PHRASE = re.compile(
    r"[^\n]{0,80}?(?:[:=\n`\"'>|-]|\bis\b|\bist\b)[\s`\"'>*|-]{0,12}((?:"
    r"(?:\d{1,2}[.):]\s{0,2})?[a-z]{3,8}[\s,]{1,4}){11,24}(?:\d{1,2}[.):]\s{0,2})?[a-z]{3,8})\b"
)
_GRAMMAR = frozenset(
    [
        "the",
        "and",
        "for",
        "are",
        "was",
        "not",
        "but",
        "has",
        "his",
        "her",
        "our",
        "with",
        "from",
        "have",
        "which",
        "its",
        "been",
        "were",
        "also",
        "than",
        "when",
        "into",
        "should",
        "you",
        "your",
        "can",
        "will",
        "der",
        "die",
        "das",
        "und",
        "ist",
        "nicht",
        "mit",
        "von",
        "eine",
        "den",
        "dem",
    ]
)

_DIAL_IN = re.compile(
    r"(?m)^[ \t]*(?:\"[^\"\n]{1,100}\"|[^\s\"#]{1,100})[ \t]+(?:\*|[\w.-]{1,64})[ \t]+"
    r"(?:\"([^\"\n]{3,128})\"|([^\s\"#]{4,128}))(?:[ \t]+[\d.*/]+)*[ \t\r]*$"
)
_CODES = Pattern(
    r"(?:recovery|backup|2fa|mfa|scratch|emergency|wiederherstellungs|notfall|ersatz)[ -]?codes?\b", ignore_case=True
)
_CODE_LINE = re.compile(
    r"[ \t>|*-]*(?:\d{1,2}[.):][ \t]+)?[`\"']?((?:[A-Za-z0-9]{4,10}[- ]){1,3}[A-Za-z0-9]{4,10}|[0-9]{6,12}"
    r"|[A-Za-z0-9]{8,16})[`\"',]?[ \t]*(?:[|,;][ \t]*[^\n]*)?(?:\r?\n|\Z)"
)
_USED_UP = re.compile(
    r"[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+(?:\[x\][ \t]+)?(?:~~[^~\n]{1,40}~~|\(?(?:used|verbraucht|benutzt"
    r"|weg)\)?)[ \t]*\r?\n"
)
_PUBLIC = re.compile(r"(?i)\w*(?:pub|public|pk|publishable|site)_?(?:key)?=")
_BLANK_LINE = re.compile(r"[ \t]*(?:```\w*)?[ \t]*\r?\n")


def find(page: Page) -> list[Finding]:
    """Every secret of the text that is more than a value beside a name."""
    found = [*_private_keys(page), *_putty(page), *_kubernetes(page), *_seeds(page), *_codes(page), *find_bare(page)]
    return [*found, *_dial_in(page)] if "ap-secrets" in page.text else found


def _private_keys(page: Page) -> Iterator[Finding]:
    """PEM, OpenSSH, PGP and OpenVPN keys with their markers; without an end, as far as lines can be part of one."""
    text = page.text
    begins = list(_BEGIN.spans(page))
    if not begins:
        return
    edges = list(_EDGE.spans(page))
    starts = [start for start, _ in edges]
    for start, body in begins:
        following = bisect_left(starts, body)
        if (
            following < len(edges)
            and edges[following][0] - body <= _KEY_SIZE
            and "END" in text[slice(*edges[following])]
        ):
            if "\n" in text[body : edges[following][0]] or _BODY.search(
                text, body, edges[following][0]
            ):  # else a mention of both markers
                yield Finding("private-key", start, edges[following][1])
        else:
            lines = _BODY_LINES.compiled.match(page.data, body, min(len(text), body + _KEY_SIZE))
            if lines is not None and (_BODY.search(text, body, lines.end()) or _NOTHING_MORE.match(text, body)):
                yield Finding("private-key", start, lines.end())


def _putty(page: Page) -> Iterator[Finding]:
    text = page.text
    for _, head in _PUTTY.spans(page):
        at = head
        count = int(text[text.rindex(":", 0, at) + 1 : at])
        for _ in range(count):
            body = _BODY.match(text, at)
            if body is None:
                break
            yield Finding("private-key", body.start(), body.end())
            at = text.find("\n", at) + 1
            if at == 0:
                break


def _kubernetes(page: Page) -> Iterator[Finding]:
    """Values below ``data`` and ``stringData`` of a Secret, decoded where base64."""
    text = page.text
    kinds = list(_SECRET_KIND.spans(page))
    if not kinds:
        return
    cuts = [0, *(m.start() for m in _DOCUMENT.finditer(text)), len(text)]
    position = 0
    for start, end in pairwise(cuts):
        while position < len(kinds) and kinds[position][0] < start:
            position += 1
        if position == len(kinds) or kinds[position][0] >= end:
            continue
        for block in _DATA.finditer(text, start, end):
            yield from _entries(
                text, block.end(), end, len(block.group(1)), encoded="string" not in block.group().lower()
            )


def _entries(text: str, at: int, end: int, indent: int, *, encoded: bool) -> Iterator[Finding]:
    at = text.find("\n", at, end) + 1
    while 0 < at < end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        line = text[at:stop]
        if line.strip() and not line.lstrip().startswith("#"):
            if len(line) - len(line.lstrip()) <= indent:
                return
            entry = _ENTRY.fullmatch(line)
            if entry:
                value = entry.group(3).strip("\"'")
                begin = at + entry.start(3) + len(entry.group(3)) - len(entry.group(3).lstrip("\"'"))
                if _entry_is_secret(entry.group(2), value, encoded=encoded):
                    yield Finding("kubernetes-secret", begin, begin + len(value))
        at = stop + 1


def _entry_is_secret(name: str, value: str, *, encoded: bool) -> bool:
    if value[:1] in ("|", ">", "{", "[", "&", "*", "!") or judge.harmless(value):
        return False
    plain = judge.decoded(value) if encoded else value
    if plain is None:
        return len(value) >= 8  # bytes: a key
    plain = plain.strip()
    if "@" in plain and "://" in plain:
        return True
    if _PLAIN_KEY.fullmatch(name):
        return judge.looks_random(plain, 20)
    return not judge.harmless(plain) and len(plain.split()) <= 4 and "\n" not in plain and len(plain) >= 3


def _seeds(page: Page) -> Iterator[Finding]:
    """12 to 24 words of a wallet's seed phrase (BIP 39) after a word that announces them."""
    text = page.text
    done = 0
    for start, end in _SEED.spans(page):
        found = _PHRASE.match(text, end) if start >= done else None
        if found is None:
            continue
        words = re.findall(r"[a-z]{3,8}", found.group(1))
        if len(words) >= 12 and not _GRAMMAR.intersection(words):
            done = found.end(1)
            yield Finding("seed-phrase", found.start(1), found.end(1))


def _codes(page: Page) -> Iterator[Finding]:
    """Lines of recovery codes below a line that announces them."""
    text = page.text
    for _, end in _CODES.spans(page):
        at = text.find("\n", end, end + 200) + 1
        blanks = 0
        while at:
            blank = _BLANK_LINE.match(text, at)
            line = None if blank else _CODE_LINE.match(text, at)
            blank = blank or _USED_UP.match(text, at)
            if blank and blanks < 20:
                at, blanks = blank.end(), blanks + 1
            elif line and any(c.isdigit() for c in line.group(1)):
                yield Finding("recovery-code", line.start(1), line.end(1))
                at, blanks = line.end() if line.end() < len(text) else 0, 0
            else:
                break


def _dial_in(page: Page) -> Iterator[Finding]:
    """``user server secret`` lines, below a mention of pppd's chap-secrets or pap-secrets."""
    for line in _DIAL_IN.finditer(page.text, page.text.index("ap-secrets")):
        start, end = line.span(1) if line[1] else line.span(2)
        if line[1] or judge.looks_chosen(line[2]):
            yield Finding("password", start, end)


def find_bare(page: Page) -> Iterator[Finding]:
    """A text that is nothing but one random token: a master.key, a pasted key as a question."""
    text = page.text
    token = text.strip()
    if (
        not 16 <= len(token) <= 4096
        or len(token.split(None, 1)) != 1
        or judge.harmless(token)
        or "..." in token
        or token.startswith(("AAAA", "http"))
        or _PUBLIC.match(token)
    ):
        return
    mixed = any(c.islower() for c in token) and any(c.isupper() for c in token) and any(c.isdigit() for c in token)
    hexadecimal = len(token) == 32 and judge.is_hex(token)
    if hexadecimal or (mixed and judge.looks_random(token, 16)):
        start = text.index(token)
        yield Finding("bare-token", start, start + len(token))
