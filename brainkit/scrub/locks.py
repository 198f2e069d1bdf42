"""What opens a lock or stills an alarm: ``the lock opens with 3-7-1-9``, ``Schlüsselkasten 2580``, ``padlock: 471``."""

from __future__ import annotations

import re

from brainkit.scrub.page import Page, Pattern
from brainkit.scrub.result import Finding

_DIALLED = (
    r"(?:pad|bike|cycle|combination|number|cable|dial|suitcase|locker|bicycle)[ -]?locks?|lock ?box(?:es)?"
    r"|key[ -]?(?:safe|box|pad|locker)s?|(?:front|back|garage|door|gate|alarm)?[ -]?keypad"
    r"|(?:zahlen|fahrrad|b\xfcgel|kabel|koffer|vorh\xe4nge|spind|nummern)-?schloss|schl\xfcssel-?(?:kasten|tresor|box|safe|depot)|tastenfeld"
)
_DEVICE = (
    r"\b(?:lock|safe|vault door|door|gate|garage|barrier|alarm(?: system| panel)?|burglar alarm|wheel|strongbox)"
    r"|(?:\b|[a-z\xe4\xf6\xfc])(?:schloss|tresor|t[\xfcu]r|tor|schranke|alarmanlage|alarm|anlage|garage)"
)
_OPENS = (
    r"(?:opens?|unlocks?|disarms?|disarmed|works|goes off|armed?)[ \t](?:with|by|on|using|mit)"
    r"|combination(?: is| of|:)?|combo(?: is|:)?|code(?: is| ist|:)?|kombination(?: ist| lautet|:)?"
    r"|zahlenkombination:?|disarm:?"
    r"|(?:\xf6ffnet|\xf6ffnen|geht auf|aufmachen|entriegeln|entsperren|scharf/unscharf|unscharf|aufgeht"
    r"|entsch\xe4rfen|deaktivieren)(?: mit| per|:)"
    r"|mit(?: dem)? code|steht auf|eingestellt auf|gestellt auf|eingeben:?|geht mit"
)
_FIGURES = r"([#*]?(?:\d{3,8}|\d(?:[- ]\d){2,7}|\d{1,2}(?:[- ]\d{1,2}){2,3})[#*]?)"
_PLAIN = Pattern(
    rf"(?:{_DIALLED})\b(?:[^\n\d:=.,;]{{0,30}}?(?:[ \t]*[:=,][ \t]*|[ \t]+(?:is |ist |auf |code:? "
    rf"|(?:is )?set to ))|[ \t]+){_FIGURES}",
    ignore_case=True,
)
_OPENED = Pattern(
    rf"(?:{_DIALLED}|{_DEVICE})\b[^\n\d.;]{{0,50}}?[ \t,:(](?:{_OPENS})[ \t]+{_FIGURES}",
    ignore_case=True,
    first_look=rf"(?i)(?:{_OPENS})[ \t][#*]?\d",
)
_COMBINATION = Pattern(r"(?:tresor|\bsafe)\b[^\n\d.;]{0,30}?[:=][ \t]*(\d{1,2}(?:-\d{1,2}){2,3})", ignore_case=True)
_KEYED = Pattern(
    r"(?:dial|w(?:\xe4|ae)hlen|anrufen|press|tippen|enter|eingeben|keypad|tastenfeld|gate|schranke|\btor\b|t\xfcr|door|garage)"
    r"[^\n#*]{0,40}[^\w#*]([#*]\d{3,8}[#*])",
    ignore_case=True,
    first_look=r"[^\w#*][#*]\d{3,6}\d?\d?[#*]",
)
_TYPED = Pattern(
    rf"(?:{_DIALLED}|{_DEVICE})\b[^\n\d.;]{{0,30}}[: ]{_FIGURES}[ \t](?:eintippen|eingeben|tippen|dr\xfccken"
    rf"|w\xe4hlen|then press|then the bell)",
    ignore_case=True,
    first_look=r"(?i)\d[#*]?[ \t](?:eintippen|eingeben|tippen|dr\xfccken|w\xe4hlen|then )",
)
_NO_CODE = re.compile(
    r"[\w]|[.,:/-]\d|[ \t]?(?:[%\u20ac\xb0$]|(?:mm|cm|kg|km|m|g|h|s|min|eur|euro|uhr|am|pm|volt|v|w|watt|ms"
    r"|kb|mb|gb|px|lux|db|hz|people"
    r"|personen|x|times|mal|tage|days|minuten|minutes|seconds|sekunden|stunden|hours|o'clock|degrees|grad|schl\xfcssel|keys)\b)",
    re.IGNORECASE,
)
_OTHER_CODE = re.compile(
    r"(?i)error|exit|fehler|status|return|fault|event|response|http|port\b|gpio|threshold|\bmode|firmware|version|model|serial|pid"
)
_YEAR = re.compile(r"(?:19|20)\d\d\Z")


def find(page: Page) -> list[Finding]:
    """The figures that open a lock; no years, measures, prices or times of day."""
    found: list[Finding] = []
    for pattern in (_PLAIN, _OPENED, _COMBINATION, _KEYED, _TYPED):
        for match in pattern.matches(page):
            start, end = match.span(1)
            if _NO_CODE.match(page.text, end) or _OTHER_CODE.search(page.text, match.start(), start):
                continue
            if pattern is _PLAIN and _YEAR.match(page.text[start:end]):
                continue
            found.append(Finding("access-code", start, end))
    return found
