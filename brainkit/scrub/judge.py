"""Is this value a secret? ``harmless`` knows what never is one, ``looks_random`` what no person writes as a word."""

from __future__ import annotations

import base64
import binascii
import re

from brainkit.scrub.rules import words

_NOTHING = frozenset(words("nothing"))
_WEAK_BUT_REAL = frozenset(
    (
        "password",
        "passwort",
        "secret",
        "admin",
        "root",
        "guest",
        "postgres",
        "mysql",
        "default",
        "example",
        "pass",
    )
)
"""Words that are nothing in prose but are somebody's password when they stand alone as the value of a setting."""

_TEMPLATE = re.compile(
    r"\$\{\{?[^{}]{0,200}\}\}?|\{\{[^{}]{0,300}\}\}|\{%[^%]{0,300}%\}|\$\([^()]{0,200}\)|<%[^%]{0,200}%>"
    r"|\$__\w{1,20}\{[^{}]{0,200}\}|\$[A-Za-z_]\w{0,80}\b|\$[1-9@*]"
    r"|%\([\w.]{1,60}\)[sd]|%[A-Z_][A-Z0-9_]{2,60}%|@[A-Z_]{3,60}@|\{[A-Za-z_][\w.]{0,60}(?:\(\))?\}"
    r"|%[sdvq]|#\{[^{}]{0,200}\}|\[\[[^\[\]]{0,200}\]\]"
)
_REFERENCE = re.compile(
    r"(?i)(?:ENC\[|age1[0-9a-z]{20}|sha(?:1|224|256|384|512)[:-]|(?:hashi)?vault[:+]|op://|ref\+|bws:|ssm:"
    r"|arn:|secretref:|secretkeyref|keyring:|keychain:|env[:.]|file:|data:|urn:"
    r"|!(?:vault|env|secret|ref|sub|include|getatt|lambda|unsafe|env_var|file)\b|ssh-(?:rsa|ed25519|dss)"
    r"|ecdsa-sha2|sk-ssh|(?:const|var|let|local|module|each|self|this|data|process|os|config|settings|env"
    r"|args|opts|options|request|req|props|params|ctx|inputs|secrets|values|item|vars|hostvars|include"
    r"|lookup|facts|context|state)[.\[(]"
    r"|\$\(|`|[*&][A-Za-z_][\w.-]*\Z|(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d{1,5})?\Z|\$ANSIBLE_VAULT|-----BEGIN "
    r"(?:CERT|PUB|AGE ENC|PGP (?:PUB|MES|SIG)|SSH SIG)|[a-z][a-z0-9+.-]{1,20}://|redacted|<|&lt;|\*{3}"
    r"|\.{3}|…|\?{3})"
)
_PATH = re.compile(
    r"(?:~|\.{1,2})?/[\w.@~+-]+(?:/[\w.@~{}$+-]*)*|(?:[A-Za-z]:)?(?:\\\\?[\w. -]+){2,}|[\w.-]+"
    r"(?:/[\w.-]+)+\.(?:ya?ml|json|txt|pem|crt|key|env|conf|ini|toml|md|py|sh|enc|age|gpg)|[\w-]+\."
    r"(?:ya?ml|json|txt|pem|crt|key|env|conf|ini|toml|md|py|sh|enc|age|gpg|html|js|ts|go|svg|png)"
)
_PLACEHOLDER = re.compile(
    r"(?i)[xX*.•_#-]+|(?=.{0,200}\Z).*(?:x{6,}|\.{3}|\*{3}|_here\b|-here\b).*|<.*>|\[[^\d\]]*\]|"
    r"(?:please[_ -]?)?(?:insert|replace|enter|put|add|paste|fill|provide|type|use|choose|generate|your"
    r"|dein|ihre?|mein|some|actual|change[_-]?me)[_ -].*|your(?:password|token|key|secret|api).*"
    r"|(?=.{0,200}\Z).*[_ -](?:goes|go|here|placeholder)"
)
_GLUED_ENDING = re.compile(r"(?i)\.(?:md|markdown|txt|ya?ml|json|py|conf|cfg|ini|toml|env|csv|log|sh)\Z")
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_./][a-z0-9]+)+")
_POD = re.compile(r"[a-z0-9-]{2,60}?-[0-9a-f]{7,10}-[a-z0-9]{5}|[0-9a-f]{8,10}-[a-z0-9]{5}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_GROUPS = re.compile(r"[A-Z0-9]{4,12}(?:-[A-Z0-9]{4,12}){2,}")  # the form of a licence key
_ISSUED_GROUPS = re.compile(r"[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){3,7}")  # an app password of Nextcloud
_HUMP = re.compile(r"[a-z][A-Z]|[0-9][a-z]")
_LIKE_UUID = re.compile(r"[0-9a-z]{8}(?:-[0-9a-z]{4}){3}-[0-9a-z]{12}")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=[\w.-]")
_TOKENISH = re.compile(r"[A-Za-z0-9+/=_.~:%@!$^&*#?|-]+")
_SPLIT = re.compile(r"[-_./:+=~%@!$^&*#?|]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_VOWEL = re.compile(r"(?i)[aeiouyäöü]")
_JOINED_WORDS = re.compile(r"[-_.]")
_WITH_NUMBER = re.compile(r"[-_.][0-9]{2,8}(?:[-_.]|\Z)|[a-z]{3}[0-9]\Z")
_OF_THINGS = frozenset(
    (
        "password",
        "passwort",
        "passwords",
        "secret",
        "secrets",
        "token",
        "key",
        "keys",
        "credential",
        "credentials",
        "creds",
        "ref",
        "vault",
        "keepass",
        "keepassxc",
        "bitwarden",
        "sops",
        "file",
        "sha",
        "md5",
        "bcrypt",
        "argon2",
        "policy",
        "hash",
        "see",
        "siehe",
        "utf",
        "iso",
        "step",
        "min",
        "max",
    )
)
_MARKUP = re.compile(r"://|</|\$\{|\{\{|\]\(|%\(|\\[dwsbnx]|\(\?|\[\^?[a-zA-Z0-9]-")
_SAME = re.compile(r"([A-Za-wyz0-9])\1{6,}")
_CONSONANTS = re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{5,}")


def without_templates(value: str) -> str:
    """The value less its ``${VAR}``, ``{{ template }}`` and ``$(command)`` parts."""
    return _TEMPLATE.sub("", value) if any(c in value for c in "${%@[#") else value


def harmless(value: str) -> bool:
    """True for what is no secret: nothing, a template, a path, a placeholder, a reference to what lies elsewhere."""
    value = value.strip()
    if len(value) < 2 or value.lower() in _NOTHING or not any(c.isalnum() for c in value):
        return True
    return bool(_REFERENCE.match(value) or _PATH.fullmatch(value)) or stands_in(value)


def stands_in(value: str) -> bool:
    """True for what stands where a secret would: a placeholder (``xxxxxxxx``, ``<token>``) or a template."""
    if _PLACEHOLDER.fullmatch(value):
        return True
    if ("$(" in value and ")" not in value) or (value.startswith("${") and "}" not in value):
        return True  # the beginning of $(a command), ${A:?a message}
    rest = without_templates(value)
    return rest != value and (len(rest.strip(" \"':;,/@.-_|()+")) < 4 or harmless(rest))


def without_ending(value: str, *, hexadecimal: bool = False) -> str:
    """The value less a file ending glued to it (``fqMw9ukjkU1In.md``); file names and, unless told, digests stay."""
    ending = _GLUED_ENDING.search(value)
    if ending is None:
        return value
    rest = value[: ending.start()]
    if is_hex(rest):
        return rest if hexadecimal and looks_random(rest) else value
    if "/" in rest and (rest[0] in "/~." or not (looks_issued(rest) or decoded(rest))):
        return value
    return rest if looks_random(rest.rstrip("=")) or ":" in (decoded(rest) or "") else value


def common_word(value: str) -> bool:
    """True for words that are a weak password when they stand alone as a setting's value (``admin``), else not one."""
    return value.lower() in _WEAK_BUT_REAL


def is_name(value: str) -> bool:
    """True for names of things: ``DB_PASSWORD``, ``foo-tls``, ``grafana/admin``, ``client_id=web``."""
    if _POD.fullmatch(value) or is_env_name(value) or _ASSIGNMENT.match(value):
        return True
    return bool(_NAME.fullmatch(value)) and not looks_random(value)


def is_worded(value: str) -> bool:
    """True for words and a number that a person joined to a password: ``sehr-geheim-4711``, ``sommar_sol_2025``.

    Names of things have that form too (``node-42``): only for what a text calls a password in so many words.
    """
    parts = _JOINED_WORDS.split(value)
    if len(value) < 7 or len(parts) < 2 or not _NAME.fullmatch(value.lower()) or not _OF_THINGS.isdisjoint(parts):
        return False
    return any(len(part) >= 3 and part.isalpha() for part in parts) and _WITH_NUMBER.search(value) is not None


def is_env_name(value: str) -> bool:
    """True for ``DB_PASSWORD``."""
    return bool(_ENV_NAME.fullmatch(value)) and not looks_random(value)


def is_hex(value: str) -> bool:
    """True for hexadecimal digits, both letters and figures among them, or a UUID."""
    if _UUID.fullmatch(value):
        return True
    return bool(_HEX.fullmatch(value)) and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def looks_random(value: str, least: int = 8) -> bool:
    """True when a value of at least that length holds a stretch that is no word, no name and no plain number."""
    if len(value) < least or not _TOKENISH.fullmatch(value):
        return False
    if is_hex(value):
        return len(value) >= 14
    if (_GROUPS.fullmatch(value) and len({len(part) for part in value.split("-")}) == 1) or _LIKE_UUID.fullmatch(value):
        return any(c.isdigit() for c in value) and len(value) >= 19
    if _ISSUED_GROUPS.fullmatch(value) and len({len(part) for part in value.split("-")}) == 1:
        return any(c.isdigit() for c in value) and _HUMP.search(value) is not None
    odd = sum(len(part) for part in _SPLIT.split(value) if len(part) > 4 and not _wordy(part))
    return any(c.isalpha() for c in value) and odd >= 6 and odd * 5 >= len(value) * 2


def _wordy(part: str) -> bool:
    """A word, CamelCase words, a number, or a word with a short number (``v2``, ``node03``, ``sha256``)."""
    pieces = _CAMEL.findall(part)
    letters = [p for p in pieces if p.isalpha()]
    if not letters:
        return len(part) <= 12
    if any(len(p) >= 5 and _VOWEL.search(p) is None for p in letters) or _SAME.search(part):
        return False
    if len(letters) == len(pieces):
        run = _CONSONANTS.search(part)
        if (
            len(part) >= 14
            and run is not None
            and (len(run.group()) >= 6 or len(part) >= 20 or part.islower() or part.isupper())
        ):
            return False
        return len(part) / len(letters) >= 3 or len(part) <= 5
    if len(pieces) == 2 and len(pieces[0 if pieces[1].isdigit() else 1]) <= 12:
        return len(part) <= 14 and len(pieces[1] if pieces[1].isdigit() else pieces[0]) <= 4
    return len(part) <= 4 or (len(pieces) <= 3 and len(part) <= 8 and len(part) - sum(map(len, letters)) <= 2)


def looks_issued(value: str) -> bool:
    """True for a random value as services issue them: long, and of both cases or hexadecimal."""
    if not looks_random(value, 16):
        return False
    mixed = any(c.islower() for c in value) and any(c.isupper() for c in value) and any(c.isdigit() for c in value)
    return (
        mixed or len(value) >= 50 or any(len(part) >= 32 and is_hex(part) for part in re.split(r"[^0-9A-Za-z]+", value))
    )


def looks_garbled(value: str) -> bool:
    """True for what a generator makes of all characters (``a7$kQ{9]wp;Lm2>x``): long, no blank, signs all over."""
    if len(value) < 14 or " " in value or _MARKUP.search(value):
        return False
    signs = sum(not c.isalnum() and c not in "-_./" for c in value)
    kinds = any(map(str.isupper, value)) + any(map(str.islower, value)) + any(map(str.isdigit, value))
    return kinds >= 2 and signs >= 3 and signs * 8 >= len(value) and signs * 2 <= len(value)


def looks_chosen(value: str) -> bool:
    """True for what a person picks as a password: no blank, and letters mixed with figures or signs."""
    if " " in value or len(value) < 4:
        return False
    letters = any(c.isalpha() for c in value)
    other = any(c.isdigit() or not (c.isalnum() or c in "-_./:,") for c in value)
    return letters and other


def decoded(value: str) -> str | None:
    """The text that a base64 value holds, or None when it is not base64 of readable text."""
    if len(value) < 4 or not re.fullmatch(r"[A-Za-z0-9+/_-]+={0,2}", value):
        return None
    try:
        raw = base64.b64decode(value.replace("-", "+").replace("_", "/") + "=" * (-len(value) % 4), validate=True)
        text = raw.decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return text if text and all(c.isprintable() or c in "\r\n\t" for c in text) else None
