"""Bytes to text, whatever wrote them."""

from __future__ import annotations

import codecs
import random
import zlib

import pytest

from brainkit.readers.decode import decode

GERMAN = "Grüße aus der Küche, 5 €\nzweite Zeile\n"


@pytest.mark.parametrize(
    "data",
    [
        GERMAN.encode(),
        codecs.BOM_UTF8 + GERMAN.encode(),
        codecs.BOM_UTF16_LE + GERMAN.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + GERMAN.encode("utf-32-le"),
        codecs.BOM_UTF32_BE + GERMAN.encode("utf-32-be"),
    ],
)
def test_marked_encodings_need_no_note(data):
    assert decode(data) == (GERMAN, ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_recognised(encoding):
    assert decode(GERMAN.encode(encoding)) == (GERMAN, (f"decoded as {encoding}",))


def test_windows_1252_with_a_note():
    assert decode(GERMAN.encode("cp1252")) == (GERMAN, ("decoded as windows-1252",))


def test_one_bad_byte_spoils_no_neighbour():
    assert decode("Grüße ".encode() + b"\xe4" + " Ödnis".encode()).text == "Grüße ä Ödnis"


def test_bytes_that_windows_1252_does_not_know_become_their_latin_1_characters():
    assert decode(b"caf\xe9 \x81").text == "café \x81"


def test_every_line_ending_becomes_lf():
    assert decode(b"a\r\nb\rc\nd\r\r\n").text == "a\nb\nc\nd\n\n"


@pytest.mark.parametrize(
    ("data", "note"), [(b"a\0b", "1 NUL character removed"), (b"a\0b\0" * 3 + b"x" * 99, "6 NUL characters removed")]
)
def test_stray_nuls_go_with_a_note(data, note):
    decoded = decode(data)
    assert "\0" not in decoded.text
    assert decoded.notes == (note,)


def test_damaged_utf16_says_how_much_is_lost():
    decoded = decode(codecs.BOM_UTF16_LE + ("x" * 100).encode("utf-16-le") + b"\x00\xd8" + "y".encode("utf-16-le"))
    assert decoded.notes == ("decoded as utf-16-le with 1 characters lost",)
    assert decoded.text.startswith("x" * 100)


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n" + b"text" * 50,
        b"\0" * 1000,
        random.Random(1).randbytes(4096),
        zlib.compress(random.Random(2).randbytes(2000)),
        codecs.BOM_UTF16_LE + b"\x00\xd8" * 500,
        codecs.BOM_UTF16_LE + bytes(range(1, 9)) + b"\x01\x00" * 400,
        b"\x7fELF\x02\x01\x01",
    ],
    ids=["png", "zeros", "random", "zlib", "surrogates", "utf16-controls", "elf"],
)
def test_what_is_no_text_is_none(data):
    assert decode(data) is None


def test_text_of_terminals_and_other_scripts_is_text():
    for text in ("\x1b[31mred\x1b[0m\n" * 20, "東京のサーバー\n" * 20, "сервер\n" * 20, "ملاحظات\u200e\n", ""):
        assert decode(text.encode()).text == text
