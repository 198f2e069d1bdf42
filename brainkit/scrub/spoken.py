"""Secrets as people write them down: a label, perhaps a few words, then the value (``PIN for the door is 4711``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from brainkit.scrub import judge
from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.result import Finding
from brainkit.scrub.rules import words
from brainkit.scrub.values import GRAMMAR, Value, chosen, chosen_in_prose, is_beside, read_bare, read_quoted, shows_it

_QUOTES = ('"', "'", "`")
_WORDS = (
    r"pass(?:w(?:or[dt]|d)|phrase|code|wort)|kennwort|\bpwd?\b|zugangswort|losungswort|merksatz|wachtwoord|codewort"
    r"|\bcode ?word\b|(?:security|secret) answer|(?:sicherheits|geheim)-?antwort|\b(?:admin|root|guest|router) pass\b"
    r"|sicherheitsfrage|security question|\b(?:old|new|previous|current|other) one\b"
)
_KEY = (
    r"(?:wlan|wi-?fi|wpa[23]?|netzwerk|netz|sicherheits|zugangs|hotspot)[ -]?schl\xfcssel"
    r"|(?:wlan|wi-?fi|wpa[23]?|network|hotspot|guest)[ -]?(?:key|psk|pass(?:w(?:or[dt]|d)|phrase|wort|code)?"
    r"|kennwort)|\bpsk\b"
)
_PIN = (
    r"\b(?:[a-z\xe4\xf6\xfc]{2,12}-)?"
    r"(?:super)?(?:pin(?:[ -]?(?:code|nummer|number)|[12])?|puk(?:[ -]?[12]\b)?|(?:i|m|push)?tan|geheim(?:zahl|nummer)"
    r"|cv[vc]2?|kartenpr\xfcfnummer)\b"
)
_CODE = (
    r"\b(?:door|gate|garage|alarm|keypad|entry|access|unlock|security|safe|lock|lockbox|house|card|sim|master|disarm"
    r"|pairing|setup|[a-z]*t\xfcr|(?:garagen|hof|eingangs)?tor|zugangs|zutritts|tresor|schloss|entsperr|freischalt"
    r"|freigabe|sperr|sicherheits|zahlen|haus|keller|schl\xfcssel(?:tresor|box|kasten|safe)|garagen"
    r"|tresorraum|key[ -]?(?:box|safe)|verbindungs|kopplungs|einrichtungs)"
    r"[ _-]?codes?\b|\bcode\b|\b(?:abhol|pickup|park)-?code"
    r"|\bcode (?:f\xfcrs?|for|zum|zur|vom|of|to)(?: (?:the|das|die|den|der|dem))? [\w-]{0,12}(?:t\xfcr|tor"
    r"|door|gate|garage|safe"
    r"|tresor|alarm|schloss|lock|schranke|keller|shed)\b"
)
_ISSUED = (
    r"(?:recovery|backup|emergency|scratch|rescue|wiederherstellungs|notfall|ersatz|2fa|mfa)[ -]?"
    r"(?:codes?|keys?|schl\xfcssel)\b"
    r"|(?:licen[cs]e|product|steam|cd|activation|registration|serial|lizenz|produkt|aktivierungs|registrier(?:ungs)?)"
    r"[ -]?(?:keys?|codes?|schl\xfcssel)\b"
)
_COMMUNITY = r"\b(?:community(?:[ -](?:string|name))?|r[ow]community6?)\b"
_SORTS = ((_COMMUNITY, "c"), (_ISSUED, "i"), (_CODE, "d"), (_PIN, "n"), (_KEY, "k"), (_WORDS, "p"))
LABEL = Pattern("|".join(pattern for pattern, _ in _SORTS), ignore_case=True)
_SORT = [(re.compile(rf"(?i)(?:{pattern})\Z"), sort) for pattern, sort in _SORTS]
_KIND = {"c": "snmp-community", "i": "recovery-code", "d": "access-code", "n": "pin", "k": "wifi-psk", "p": "password"}

_JOINED = re.compile(
    r"""[*_)\]]{0,3}(?P<gap>(?:,?[ \t]|[ \t]?\()[^\n.;:=|"'`\[\]{}<>$!?]{0,60}?)??"""
    r"""(?:\)?[*_]{0,2}[ \t]{0,8}(?:[:=\xbb]|[-=]>)[*_]{0,2}[ \t]{0,40}"""
    r"""|\)?[ \t]+(?P<verb>is|was|ist|lautet|war|wird|hei(?:\xdf|ss)t|(?:re)?set to|changed to"""
    r"""|(?:ab)?ge\xe4ndert (?:auf|in|zu)|gesetzt auf|beantwortet mit|answer(?:ed with| is)?"""
    r"""|antwort(?: ist)?)(?:[ \t]+(?:now|still|currently|just|simply|again|jetzt|nun"""
    r"""|noch|weiterhin|wieder|momentan|aktuell|changed to|set to"""
    r"""|ab (?:heute|sofort|jetzt)|from now on|(?:from|as of) today)){0,2}[ \t]*:?[ \t]+)(?=\S)""",
    re.IGNORECASE,
)
_PAIR = Pattern(
    r"\b(?:log-?in|zugang|anmeldung|account|konto|user(?:name)?|benutzer(?:name)?|nutzer|credentials?|creds"
    r"|zugangsdaten)"
    r"[ \t:=]{1,3}[\"'`]?[A-Za-z][\w.@+-]{1,63}[\"'`]?[ \t]{0,2}/[ \t]{0,2}[\"'`]?([^\s\"'`/|,;<>{}$()]{4,64})",
    ignore_case=True,
)
_DIRECT = Pattern(
    r"\bsnmp(?:walk|get|getnext|bulkwalk|bulkget|set|trap|inform|status|table|df)\b[^\n|;&]{0,100}?[ \t]-c[ \t]*[\"']?"
    r"([^\s\"'`$<{-][^\s\"'`]{2,63})|(?m:^)[ \t>*-]*com2sec6?[ \t]+\S{1,64}[ \t]+\S{1,64}[ \t]+([^\s#]{3,64})"
)
_BESIDE = re.compile(r"[ \t]{1,3}(?:\()?(?=\S)")
_LIST_SIGN = re.compile(r"""["'`]?(?:[ \t]*[,;/|][ \t]*|[ \t]+(?:(?:und|and|or|oder)[ \t]+)?)["'`]?""")
_DIGITS = re.compile(r"[*#]?(\d{4,8}|\d{2,4}(?: \d{2,4}){1,3})(?![\w])(?![.,:/-]?\d)(?![ \t]?(?:[-/%]|\w+/))")
_COUNTED = re.compile(
    r"[ \t]?(?:[mk\xb5]?[VAWs]|[kMG]?(?:Hz|B|Bit|bytes?)|EUR|Euro|digits?|Stellen|stellig|Zeichen|characters|chars"
    r"|times|mal|x|bits?|Tage?|days?|hours|pins?|Uhr|entries|Versuche|attempts|iterations|rounds|Kontakte)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}\Z")
_ACCESS = re.compile(r"[*#]?[A-Za-z]{0,2}-?\d{3,8}(?:-?[A-Za-z]{1,2}|-\d{2,6}){0,2}[#*]?\Z")
_OF_A_LOCK = re.compile(
    r"(?i)(?:alarm|t\xfcr|tor|safe|tresor|door|gate|lock|schloss|garage|keypad|taster)[^.;]{0,60}[\n:,(|*-]\W{0,12}\Z"
)
_WITH = re.compile(r"(?i)\b(?:with|mit|mit dem|using|und|and)[ \t]\Z")
_DIALLED = re.compile(r"(?i)tresor|safe|schloss|lock|zahlen")
_COMBINATION = re.compile(r"\d{1,2}(?:[- ]\d{1,2}){2,3}\Z")
_GROUPED = re.compile(r"(?=[^\n]{0,80}\d)[A-Za-z0-9]{2,12}(?:-[A-Za-z0-9]{2,12}){1,9}\Z")
_LICENSE = Pattern(
    r"\b(?i:licen[cs]e|lizenz|key)[ \t:=#`\"'*]{1,6}((?:[A-Z0-9]{4,6}-){2,7}[A-Z0-9]{4,6})\b",
    first_look=r"[A-Z0-9]{4}-[A-Z0-9]{4}",
)
_FIGURES = re.compile(r"\d{6,12}\Z")
_WIFI_FIGURES = re.compile(r"\d[\d -]{6,62}\d")
_WORD = re.compile(r"[A-Za-z\xc0-\xff0-9'-]{2,24}\Z")
_REST = re.compile(r"[^\r\n]{0,160}")
_FOUR_WORDS = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){3}")
_PHRASE_END = re.compile(r"[ \t]+(?:[-(#]|//).*|[.,;]?[ \t]*\Z")
_FOURS = re.compile(r"(?:[a-z]{4} ){3}[a-z]{4}\Z")  # an app password of Google
_NEXT_WORD = re.compile(r"[a-z]{4}(?:-[a-z]{4}){3}\Z")  # an app password of Apple
_TO = re.compile(r"((?:[ \t][^\n.;:,=\"'`]{0,40}?)?)[ \t](?:to|auf)[ \t]+(?=[^\s\"'`])")
_TOWARDS = re.compile(r" (?:to|auf) ")
_CHANGES = re.compile(
    r"(?i)\b(?:chang|set\b|resets?\b|switch|rotat|updat|(?:ge|ver)?\xe4nder|(?:ge|um)setz|(?:um)?ge?stell)[^\n.;:]{0,60}\Z"
)
_FIGURE_AFTER = re.compile(r" \d{1,4}(?=[ \t]*[.!]?(?:\r?\n|\Z))")
_IN_BRACKETS = re.compile(r"([a-z]{3,}(?: [a-z]{2,}){3,6})[)\]]")
_OF_PLACES = frozenset(("over", "under", "in", "on", "of", "and", "near", "im", "am", "auf", "unter", "und", "von"))
_MESSAGES = frozenset(words("messages"))
_CARD = re.compile(r"(\d{3,4})(?!\d)")
_NAMED_PLACE = re.compile(r"[ \t](?:[A-Z\xc4\xd6\xdc][\w-]{2,15}[ \t]){1,2}(?=\d{4,6}[ \t]*(?:[.,;)#]|\r?\n|\Z))")
_NEXT_LINE = re.compile(
    r"[^\n:=|]{0,60}[:?!\"'*_`]{0,4}[ \t\r]*\n(?:[ \t\r]*\n){0,2}(?:[ \t]*```\w*\r?\n)?"
    r"(?:\[[^\]\n]{4,20}\][ \t]*[\w .]{1,20}:[ \t]|<[\w .]{1,20}>[ \t]|[ \t>*-]{0,12})[`\"']?([^\s`\"',;"
    r"|]{6,100})[`\"']?[ \t\r]*(?:\n|\Z)"
)
_HARDWARE = re.compile(r"(?i)(?:gpio|header|jumper|connector|board|data|power|esp\w*|rpi|clock|led)[ -]?\Z")
_SNMP = re.compile(r"(?i)snmp|\b(?:v1|v2c|r[ow]community6?|com2sec)\b")
_WELL_KNOWN = frozenset(
    ("public", "private", "string", "strings", "name", "names", "read", "write", "ro", "rw", "edition")
)
_CONFIG_BEFORE = re.compile(r"(?i)(?:snmp-server|set snmp|snmp-agent|/snmp)[ \t]+\Z")
_MENTIONS = frozenset(words("mentions"))


class _Label(NamedTuple):
    start: int
    end: int
    sort: str
    text: str


class _Place(NamedTuple):
    """The label, the words after it, and what joins them to the value: ``:``, a verb, or nothing."""

    label: str
    gap: str
    joint: str


def find(page: Page) -> list[Finding]:
    """Every secret that stands in words after what it is."""
    text = page.text
    found: list[Finding] = []
    done = 0
    for start, end in LABEL.spans(page):
        if start < done:
            continue
        label = _label(text, start, end)
        if label is None:
            continue
        for value in _values(text, label):
            found.append(Finding(_KIND[label.sort], value.start, value.end))
            done = max(done, value.end)
    found += [Finding("license-key", *span) for span in _LICENSE.spans(page, 1) if _is_mixed(text[slice(*span)])]
    found += _communities(page)
    found += _pairs(page)
    return found


def _label(text: str, start: int, end: int) -> _Label | None:
    """The label, unless it is hardware's (``GPIO pin``), mathematics' (``tan``) or part of a longer name."""
    label = text[start:end]
    sort = next((sort for pattern, sort in _SORT if pattern.match(label)), "")
    if sort == "c" and not _SNMP.search(text[max(0, start - 200) : end + 60]):
        return None
    if label.lower() == "code" and not _OF_A_LOCK.search(text[max(0, start - 80) : start]):
        return None
    if sort == "p" and text[start - 1 : start] == "1":  # 1Password
        return None
    if not sort or (sort == "n" and _HARDWARE.search(text[max(0, start - 12) : start])) or label == "tan":
        return None
    if sort == "n" and _HARDWARE.match(label.lower().rpartition("-")[0] or "-"):
        return None
    while text[end : end + 1] in ("s", "e", "n") and end - start < 40:  # plurals
        end += 1
    after = text[end : end + 1]
    return None if after.isalnum() or after in ("_", "-", "/") else _Label(start, end, sort, label)


def _values(text: str, label: _Label) -> list[Value]:
    joined = _JOINED.match(text, label.end)
    if joined is not None:
        gap = (joined["gap"] or "").lower()
        if _MENTIONS.isdisjoint(re.findall(r"\w+", gap)):
            values = _READERS[label.sort](text, joined.end(), _Place(label.text, gap, joined["verb"] or ":"))
            if values:
                return values
    to = _TO.match(text, label.end) if label.sort in "pk" and _TOWARDS.search(text, label.end, label.end + 50) else None
    changed = to is not None and _CHANGES.search(text[max(0, label.start - 70) : label.start]) is not None
    if to is not None and changed and _MENTIONS.isdisjoint(to.group(1).lower().split()):
        values = _password(text, to.end(), _Place(label.text, "", "to"))
        if values:
            return values
    beside = _BESIDE.match(text, label.end)
    if label.sort in "dn":
        beside = _NAMED_PLACE.match(text, label.end) or beside
    config = label.sort == "c" and _CONFIG_BEFORE.search(text[max(0, label.start - 24) : label.start])
    place = _Place(label.text, "config" if config else "", "")
    values = _READERS[label.sort](text, beside.end(), place) if beside is not None else []
    return values or (_on_the_next_line(text, label) if label.sort in "pk" else [])


def _on_the_next_line(text: str, label: _Label) -> list[Value]:
    """``## Admin-Passwort`` or a question for it, and a line that holds nothing but the answer."""
    found = _NEXT_LINE.match(text, label.end)
    if found is None or not chosen(found.group(1)) or not is_beside(found.group(1)):
        return []
    return [Value(found.start(1), found.end(1), found.group(1))]


def _read(text: str, at: int) -> Value | None:
    return read_quoted(text, at) or read_bare(text, at)


def _password(text: str, at: int, place: _Place) -> list[Value]:
    value = _read(text, at)
    if value is None:
        return []
    if value.quoted:
        return [value] if _quoted_password(value, place) else []
    if _bare_password(text, at, value, place):
        figure = _FIGURE_AFTER.match(text, value.end) if place.joint and value.text.isalpha() else None
        return [value._replace(end=figure.end()) if figure else value]
    if place.label.lower() == "passcode" and not place.joint and (len(value.text) >= 6 or value.text[-1] == "#"):
        return _digits(text, at, place)
    if place.joint == ":" and (bracketed := _in_brackets(text, at)):
        return bracketed
    return _bare_phrase(text, at, place.label) if place.joint not in ("", "to") else []


def _in_brackets(text: str, at: int) -> list[Value]:
    """``(password: harvest moon over cellar)``: all that stands before the closing bracket."""
    found = _IN_BRACKETS.match(text, at)
    parts = found.group(1).split() if found is not None else []
    held_together = [part for part in parts if part in GRAMMAR]
    if (
        found is None
        or not _is_told(parts)
        or not _MENTIONS.isdisjoint(parts)
        or len(held_together) > 1
        or not _OF_PLACES.issuperset(held_together)
    ):
        return []
    return [Value(at, found.end(1), found.group(1))]


def _bare_password(text: str, at: int, value: Value, place: _Place) -> bool:
    if not place.joint:
        before = text[max(0, at - len(place.label) - 12) : at - len(place.label) - 1]
        if _NEXT_WORD.match(value.text):
            return True
        fits = is_beside(value.text) or (_WITH.search(before) is not None and chosen_in_prose(value.text))
        return fits and chosen(value.text) and value.text.split("-")[0].lower() not in _MENTIONS
    if place.label.lower().endswith(" one"):
        return shows_it(value.text) and chosen(value.text)
    number = value.text.isdigit() and len(value.text) >= 4 and not (place.joint == "to" and _YEAR.match(value.text))
    if _sure_of_a_word(text, value, place):
        return True
    return chosen(value.text) or _dashed(value.text) or (number and _ends(text, value.end, place))


def _sure_of_a_word(text: str, value: Value, place: _Place) -> bool:
    """Whether a word of letters only is one: after ``lautet``, for what is always told (``Codewort``), in brackets."""
    word = value.text
    if not word.isalpha() or len(word) < 5 or word.lower() in GRAMMAR or judge.harmless(word) or word.isupper():
        return False
    if (
        place.joint.lower() == "lautet"
        or "antwort" in place.label.lower()
        or "answer" in place.label.lower() + place.gap
    ):
        return True
    if place.label.lower() in ("codewort", "codeword", "code word"):
        return True
    if place.label[:4].lower() in ("wlan", "wifi", "wi-f") and place.joint.lower() in ("ist", "is") and len(word) >= 8:
        return word[0].isupper() and _ends(text, value.end, place)
    return place.joint == ":" and not place.gap and text[value.end : value.end + 1] in (")", "]")


def _quoted_password(value: Value, place: _Place) -> bool:
    text = value.text.strip()
    if " " in text:
        parts = text.split()
        if _FOURS.match(text):
            return GRAMMAR.isdisjoint(parts)
        whole = place.label.lower().endswith(("phrase", "satz")) and len(parts) >= 4
        return bool(place.joint) and (_is_phrase(parts, 3) or (whole and _is_told(parts)))
    if chosen(text, quoted=True) or (
        place.joint and (_dashed(text) or (text.isalpha() and place.joint.lower() == "lautet"))
    ):
        return True
    whose = place.gap.lstrip(" ,(").split(" ", 1)[0] in ("for", "of", "f\xfcr", "vom", "von", "zum", "zur", "am", "im")
    return whose and len(text) >= 5 and text.isalpha() and text.lower() not in GRAMMAR and not judge.harmless(text)


def _wifi(text: str, at: int, place: _Place) -> list[Value]:
    figures = _WIFI_FIGURES.match(text, at)
    if figures is not None and sum(c.isdigit() for c in figures.group()) >= (8 if place.joint else 16):
        return [] if _DATE.match(figures.group()) else [Value(figures.start(), figures.end(), figures.group())]
    value = _read(text, at)
    if value is not None and value.quoted and place.joint and len(value.text) >= 8 and not judge.harmless(value.text):
        words_of_it = value.text.split()
        return [value] if len(words_of_it) == 1 or _is_phrase(words_of_it, 2) else []
    return _password(text, at, place)


def _digits(text: str, at: int, place: _Place) -> list[Value]:
    at += text[at : at + 1] in _QUOTES
    card = place.label[:2].lower() == "cv" or place.label.lower().startswith("karten")
    found = (_CARD if card else _DIGITS).match(text, at)
    if found is None or _COUNTED.match(text, found.end()):
        return []
    quoted = text[at - 1] in _QUOTES and text[found.end() : found.end() + 1] == text[at - 1]
    told = place.label.lower().endswith("code") and not place.gap
    if _YEAR.match(found.group()) and not quoted and not told and (place.gap or not place.joint):
        return []
    if (
        not quoted
        and not place.joint
        and not place.label.isupper()
        and place.label[:3].lower() in ("pin", "puk", "tan")
    ):
        return []
    return [Value(found.start(1), found.end(1), found.group(1))]


def _access(text: str, at: int, place: _Place) -> list[Value]:
    digits = _digits(text, at, place)
    if digits:
        return digits
    value = _read(text, at)
    if value is None:
        return []
    dialled = _COMBINATION.match(value.text) and _DIALLED.search(text[max(0, at - 40) : at])
    if not (dialled or place.joint or value.quoted) or (_DATE.match(value.text) and not dialled):
        return []
    fits = _ACCESS.match(value.text) or _COMBINATION.match(value.text) or _is_issued(value.text)
    return [value] if fits and len(value.text) >= 4 and not _COUNTED.match(text, value.end) else []


def _issued(text: str, at: int, place: _Place) -> list[Value]:
    """One code, or a list of them in the line."""
    values: list[Value] = []
    value = _read(text, at)
    if value is not None and value.quoted and " " in value.text:
        value = read_bare(text, at + 1)
    while value is not None and len(values) < 40:
        cut = re.split(r"[,;/|]", value.text, maxsplit=1)[0]
        if not _is_issued(cut) or not (place.joint or value.quoted or cut.count("-") >= 2):
            break
        values.append(value._replace(end=value.start + len(cut), text=cut))
        sign = _LIST_SIGN.match(text, values[-1].end)
        value = read_bare(text, sign.end()) if sign is not None else None
    return values


def _is_issued(text: str) -> bool:
    if _DATE.match(text) or judge.harmless(text) or len(text) < 6:
        return False
    return bool(_GROUPED.match(text) or _FIGURES.match(text)) or judge.looks_random(text, 8)


def _community(text: str, at: int, place: _Place) -> list[Value]:
    value = _read(text, at)
    if value is None or " " in value.text or len(value.text) < 3 or value.text.lower() in _WELL_KNOWN:
        return []
    word = value.text.lower()
    if judge.harmless(value.text) or word in GRAMMAR or word in _MENTIONS or ":" in word:
        return []
    sure = value.quoted or place.joint == ":" or place.label.lower().startswith(("roc", "rwc")) or place.gap == "config"
    return [value] if sure or chosen(value.text) or (place.joint and "-" in value.text) else []


_READERS = {"p": _password, "k": _wifi, "n": _digits, "d": _access, "i": _issued, "c": _community}


def _dashed(text: str) -> bool:
    parts = text.split("-")
    return len(parts) >= 4 and all(part.isalpha() and part.lower() not in GRAMMAR for part in parts)


def _ends(text: str, at: int, place: _Place) -> bool:
    """Whether the sentence ends here, so that a number is no count of something."""
    return "word" not in place.gap and text[at : at + 2].strip(" \r\n.,;)") == ""


def _is_told(parts: list[str]) -> bool:
    """Whether quoted words are a passphrase and no message about one."""
    return (
        4 <= len(parts) <= 12
        and all(_WORD.match(part) for part in parts)
        and _MESSAGES.isdisjoint(part.lower() for part in parts)
    )


def _is_phrase(parts: list[str], least: int) -> bool:
    return least <= len(parts) <= 24 and all(_WORD.match(part) and part.lower() not in GRAMMAR for part in parts)


def _bare_phrase(text: str, at: int, label: str) -> list[Value]:
    """The rest of the line where it is small-letter words only, four or more."""
    if _FOUR_WORDS.match(text, at) is None:
        return []
    rest = _REST.match(text, at)
    body = _PHRASE_END.sub("", rest.group()) if rest is not None else ""
    held_together = sum(part in GRAMMAR for part in body.split()) > 1
    told = label.lower().endswith(("phrase", "satz")) and not held_together and _is_told(body.split())
    if (
        not (told or _is_phrase(body.split(), 4))
        or body != body.lower()
        or not re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+)+", body)
    ):
        return []
    return [Value(at, at + len(body), body)]


def _is_mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _communities(page: Page) -> Iterator[Finding]:
    """``snmpwalk -v2c -c fernhof nas`` and ``com2sec name source fernhof``."""
    for match in _DIRECT.matches(page):
        start, end = match.span(1) if match.span(1)[0] >= 0 else match.span(2)
        value = page.text[start:end]
        if value.lower() not in _WELL_KNOWN and not judge.harmless(value):
            yield Finding("snmp-community", start, end)


def _pairs(page: Page) -> Iterator[Finding]:
    """``login jonas / Sommer-77``: a user and a password with a slash between."""
    for start, end in _PAIR.spans(page, 1):
        value = read_bare(page.text[:end], start)
        if value is not None and chosen(value.text):
            yield Finding("password", value.start, value.end)
