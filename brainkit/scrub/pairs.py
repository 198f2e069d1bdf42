"""A key with its value beside it, in every syntax that a note, a script or a settings file has for that."""

from __future__ import annotations

import re

from brainkit.scrub import judge, layout
from brainkit.scrub.keywords import Key, Strength, key_at, triggers
from brainkit.scrub.page import Page
from brainkit.scrub.result import Finding
from brainkit.scrub.values import GRAMMAR, Value, chosen, chosen_in_prose, is_secret, read_bare, read_quoted

_ASSIGN = re.compile(
    r"""[ \t]{0,2}\\{0,3}["'`*_\])}]{0,4}(?:[ \t]?\([^()\n]{0,40}\))?\*{0,2}[ \t]{0,40}"""
    r"""(:=|=>|->|\xbb|[=!]==?|[?+|]{1,2}=|=|::?)\*{0,2}[ \t]{0,40}"""
)
_ANCHOR = re.compile(r"&[\w-]{1,40}[ \t]{1,4}(?=[^\s|>])")
_TYPED = re.compile(
    r"(?:&?'?\w*\s*)?(?:str|string|String|bytes|SecretStr|char\s?\*|Optional\[\w+\]|\w+\s?\|\s?None)\s{0,4}=\s{0,4}"
)
_DEFAULT = re.compile(
    r"""[\w.:>$\[\]"'-]{0,80}\(?["']?[\w.-]{0,80}["']?[)\]]{0,2}\s{0,3}(?:,|\bor\b|\|\||\?\?|\?:|:-|:=)\s{0,3}(?=["'])"""
)
_ARGUMENT = re.compile(r"""[ \t]?["'`]?[)\]]{0,2}\s{0,10}(?:,|\bor\b|\|\||\?\?)\s{0,20}(?=[rbfu@$]?\\{0,2}["'])""")
_GIVEN = re.compile(r"(?i)env|define\(\s?[\"']?\w{0,12}\Z")
_ATTRIBUTE = re.compile(
    r"""\\?["']?(?:[,;]\s{0,80}|\s{1,80})\\?["']?(?:default_?|secret_?|plain_?|string)?(?:value|content|text|default)\\?["']?\s{0,8}[:=]\s{0,8}""",
    re.IGNORECASE,
)
_ELEMENT = re.compile(
    r"""(?:[^<>\n]{0,80}>|["']\s{0,4}/?>)\s{0,8}(?:</key>\s{0,40}<string>)?(?:<!\[CDATA\[)?([^<>\s][^<>\n]{0,400}?)\s{0,8}(?:\]\]>\s{0,8})?</"""
)
_OPENED = re.compile(r"<(?:[\w.-]{1,40}:)?\Z")
_SIBLING = re.compile(
    r"""(?i)</[\w.:-]{1,40}>\s{0,80}<(?:(?:string|value|param-value|val|data|text)(?:\s[^<>]{0,80})?>)"""
    r"""\s{0,4}([^<>\n]{1,400}?)\s{0,4}</|>\s{0,40}<(?:value|string|text)>()([^<>\n]{1,400})</"""
)
_IS = re.compile(
    r"""["'`*)]{0,3}(?:[ \t][^\n.:;"'`|=]{0,48}?)??[ \t]+(?:is|was|are|ist|lautet|lauten|war|wird|hei(?:\xdf|ss)t"""
    r"""|(?:re)?set to|changed to|gesetzt auf|ge\xe4ndert auf|auf|to|mit|with)"""
    r"""(?:[ \t]+(?:now|still|currently|just|simply|jetzt|nun|noch|weiterhin|set|changed|to|auf|again|wieder)){0,3}"""
    r"""[ \t]*:?[ \t]+"""
)
_ARN = re.compile(r"\barn:[\w-]{1,20}:\w{1,20}:[\w:-]{0,50}\Z")
_DEFINED = re.compile(r"(?:#[ \t]?define|ENV|\bsetx|\bset -\w{1,3})[ \t]{1,3}\Z")
_PROSE = re.compile(r"[ \t](?!or[ \t])[A-Za-z]{1,15}(?:,?[ \t][A-Za-z(]|[.,;)]?\r?\n)")
_COLON = re.compile(r"[:>\xbb]")
_BLANKS = re.compile(r"\s{0,80}")
_SPACE = re.compile(r"[ \t]{1,3}(?:[:=] ?)?[\"'`(\[]?(?=[A-Za-z0-9+/_])")
_FOLLOW = re.compile(r"[^\n:]{0,60}:[ \t]*(?:\r?\n[ \t]*){1,3}[`\"']?([^\s`\"']{8,200})[`\"']?[ \t]*(?=\r?\n|\Z)")
_INTRODUCED = re.compile(r"[\"'`)]{0,2}[ \t]([^\n:=|]{1,60}?)(?::|[-=]>|\xbb)[ \t]{1,4}[\"'`]?(?=[A-Za-z0-9_-]{16})")
_ABOUT = re.compile(
    r"(?i)finger|sha|hash|commit|digest|\bid\b|public|checksum|revision|image|hint|not|never|nicht|kein"
)
_LIST = re.compile(r"""\[([^\[\]]{1,2000})\]""")
_LISTED = re.compile(r"""["']([^"'\n]{1,400})["']""")
_GLUED_VALUE = re.compile(
    r"(?:[-_]?(?:key|token|secret|access|api|id))*[-_]+([A-Za-z0-9][\w.~+/-]{15,}={0,2})(?![\w=])", re.IGNORECASE
)
_READ = 400
_REST_OF_LINE = re.compile(rf"[^\r\n]{{0,{_READ}}}")
_RUN = re.compile(r"[^\s\"'`]*")
_COMMENT = re.compile(r"[ \t](?:#|//|--|;)")
_SHORT = re.compile(r"[A-Za-z0-9][^\s\"'`]{0,6}(?:[ \r\n]|\Z)")
_COMPOSED = re.compile(r"[\"'`=&\[]")
_SETTING = re.compile(
    r"(?i)[\s\-*>#/;|+$\d.)]*(?:(?:export|set|setx|env|arg|declare(?: -\w)?|readonly|local|-e|--env|let"
    r"|const|var|final|private|public|static|run)[ \t]+)*[\"'`*_]{0,3}(?:[\w.-]+[.\[]['\"]?)?\Z"
)
_MORE_SETTINGS = re.compile(r";\s?[A-Za-z][\w .]{1,40}=")
_ASKS = re.compile(
    r"(?i)forg|chang|reset|enter|confirm|repeat|show|hide|need|requir|missing|invalid|wrong|error|type|choose|vergess|eing"
)
_OF_WHAT = re.compile(r"[ \t>*#-]*(?:[A-Za-z\xc0-\xff-]{2,16}[ -]){1,3}")  # wifi password: x
_ENV_KEY = re.compile(r"(?:\A|[^A-Za-z0-9_])[A-Z][A-Z0-9_]*\Z")
_KIND = {Strength.PASSWORD: "password", Strength.SECRET: "secret", Strength.WEAK: "key"}


def find(page: Page) -> list[Finding]:
    """Every value that stands beside a key and is a secret."""
    text = page.text
    found: list[Finding] = []
    done = 0
    for start, end in triggers(page):
        if start < done:
            continue
        key = key_at(text, start, end)
        if key is None:
            continue
        for value in _values(text, key):
            stop = value.end if value.quoted or value.end - value.start < _READ else _run_end(text, value.end)
            found.append(Finding(_kind(key), value.start, stop))
            done = max(done, stop)
    return found


def _run_end(text: str, at: int) -> int:
    """Where the unbroken run goes on to, of which only the beginning was read and judged."""
    rest = _RUN.match(text, at)
    return rest.end() if rest else at


def _kind(key: Key) -> str:
    name = key.name.lower()
    for kind in ("token", "api-key", "private-key", "passphrase", "cookie"):
        if kind.replace("-", "") in re.sub(r"[ _.-]", "", name):
            return kind
    return _KIND[key.strength]


def _values(text: str, key: Key) -> list[Value]:
    single = (_glued(text, key) if key.end > key.keyword_end else None) or layout.above(text, key)
    if single is not None:
        return [single]
    assign = _ASSIGN.match(text, key.end)
    message = text.startswith("${", key.start - 2) and assign and text.startswith(("?", "+"), assign.end())
    if assign and _is_none(text, key, assign.end()):
        return []
    if assign and not message and not text.startswith("//", assign.end()):
        return _assigned(text, key, assign)
    if key.end >= len(text) or (key.strength == Strength.WEAK and _PROSE.match(text, key.end)):
        return []
    gap = _BLANKS.match(text, key.end)
    next_word = text[gap.end() : gap.end() + 1] if gap else ""
    for after, then, read in _READERS:
        if text[key.end] in after and next_word in then and (value := read(text, key)) is not None:
            return [value]
    value = _COLON.search(text, key.end, key.end + 64) and (_introduced(text, key) or _followed(text, key))
    return [value] if value else []


def _glued(text: str, key: Key) -> Value | None:
    """``apikey-3c0c3965368a6b10f7640dbda46abfda``: the value is part of the name."""
    found = _GLUED_VALUE.match(text, key.keyword_end)
    if (
        found
        and judge.looks_random(found.group(1), 16)
        and not judge.stands_in(found.group(1))
        and not judge.is_name(found.group(1))
    ):
        return Value(found.start(1), found.end(1), found.group(1))
    return None


def _is_none(text: str, key: Key, at: int) -> bool:
    """Whether the key is part of an ARN, or what follows is a word too short for any token, as in most texts."""
    if text.startswith(":", key.start - 1):
        return _ARN.search(text, max(0, key.start - 100), key.start) is not None
    short = key.strength < Strength.PASSWORD and _SHORT.match(text, at)
    return bool(short) and not _COMPOSED.search(text, at, at + 100)


def _assigned(text: str, key: Key, assign: re.Match[str]) -> list[Value]:
    at = assign.end()
    if assign.group(1) == ":":
        anchor = _ANCHOR.match(text, at)
        at = anchor.end() if anchor else at
        typed = _TYPED.match(text, at) if "=" in text[at : at + 100] else None
        at = typed.end() if typed else at
        block = layout.BLOCK.match(text, at)
        if block:
            return layout.block(text, key, block.end())
    if at >= len(text) or text[at] in "\r\n":
        return layout.listed(text, key, at) or [v for v in (_followed(text, key),) if v]
    quoted = read_quoted(text, at)
    if quoted is not None:
        return _quoted(key, quoted, text[at], assign.group())
    array = _LIST.match(text, at)
    if array:
        items = (
            Value(array.start(1) + m.start(1), array.start(1) + m.end(1), m.group(1), quoted=True)
            for m in _LISTED.finditer(array.group(1))
        )
        return [item for item in items if is_secret(key, item)]
    ahead = text[at : at + 260]
    default = _DEFAULT.match(text, at) if '"' in ahead or "'" in ahead else None
    closing = _closing_quote(_before(text, key))
    if default and not (closing and closing in default.group()):
        value = read_quoted(text, default.end())
        return [value] if value and is_secret(key, value) else []
    value = _unquoted(text, key, at, assign.group(1))
    return [value] if value and is_secret(key, value) else []


def _quoted(key: Key, value: Value, sign: str, assign: str) -> list[Value]:
    output_of_command = sign == "`" and " " in value.text and assign == "="
    variable = assign == " :"  # :'name' in psql
    if output_of_command or variable:
        return []
    value = value._replace(literal=True, exact=assign == "=" and key.name.isupper())
    return [value] if is_secret(key, value) else []


def _unquoted(text: str, key: Key, at: int, operator: str) -> Value | None:
    before = _before(text, key)
    rest = _REST_OF_LINE.match(text, at)
    whole = _uncommented(rest.group()) if rest else ""
    tight = operator == "=" and text[at - 1] == "="
    address = before[-1:] in ("?", "&")
    if address or (tight and _MORE_SETTINGS.search(whole)):  # A=x;B=y
        value = read_bare(text, at, stops="&#;)" if address else ";")
        return value and value._replace(literal=not address or key.strength == Strength.PASSWORD, exact=True)
    setting = bool(_SETTING.match(before)) or (
        operator == ":" and bool(_OF_WHAT.fullmatch(before)) and not _ASKS.search(before)
    )
    closing = _closing_quote(before)
    whole = whole.split(closing, 1)[0].rstrip("\\") if closing else whole
    if setting and whole and not (tight and key.strength != Strength.PASSWORD and " " in whole):
        if " " not in whole:
            code = whole[-1:] in ",;)({" or (operator != ":" and not tight and _code_like(whole, before, key.name))
            if not code:
                return Value(at, at + len(whole), whole, literal=True)
        elif key.strength == Strength.PASSWORD and _passphrase(whole):
            return Value(at, at + len(whole), whole, literal=True)
    value = read_bare(
        text,
        at,
        stops=";"
        if ";" in text[at : at + 400] and (";" in before or re.match(r"[^\s;]*;\s*(?:\w|\Z)", text[at : at + 400]))
        else closing,
    )
    if value is None:
        return None
    if tight and _ENV_KEY.search(key.name) and not value.text.endswith(")"):
        return value._replace(literal=True, exact=True)
    if "," in value.text and re.search(r",\s?[\w.-]+[=:]", value.text):
        cut = value.text.split(",", 1)[0]
        value = Value(at, at + len(cut), cut, followed=",")
    bare_word = tight and value.followed in ("", " ", "\n", "\r", ";", "&", closing) and not value.text.endswith(")")
    return value._replace(literal=bare_word and (setting or key.strength == Strength.PASSWORD))


def _uncommented(line: str) -> str:
    """The line without the comment or the backslash at its end."""
    comment = _COMMENT.search(line)
    return (line[: comment.start()] if comment else line.removesuffix("\\")).rstrip()


def _before(text: str, key: Key) -> str:
    """What stands before the key in its line, the last 200 characters of it."""
    line = text.rfind("\n", max(0, key.start - 200), key.start) + 1
    return text[max(line, key.start - 200) : key.start]


def _closing_quote(before: str) -> str:
    """The quote that is open before a key, or a tag's ``>``: what was opened ends with it."""
    in_tag = ">" if before.rfind("<") > before.rfind(">") else ""
    return next((quote for quote in "\"'`" if before.count(quote) % 2), in_tag)


def _code_like(value: str, before: str, key: str) -> bool:
    """``pw = line``, ``password = db_password``: names of a program, not values."""
    return (
        bool(re.fullmatch(r"[A-Za-z_]\w*", value))
        and ("_" in value or not value.islower() or bool(before.strip(" \t#;\"'")))
        and not (key[0].isupper() and not key.isupper() and not before.strip())  # Passwort = Folienstift
        and not any(c.isdigit() for c in value)
    )


def _passphrase(text: str) -> bool:
    words = text.split()
    return 4 <= len(words) <= 12 and all(re.fullmatch(r"[a-z]{3,10}", w) for w in words) and GRAMMAR.isdisjoint(words)


def _element(text: str, key: Key) -> Value | None:
    """``<password>x</password>``, ``<entry key="password">x</entry>``, ``<key>Password</key><string>x</string>``."""
    opened = text[key.end] in "\"'" or (
        text[key.start - 1 : key.start] in ("<", ":") and bool(_OPENED.search(text[max(0, key.start - 42) : key.start]))
    )
    sibling = _SIBLING.match(text, key.end) if text[key.end : key.end + 1] in "<>" else None
    found = sibling or (_ELEMENT.match(text, key.end) if opened else None)
    if found is None:
        return None
    start, end = found.span(found.lastindex or 0)
    value = Value(start, end, text[start:end], quoted=True)
    if key.strength == Strength.WEAK and judge.is_name(value.text):  # <code>DB_PASSWORD=x</code>
        return None
    return value if is_secret(key, value) else None


def _argument(text: str, key: Key) -> Value | None:
    """``env("API_TOKEN", "x")``, ``("x-api-key", "x")``, ``os.environ.get("PASSWORD") or "x"``."""
    found = _ARGUMENT.match(text, key.end)
    value = read_quoted(text, found.end()) if found else None
    if value is None or (key.strength == Strength.WEAK and not judge.looks_random(value.text, 16)):
        return None
    if not (
        judge.looks_chosen(value.text)
        or judge.looks_random(value.text)
        or _GIVEN.search(text[max(0, key.start - 24) : key.start])
    ):
        return None
    return value if is_secret(key, value) else None


def _attribute(text: str, key: Key) -> Value | None:
    """``key="Password" value="x"`` and ``- name: DB_PASSWORD`` with ``value: x`` below it."""
    found = _ATTRIBUTE.match(text, key.end)
    if found is None:
        return None
    value = read_quoted(text, found.end()) or read_bare(text, found.end())
    if value is None:
        return None
    value = value._replace(literal=True)
    return value if is_secret(key, value) else None


def _flag(text: str, key: Key) -> Value | None:
    """``--password x``, ``-secret x``."""
    if not key.name.startswith("-") or text[key.end : key.end + 1] not in (" ", "\t"):
        return None
    at = key.end + 1
    quoted = read_quoted(text, at)
    if quoted is not None:
        return quoted if is_secret(key, quoted) else None
    value = read_bare(text, at)
    if value is None or value.text[0] in "-<{[(|&$":
        return None
    rest = _REST_OF_LINE.match(text, value.end)
    last = rest is None or not rest.group().strip() or rest.group().lstrip()[:1] in "-\\|&;\"'"
    value = value._replace(literal=last)
    return value if is_secret(key, value) else None


def _said(text: str, key: Key) -> Value | None:
    """``the password is x``, ``das Passwort lautet x``."""
    if key.strength == Strength.WEAK:
        return None
    found = _IS.match(text, key.end)
    if found is None:
        return None
    value = read_quoted(text, found.end())
    if value is not None:
        fit = (
            " " not in value.text
            and len(value.text) >= 3
            and (judge.looks_chosen(value.text) or text[found.end()] != "`" or judge.looks_random(value.text, 12))
            and (not judge.is_name(value.text) or (key.strength == Strength.PASSWORD and judge.is_worded(value.text)))
        )
        return value if fit and is_secret(key, value) else None
    value = read_bare(text, found.end())
    if value is None or judge.harmless(value.text):
        return None
    fit = judge.looks_random(value.text, 12) or (key.strength == Strength.PASSWORD and chosen_in_prose(value.text))
    return value if fit else None


def _spaced(text: str, key: Key) -> Value | None:
    """``API key 3f9a...``: nothing between but a blank, so only a random value counts, or what ``ENV NAME`` sets."""
    if key.strength == Strength.PASSWORD and _DEFINED.search(text[max(0, key.start - 16) : key.start]):
        at = key.end + 1
        value = read_quoted(text, at) or read_bare(text, at)
        return value._replace(literal=True) if value and is_secret(key, value._replace(literal=True)) else None
    found = _SPACE.match(text, key.end)
    value = read_bare(text, found.end()) if found else None
    least = 20 if key.strength == Strength.WEAK else 10
    if (
        value is None
        or len(value.text) < least
        or judge.harmless(value.text)
        or judge.is_name(value.text)
        or "://" in value.text
        or "(" in value.text
        or text.startswith("...", value.end)
    ):
        return None
    return value if judge.looks_random(value.text, least) else None


def _introduced(text: str, key: Key) -> Value | None:
    """``API token from the profile page: 60de...``: some words between, so only what was surely issued counts."""
    found = _INTRODUCED.match(text, key.end) if key.strength > Strength.WEAK else None
    if found is None or _ABOUT.search(found.group(1)):
        return None
    value = read_bare(text, found.end())
    return value if value and judge.looks_issued(value.text) and not judge.harmless(value.text) else None


_ANY = "".join(map(chr, range(33, 256)))
_READERS = (
    ("<>\"' \t\n", _ANY, _element),
    (" \t\"'`)],|?o", "\"'`)],|?o", _argument),
    ("\\\"',; \t\r\n", "\\\"',;vVcCtTdDsSpP", _attribute),
    (" \t", _ANY, _flag),
    ("\"'`*) \t", _ANY, _said),
    (" \t", _ANY, _spaced),
)
"""The character that each begins with and the first that is no blank, which are quicker to look at than to ask it."""


def _followed(text: str, key: Key) -> Value | None:
    """``use the following password to proceed:`` and the value alone on the next line."""
    if key.strength == Strength.WEAK or (found := _FOLLOW.match(text, key.end)) is None:
        return None
    value = Value(found.start(1), found.end(1), found.group(1))
    if judge.harmless(value.text) or judge.is_name(value.text) or value.text.endswith(":"):
        return None
    return (
        value
        if judge.looks_random(value.text, 8) or (key.strength == Strength.PASSWORD and chosen(value.text))
        else None
    )
