"""Where a value begins and ends after its key, in whatever syntax, and whether it is a secret."""

from __future__ import annotations

import re
from typing import NamedTuple

from brainkit.scrub import judge
from brainkit.scrub.keywords import Key, Strength
from brainkit.scrub.rules import words

_OPEN_QUOTE = re.compile(r"""[A-Za-z@$]{0,2}(\\{0,3}(?:\"\"\"|'''|["'`]))""")
_LONGEST = 8000
_JUDGED = 96  # characters of a value that are judged
_BARE = re.compile(r"[^\s\"'`<>]\S{0,399}")
_CALL = re.compile(r"[A-Za-z_][\w.:>-]{0,80}\(")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+(?:\(.*)?(?:\[.*)?")
_VERSION = re.compile(r"[vV]?\d+(?:[._-][\w]+)*")
_NESTED = re.compile(r"\w[=:]\w")  # another key with its value
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_CHOSEN_WORD = re.compile(r"[A-Za-zÀ-ÿ]{3,}[0-9]{1,6}[!@#$%&*?.]*")
_TERMS = re.compile(
    r"(?i)(?:base|sha|md|utf|ipv?|oauth|x|ed|argon|pbkdf|aes|rsa|k|s|h|v|http|p|ec|rc|hs|rs|es|ps|curve"
    r"|pkcs|tls|int|uint|float|win|mp|php|python|node|postgres|web|step|day|part|user|app|test|server|vlan"
    r"|port|eth|line|page|version|key|token|secret|option|level|uid|gid|pid|tmux|wpa|wifi|psk|id|luks|fido|u|usb|cve|rfc|iso|din)-?[0-9]{1,5}"
)
_NAMED_AFTER = re.compile(
    r"(?i)(?:.*[-_./])?(?:passwords?|passwd|secrets?|tokens?|keys?|credentials?|creds|ref|cert|tls|name)"
)
_SENTENCE = re.compile(
    r"(?i)\b(?:password|passwort|kennwort|enter|must|please|invalid|required|forgot|confirm|the|your|with"
    r"|from|for|is|der|die|das|und|and|or|not|will|can|should|see|bitte|eingeben|characters|zeichen|in)\b"
)
_RELEASE = re.compile(r"[vV]?\d+(?:[._]\w+)+(?:-[\w.]+)*|[vV]\d\S*")
_BRACKETS = re.compile(r"[()\[\]{}<>|\\]|://")
_JOINTS = re.compile(r"[-_./:,&+]")
_SIGN_WITHIN = re.compile(r"(?<=\w)[!@#$%*?^~](?=\w)")
_COUNTED = re.compile(
    r"\d+(?:[.,]\d+)?(?:[A-Za-z%]{1,5}|-[A-Za-z]{3,}|[a-z\xe4\xf6\xfc\xdf]{3,}|[-/]\d+)|[<>~]?\d[\d.,:-]*\S?"
)
_ADDRESS = re.compile(
    r"[\w.+-]+@[\w.-]+|(?:[A-Za-z0-9-]+\.){1,6}(?:com|net|org|io|de|eu|dev|example|local|lan|home|arpa)(?:[:/].*)?|[0-9a-f]{2}(?::[0-9a-f]{2}){5}",
    re.IGNORECASE,
)
_SERIAL = re.compile(r"[A-Z]{2,6}-?\d+(?:-\d+)*")
_NAMES_OF_IT = frozenset(("password", "passwort", "kennwort", "pass", "passwd", "secret"))
_SIGNS = re.compile(r"[!@#$%&*?+^~]")
_SHUFFLED = re.compile(
    r"(?!(?:[A-Z][a-z]{2,}){1,4}[0-9]{1,6}\Z)(?=.*[A-Z].*[A-Z]|.*[0-9].*[a-z].*[0-9])(?=.*[0-9])(?=.*[a-z])[A-Za-z0-9]{6,}"
)
_TECHNICAL = re.compile(
    r"(?i)sha\d|md5|aes|rsa|bcrypt|argon|pbkdf|base\d\d|utf|[kmgt]i?b\Z|win(?:dows)?\d|oauth|ed25519|luks\d|keepass|x509|tls|ipv"
)
_EXCLAIMED = re.compile(r"[^\W\d_]{3,}[!$%&+#][^\W\d_]{3,}[!$%&+#]?")
_NO_BEGINNING = "$@#%&*-/~"
GRAMMAR = frozenset(words("grammar"))
"""Words that hold sentences together: a passphrase has none of them."""

_OPENERS = {")": "(", "]": "[", "}": "{"}


class Value(NamedTuple):
    """A value in the text, and how it stands there."""

    start: int
    end: int
    text: str
    quoted: bool = False
    literal: bool = False  # a whole line of a settings file, or a KEY=value: no variable of a program
    exact: bool = False  # right after KEY=, where neither sentences nor names of a program stand
    followed: str = ""  # the character after it


def read_quoted(text: str, at: int) -> Value | None:
    """The value in quotes at this place, escaped quotes of nested JSON included."""
    opened = _OPEN_QUOTE.match(text, at)
    if opened is None:
        return None
    quote, start = opened.group(1), opened.end()
    line_end = text.find("\n", start, start + _LONGEST)
    limit = line_end if line_end >= 0 else min(len(text), start + _LONGEST)
    end = text.find(quote, start, limit)
    while end > start and text[end - 1] == "\\" and not quote.startswith("\\"):
        end = text.find(quote, end + 1, limit)
    if end < 0:
        return None
    after = end + len(quote)
    value = judge.without_ending(text[start:end])
    return Value(start, start + len(value), value, quoted=True, followed=text[after : after + 1])


def read_bare(text: str, at: int, *, stops: str = "") -> Value | None:
    """The unbroken run at this place, without closing brackets and punctuation that are not its own."""
    found = _BARE.match(text, at)
    if found is None:
        return None
    run = found.group()
    for stop in stops:
        run = run.split(stop, 1)[0]
    size = len(run)
    while size and (run[size - 1] in ",;\"'`<>\\|" or (run[size - 1] in ".:" and size > 1) or _unopened(run[:size])):
        size -= 1
    if not size:
        return None
    size = len(judge.without_ending(run[:size]))
    return Value(at, at + size, run[:size], followed=text[at + size : at + size + 1])


def _unopened(run: str) -> bool:
    opener = _OPENERS.get(run[-1])
    return opener is not None and run.count(run[-1]) > run.count(opener)


def is_secret(key: Key, value: Value) -> bool:
    """Whether the value beside this key is a secret."""
    text = value.text[:_JUDGED].strip()
    if key.strength > Strength.WEAK:
        text = judge.without_ending(text, hexadecimal=True)
    if judge.harmless(text):
        return (
            key.strength == Strength.PASSWORD
            and (value.quoted or value.literal)
            and judge.common_word(text)
            and not (text.lower() in _NAMES_OF_IT and key.name.lower().rpartition(".")[2] in _NAMES_OF_IT)
        )
    dotted = not value.quoted and not value.exact and _DOTTED.fullmatch(text) and not judge.looks_random(text, 16)
    if dotted or (not value.quoted and _CALL.match(text)):
        return False
    if value.quoted and judge.looks_garbled(text):
        return True
    if key.strength == Strength.PASSWORD:
        return _is_password(text, value)
    if key.strength == Strength.SECRET:
        return _is_token(text, value)
    return _is_long_token(key, text)


def _is_password(text: str, value: Value) -> bool:
    if " " in text:
        parts = text.split()
        return (
            (value.quoted or value.literal)
            and len(parts) <= 8
            and not any(word.startswith("-") for word in parts)  # a command
            and (value.exact or not _SENTENCE.search(text))
            and (value.exact or len(parts) > 2 or any(map(judge.looks_chosen, parts)))
        )
    if text.isdigit():
        return len(text) >= 4 and (value.quoted or value.literal)
    if judge.is_env_name(text) or (judge.is_name(text) and _NAMED_AFTER.fullmatch(text)):
        return False
    return value.quoted or value.literal or chosen_in_prose(text) or judge.is_worded(text)


def _is_token(text: str, value: Value) -> bool:
    if " " in text:
        return False
    if judge.looks_random(text, 8):
        return True
    if _VERSION.fullmatch(text):
        return False
    if judge.is_name(text) or judge.is_env_name(text):
        return False
    if (
        value.quoted
        and len(text) >= 8
        and judge.looks_chosen(text)
        and not _TERMS.fullmatch(text)
        and "/" not in text
        and ":" not in text
    ):
        return True
    return (
        value.literal
        and len(text) >= 8
        and text.isalnum()
        and (judge.looks_chosen(text) or (len(text) >= 12 and text.islower() and not _NAMED_AFTER.fullmatch(text)))
    )


def _is_long_token(key: Key, text: str) -> bool:
    if judge.is_hex(text):
        return len(text) >= 20 and key.name.lower().endswith(("key", "auth", "code", "sid", "sig"))
    if judge.looks_random(text, 16):
        return True
    plain = judge.decoded(text)
    return plain is not None and len(text) >= 8 and ":" in plain and " " not in plain


def chosen_in_prose(text: str) -> bool:
    """Whether a bare word of a sentence is a password: ``hunter2``, ``S0mmer!26``, not ``sha256``."""
    if (
        len(text) < 4
        or _NESTED.search(text)
        or not judge.looks_chosen(text)
        or _VERSION.fullmatch(text)
        or _TERMS.fullmatch(text)
        or judge.is_name(text)
    ):
        return False
    if judge.looks_random(text) or _CHOSEN_WORD.fullmatch(text):
        return True
    return (
        any(c in "!@#$%&*?^~" for c in text)
        and not any(c in "()[]{}<>" for c in text)
        and not text.startswith(("$", "@", "#", "%", "&", "*"))
    )


def shows_it(text: str) -> bool:
    """Whether a word by itself shows that it is no word of a sentence: random, or letters with figures and signs."""
    if judge.looks_random(text, 10):
        return True
    figures = any(map(str.isdigit, text))
    return (len(text) >= 6 and figures and bool(_SIGNS.search(text))) or bool(_SHUFFLED.fullmatch(text))


def is_beside(text: str) -> bool:
    """Whether a word right after ``password``, with no sign or verb between, is one: ``Tee2023``, ``Tee!Abend``."""
    if _TECHNICAL.search(text):
        return judge.looks_random(text, 14)
    if shows_it(text) or judge.is_worded(text):
        return True
    letters = sum(map(str.isalpha, text))
    if any(map(str.isdigit, text)):
        return letters >= 4 and len(text) >= 6 and not _SERIAL.fullmatch(text)
    return bool(_EXCLAIMED.fullmatch(text))


def chosen(text: str, *, quoted: bool = False) -> bool:
    """Whether a word that a sentence calls a password is one, not a term, name, number with its unit, or sentence part.

    Looser than ``chosen_in_prose``: ``4917-NV`` and ``rm7x.Mmjmy9.reqJ`` count. In quotes ``QX4711`` counts as well.
    """
    if len(text) < 4 or len(text) > _JUDGED or not judge.looks_chosen(text) or judge.harmless(text):
        return False
    if _RELEASE.fullmatch(text) or _NESTED.search(text) or _BRACKETS.search(text) or text[0] in _NO_BEGINNING:
        return False
    if all(part.isalpha() or _TERMS.fullmatch(part) for part in _JOINTS.split(text) if part):
        return False
    if not any(c.isdigit() for c in text):
        return len(text) >= 6 and _SIGN_WITHIN.search(text) is not None and "@" not in text
    named = judge.is_name(text) and not judge.looks_random(text) and not judge.is_worded(text)
    if named or _COUNTED.fullmatch(text) or _ADDRESS.fullmatch(text):
        return False
    return quoted or _SERIAL.fullmatch(text) is None
