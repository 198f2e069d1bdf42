"""Bytes of a file to text: byte-order marks, UTF-16 without one, UTF-8, and what is detected where it is not UTF-8."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from brainkit.readers.charset import detect_charset

BINARY_STARTS = (
    b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF-", b"PK\x03\x04", b"\x7fELF", b"\x1f\x8b", b"SQLite format 3",
)  # fmt: skip
CONTROLS = bytes(set(range(32)) - set(b"\b\t\n\v\f\r\x1b"))
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with the one of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


HIGH_BYTES = bytes(range(128, 256))


class _Named(NamedTuple):
    """A text and the name of the encoding it was in."""

    text: str
    encoding: str


class Decoded(NamedTuple):
    """Text whose lines end in LF, without NUL, and what had to be said about it."""

    text: str
    notes: tuple[str, ...]


def decode(data: bytes) -> Decoded | None:
    r"""The text of a file, or None when it is no text.

    Example:
        >>> decode("Grüße\r\n".encode("cp1252"))
        Decoded(text='Grüße\n', notes=('decoded as windows-1252',))
    """
    mark, encoding = next(((mark, name) for mark, name in BOMS if data.startswith(mark)), (b"", ""))
    body = data[len(mark) :]
    encoding = encoding or _utf16_without_mark(body)
    notes = []
    if encoding.startswith(("utf-16", "utf-32")):
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError:
            text = body.decode(encoding, "replace")
            notes.append(f"decoded as {encoding} with {text.count(chr(0xFFFD))} characters lost")
            if text.count(chr(0xFFFD)) > len(text) // 20 + 1:
                return None
        if _is_binary(text.encode("utf-8", "replace")):
            return None
        if not mark:
            notes.append(f"decoded as {encoding}")
    elif _is_binary(body):
        return None
    else:
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            text, name = _not_utf8(body)
            notes.append(f"decoded as {name}")
    if nuls := text.count("\0"):
        text = text.replace("\0", "")
        notes.append(f"{nuls} NUL characters removed" if nuls > 1 else "1 NUL character removed")
    return Decoded(text.replace("\r\n", "\n").replace("\r", "\n"), tuple(notes))


def _is_binary(data: bytes) -> bool:
    """Random or compressed bytes hold about 10 % control characters, text none; a few stray ones are forgiven."""
    controls = len(data) - len(data.translate(None, CONTROLS))
    return data.startswith(BINARY_STARTS) or (controls > 8 and controls > len(data) // 20)


def _not_utf8(body: bytes) -> _Named:
    """Mostly UTF-8 with some windows-1252 between, or another encoding as a whole."""
    rescued = body.decode("utf-8", "brainkit-cp1252")
    wide = sum(len(char.encode()) for char in body.decode("utf-8", "ignore") if char > "\x7f")
    high = len(body) - len(body.translate(None, HIGH_BYTES))
    name = "cp1252" if wide * 2 > high else detect_charset(body)
    if name != "cp1252":
        shown = (
            "shift_jis"
            if name == "cp932"
            else name.replace("cp12", "windows-12").replace("iso", "iso-").replace("_", "-")
        )
        return _Named(body.decode(name), shown)
    return _Named(rescued, "windows-1252")


def _utf16_without_mark(data: bytes) -> str:
    """Which UTF-16 it is: one byte of each pair is a zero or, in other alphabets, nearly always the same."""
    sample = data[:8192]
    half = len(sample) // 2
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if half >= 2 and odd > half * 0.4 and even <= half * 0.05:
        return "utf-16-le"
    if half >= 2 and even > half * 0.4 and odd <= half * 0.05:
        return "utf-16-be"
    if half >= 16 and even + odd and min(len(set(sample[::2])), len(set(sample[1::2]))) <= 4:
        return _utf16_of_an_alphabet(sample)
    return ""


def _utf16_of_an_alphabet(sample: bytes) -> str:
    """Cyrillic, Greek, Hebrew or Arabic: high bytes 0x03 to 0x06, and zeros for spaces and signs."""
    for encoding, high, low in (("utf-16-le", sample[1::2], sample[::2]), ("utf-16-be", sample[::2], sample[1::2])):
        alphabet = sum(high.count(page) for page in (3, 4, 5, 6))
        if alphabet > len(high) * 0.4 and alphabet + high.count(0) > len(high) * 0.95 and len(set(low)) > 8:
            return encoding
    return ""


def _as_cp1252(error: UnicodeError) -> tuple[str, int]:
    """Reads only the bytes that are not UTF-8 as windows-1252, so that one bad byte spoils nothing else."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    bad = error.object[error.start : error.end]
    return "".join(_CP1252[byte] for byte in bad), error.end


_CP1252 = [bytes([n]).decode("cp1252", "ignore") or chr(n) for n in range(256)]
codecs.register_error("brainkit-cp1252", _as_cp1252)
