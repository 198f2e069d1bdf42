"""Whatever the text: offsets are right, the rest is untouched, a second scrub changes nothing, time is linear."""

from __future__ import annotations

import json
import string
import subprocess
import sys
import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainkit.scrub import Scrubber, scrub
from brainkit.scrub.result import MARKER

_random = Random(3)
_VALUES = [
    "hunter" + "2",
    "Pa55" + "w0rd!",
    "".join(_random.choices(string.ascii_letters + string.digits, k=32)),
    "gh" + "p_" + "".join(_random.choices(string.ascii_letters, k=30)) + "123456",
]
_WORDS = r"""
password token api_key Passwort secret key Authorization: Bearer Basic Cookie: -u user: https:// is --- |---|---|
@ : = := => | ` " ' \ ( ) [ ] { } , ; & ? ${X} $6$ {SSHA} é ü „ “ 日本 machine login sshpass -p mysql PIN
PUK: community lautet ist mosquitto_sub -P login( auth=(
MIIEvQIBADANBgkq ENC[AES,data:x]
<td> </td> <br> <code> </code> <password> </password> &lt; &gt; .md DB_PASSWORD=
[REDACTED:token] data: stringData: kind: Secret seed phrase: recovery codes
"""
_PHRASES = ["kind: Secret\n", "the password is ", "seed phrase: ", "{{ x }}", "-----BEGIN PRIVATE KEY-----\n"]
_ODD = ["-----END PRIVATE KEY-----", "\n", "\t", "\u2028", "\x00", "\ud800", "\u200e"]
_PIECES = st.one_of(
    st.sampled_from(_VALUES),
    st.sampled_from(_WORDS.split() + _PHRASES + _ODD),
    st.text(max_size=6),
)
TEXTS = st.lists(_PIECES, max_size=24).map(
    lambda parts: "".join(p + (" " if i % 3 else "") for i, p in enumerate(parts))
)


@settings(max_examples=250, deadline=None)
@given(TEXTS)
def test_findings_tell_what_was_taken_and_nothing_else_changes(text: str) -> None:
    result = scrub(text)
    rebuilt: list[str] = []
    at = 0
    for finding in result.findings:
        assert at <= finding.start < finding.end <= len(text)
        assert "\n" not in text[finding.start : finding.end]
        rebuilt += (text[at : finding.start], f"[REDACTED:{finding.kind}]")
        at = finding.end
    assert "".join(rebuilt) + text[at:] == result.text
    assert result.text.count("\n") == text.count("\n")


@settings(max_examples=250, deadline=None)
@given(TEXTS)
def test_a_second_scrub_changes_nothing(text: str) -> None:
    once = scrub(text).text
    again = scrub(once)
    assert again.text == once
    assert again.findings == ()


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_string_is_taken(text: str) -> None:
    assert isinstance(scrub(text).text, str)


@given(st.text(alphabet="abcdefghij \n.,", max_size=300))
def test_text_without_anything_like_a_secret_comes_back_as_it_is(text: str) -> None:
    assert scrub(text) == (text, ())


UNITS = {
    "keys": "password ",
    "assignments": "password=",
    "open quotes": 'password="',
    "open keys": "-----BEGIN PRIVATE KEY-----",
    "urls": "http://a:",
    "tables": "| password |\n|---|---|\n",
    "secrets": "data:\n  a: b\nkind: Secret\n",
    "commands": "mysql -p ",
    "one token": "x9Y",
    "dollars": "$6$",
    "markers": "[REDACTED:a]",
    "seeds": "seed: abandon ",
    "blanks": " ",
    "labels": "password for a ",
    "pins": "PIN a PUK 1",
    "codes": "backup codes: 1234-5678 ",
    "clients": "mosquitto_sub -P ",
    "piped": "echo a | ",
    "strings": 'login("a", "b", ',
    "community": "snmp community ",
    "cells": "<td>password: x</td>",
    "open tags": "<td ",
    "open elements": "<password><b>",
    "rows": "<td>password</td><td>",
    "endings": "password: a.md ",
    "variables": "'DB_PASSWORD=Ab ",
    "logins": "admin / Hunter2! ",
    "locks": "the lock opens with ",
    "table rows": "<tr><td>Password</td>",
    "inserted rows": "insert into x (password) values ('a'),",
    "next lines": "password\n[14:02] Tom: ",
    "used codes": "recovery codes\n- ~~used~~\n",
    "settings": "A=x;B_PASSWORD=",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_time_is_linear_on_hostile_text(name: str, request: pytest.FixtureRequest) -> None:
    small = 250_000 if "slow" in request.config.getoption("-m") else 12_000
    unit = UNITS[name]

    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        best = float("inf")
        for _ in range(2):
            start = time.process_time()
            scrub(text)
            best = min(best, time.process_time() - start)
        return best

    seconds(1000)  # what is compiled when first met
    assert seconds(4 * small) <= 6 * seconds(small) + 0.05


def test_an_import_stays_light() -> None:
    code = "import sys, brainkit.scrub; print([m for m in ('llama_index', 'sklearn', 'numpy') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(out.stdout.replace("'", '"')) == []


def test_nothing_that_is_printed_or_logged_holds_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    secret = _VALUES[2]
    with caplog.at_level(0):
        result = Scrubber().scrub(f"token: {secret}")
    assert secret not in repr(result) + str(result.findings) + caplog.text
    assert MARKER.search(result.text)
