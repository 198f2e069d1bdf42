"""What stands one layer down, in comments and string literals, is scrubbed, and nothing else is changed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainkit.readers.inner import scrub_inner

HIDDEN = "[REDACTED:x]"


def clean(text):
    """A scrubber that knows a value only right below its label."""
    return text.replace("code:\n1234", f"code:\n{HIDDEN}")


@pytest.mark.parametrize("sign", ["#", ";", "//", "--", "  *", ">", "\t##"])
def test_a_comment_is_read_without_its_signs(sign):
    text = f"a = 1\n{sign} the code:\n{sign} 1234\n{sign}\n{sign} ok\nb = 2\n"
    assert scrub_inner(text, clean) == text.replace("1234", HIDDEN)


def test_a_literal_is_read_without_its_escapes():
    said = 'the "code:\n1234"\tis old'
    assert json.loads(scrub_inner(json.dumps([said]), clean)) == [said.replace("1234", HIDDEN)]
    assert scrub_inner(r"x = 'it\'s the code:\n1234'; y = 'z'", clean) == rf"x = 'it\'s the code:\n{HIDDEN}'; y = 'z'"


def test_escapes_by_number_are_read_too():
    assert scrub_inner(r'{"a": "code:\u000a\u0031\x32\u0033\u0034"}', clean) == rf'{{"a": "code:\n{HIDDEN}"}}'


@given(st.lists(st.sampled_from(["#", "# ", "\n", '"', "'", "\\", "\\n", "a", "> ", "é", "\\ud83d", " "])).map("".join))
def test_what_holds_no_secret_stays_as_it_is(text):
    assert scrub_inner(text, clean) == text
