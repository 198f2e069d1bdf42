"""Which encoding the bytes of a text have that is not UTF-8: windows-1252 if that is plain, else what is detected."""

from __future__ import annotations

import codecs
import re

SAMPLE_BYTES = 65_536
MIN_HIGH_BYTES = 4
"""With fewer bytes above 127 every detection is a guess, and windows-1252 the best one."""
CANDIDATES = [
    "cp1252", "cp1250", "iso8859_2", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "cp932", "euc_jp",
    "gb18030", "big5", "euc_kr",
]  # fmt: skip
WESTERN = {
    "German": "äöüß", "French": "àâçèéêëîïôùûüœæÿ", "Spanish": "áéíñóúüªº", "Portuguese": "áâãàçéêíóôõúü",
    "Italian": "àèéìîòóù", "Danish, Norwegian": "æøåéèêóòôü", "Swedish, Finnish": "åäöéüà", "Dutch": "ëïéèêüöóàç",
    "Catalan": "àçèéíïòóúü", "Icelandic": "áéíóúýþæöð",
}  # fmt: skip
"""Letters beyond ASCII of the languages written in windows-1252."""
_DECLARED = re.compile(rb"(?:charset|(?:en)?coding)\s{0,3}[=:]\s{0,3}[\"']?([A-Za-z][\w.:-]{1,30})")
_IN_A_WORD = re.compile(r"[^\W\d_][^\w\s\x27`\u2019\xb4\u2013\u2014-][^\W\d_]")  # but apostrophes and dashes
_ISO_8859_2_LETTERS = re.compile(rb"[\xb1\xb6\xbc\xbe]")
_C1 = re.compile(rb"[\x80-\x9f]")


def detect_charset(data: bytes) -> str:
    """Name of the Python codec for bytes that are text and not UTF-8; it decodes all of them, or is ``cp1252``.

    What the text declares of itself (``charset=``, ``coding:``) is believed if it fits. Text whose letters all belong
    to one western European language is windows-1252. Else charset-normalizer decides among the usual encodings.
    """
    declared = _DECLARED.search(data[:1024])
    if declared and (name := _codec(declared[1].decode("ascii"))) and _decodes(data, name):
        return name
    high = bytes(byte for byte in data[: SAMPLE_BYTES * 4] if byte > 127)
    if len(high) < MIN_HIGH_BYTES or _is_western(data[: SAMPLE_BYTES * 4]):
        return "cp1252"
    name = _detected(data) or "cp1252"
    if name in {"cp1250", "iso8859_2"}:  # the same letters but for a few, which the detector's samples may not hold
        iso = not _C1.search(high) and _ISO_8859_2_LETTERS.search(high)
        name = "iso8859_2" if iso else "cp1250" if _C1.search(high) else name
    return name if _decodes(data, name) else "cp1252"


def _is_western(data: bytes) -> bool:
    text = data.decode("cp1252", "replace")
    letters = {char.lower() for char in set(text) if ord(char) > 127 and char.isalpha()}
    one_language = any(letters <= set(known) for known in WESTERN.values())
    return one_language and not any(ord(found[1]) > 127 for found in _IN_A_WORD.findall(text))


def _detected(data: bytes) -> str:
    from charset_normalizer import from_bytes  # only where it is needed: few files are not UTF-8

    first = next((n for n, byte in enumerate(data) if byte > 127), 0)
    line = data.rfind(b"\n", 0, first) + 1
    best = from_bytes(data[line : line + SAMPLE_BYTES], cp_isolation=CANDIDATES).best()
    return best.encoding if best else ""


def _codec(name: str) -> str:
    try:
        info = codecs.lookup(name)
    except LookupError:
        return ""
    is_text = getattr(info, "_is_text_encoding", True)  # base64 and the like are codecs too
    return info.name if is_text and not info.name.startswith("utf") else ""


def _decodes(data: bytes, name: str) -> bool:
    try:
        data.decode(name)
    except (UnicodeError, ValueError):
        return False
    return True
