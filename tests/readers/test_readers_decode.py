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


CZECH = "Záloha běží každou noc ve tři hodiny. Příliš žluťoučký kůň.\n"
POLISH = "Kopia zapasowa działa każdej nocy, zażółć gęślą jaźń.\n"
RUSSIAN = "Резервная копия запускается каждую ночь в три часа, сервер называется Сова.\n"
JAPANESE = "バックアップは毎晩三時に実行されます。サーバーの名前はフクロウです。\n"
GREEK = "Το αντίγραφο ασφαλείας εκτελείται κάθε βράδυ στις τρεις.\n"  # noqa: RUF001


@pytest.mark.parametrize("times", [1, 30])
@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (
            "La sauvegarde démarre à trois heures, où l\u2019on a ajouté un disque très protégé.\n",
            "cp1252",
            "windows-1252",
        ),
        ("Más discos el próximo año. ¿Qué pasó? Añadiré ½ más.\n", "latin-1", "windows-1252"),
        ("Sikkerhedskopien kører også hver nat på serveren.\n", "cp1252", "windows-1252"),
        ("Perché è così? Più dischi, però la città è lontana.\n", "latin-1", "windows-1252"),
        (CZECH, "cp1250", "windows-1250"),
        (CZECH, "iso8859-2", "iso-8859-2"),
        (POLISH, "cp1250", "windows-1250"),
        (POLISH, "iso8859-2", "iso-8859-2"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        (GREEK, "cp1253", "windows-1253"),
        (JAPANESE, "shift_jis", "shift_jis"),
        (JAPANESE, "euc_jp", "euc-jp"),
        (RUSSIAN, "utf-16-le", "utf-16-le"),
        (RUSSIAN, "utf-16-be", "utf-16-be"),
        (GREEK, "utf-16-be", "utf-16-be"),
    ],
)
def test_other_encodings_are_detected_and_said(text, codec, name, times):
    assert decode((text * times).encode(codec)) == (text * times, (f"decoded as {name}",))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<meta charset=cp1251>Сова\n".encode("cp1251"), "<meta charset=cp1251>Сова\n"),
        ("# -*- coding: koi8-r -*-\n# Сова\n".encode("koi8-r"), "# -*- coding: koi8-r -*-\n# Сова\n"),
        ("charset=utf-8 Grüße\n".encode("cp1252"), "charset=utf-8 Grüße\n"),
        ("charset=base64 Grüße\n".encode("cp1252"), "charset=base64 Grüße\n"),
        ("charset=no-such Grüße\n".encode("cp1252"), "charset=no-such Grüße\n"),
        ("charset=shift_jis é\n".encode("cp1252"), "charset=shift_jis é\n"),
    ],
)
def test_a_declared_encoding_counts_where_it_fits(data, text):
    assert decode(data).text == text


def test_a_file_that_is_mostly_utf8_stays_so():
    text = "Grüße aus Łódź, žluťoučký kůň. "
    assert decode(text.encode() * 20 + b"\xb3\xbf\xb3\xbf" + text.encode()).text == text * 20 + "³¿³¿" + text


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
