"""What holds for every text: the cap, every character kept, nothing invented, the document's order."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brainkit.chunking import chunk
from brainkit.chunking.json import pretty_json
from brainkit.readers import Format
from brainkit.settings import CHUNK_CAP_CHARS

FORMATS = [*get_args(Format), "unknown"]
LINES = [
    "", " ", "\t", "\r", "# A", "## B", "#", "### C ###", "text", "a sentence. Another one! And more?",
    " ".join(f"w{n}" for n in range(70)), "".join(f"x{n:04}" for n in range(300)),
    "```", "~~~", "---", "===", "- item", "- name: task", "  - deep: 1", "key: value", "'q k': 1", "key: |",
    "  script: >-", "    more", "# comment", "{{- if .Values.x }}", "{% endif %}", "kind: Deployment", "metadata:",
    "  name: web", "<!--", "-->", "def f():", "    return 1", "class A:", "    def g(self): pass", "@decorator",
    "async def h(): ...", '"""', "{", "}", "[", "],", '  "k": 1,', "x = 1", "ü🦉\u200e",
    "| a | b |", "|---|---|", "| 1 | 2 |", "> - quoted", "  ```sh", "1. one", "   2) two", "[a.b]", "[[x]]", "; remark",
    "[Unit]", "FROM python:3 AS build", 'resource "x" "y" {', "* Org", "** TODO Deep :tag:", "#+BEGIN_SRC sh",
    "#+end_src", "=====", "~~~~~~~~", "\u2028", "\x0b\x0c", "\u3002\uff01",
]  # fmt: skip

documents = st.one_of(
    st.lists(st.sampled_from(LINES), max_size=60).map("\n".join),
    st.lists(st.sampled_from(LINES), max_size=400).map("\n".join),
    st.text(max_size=300),
    st.text(alphabet=" \nab.#", max_size=3000),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=9), inner, max_size=8),
    max_leaves=60,
)


def placed(text: str, content: str, start: int) -> tuple[int, str]:
    """Where a chunk is in its document, and the lines repeated in front of it."""
    lead, rest = "", content
    while (found := text.find(rest, start)) < 0:
        line, newline, rest = rest.partition("\n")
        assert newline, "not verbatim, or out of order"
        lead += line + newline
    assert all("\n" + line in "\n" + text[:found] for line in lead.splitlines()), "invented"
    return found, lead


def check(text: str, chunks, target: int = 1000) -> None:
    """Every promise of chunk() that does not depend on the format."""
    assert [c.position for c in chunks] == list(range(len(chunks)))
    covered = start = 0
    spans = []
    for piece in chunks:
        assert 0 < len(piece.content) <= min(target, CHUNK_CAP_CHARS)
        assert len(piece.heading) <= 200
        assert "\n" not in piece.heading
        start, lead = placed(text, piece.content, start)
        assert len(lead) <= target // 3
        assert not text[covered:start].strip(), "characters lost"
        spans.append((start - len(lead), start + len(piece.content) - len(lead)))
        covered = max(covered, spans[-1][1])
    assert not text[covered:].strip(), "characters lost at the end"
    for (left, left_end), (right, right_end) in pairwise(spans):
        small = min(left_end - left, right_end - right) < 200
        assert not small or right_end - left > target, "a fragment stands alone though a neighbour has room"


@settings(deadline=None, max_examples=100)
@given(documents, st.sampled_from(FORMATS))
@example("\n" * 5000, "markdown")
@example("x" * 1001 + "\n" * 3000 + "y", "text")
@example(" " * 5000 + "x", "yaml")
def test_every_text(text, form):
    numbered = "".join(f"{line}{n}\n" if line.strip() else line + "\n" for n, line in enumerate(text.split("\n")))
    shown = pretty_json(numbered) if form == "json" else None
    check(shown or numbered, chunk(numbered, form))


@settings(deadline=None, max_examples=100)
@given(documents, st.sampled_from(FORMATS), st.integers(1, 3000), st.integers(0, 4000))
def test_any_target_and_overlap_hold_the_cap_and_keep_the_words(text, form, target, overlap):
    chunks = chunk(text, form, target=target, overlap=overlap)
    assert all(len(c.content) <= min(target, CHUNK_CAP_CHARS) for c in chunks)
    lines = set(text.split("\n")) if form != "json" else set()
    for line in {line for c in chunks for line in c.content.split("\n")} - lines:
        assert line in (text if form != "json" else pretty_json(text) or text), "invented"
    assert chunks == chunk(text, form, target=target, overlap=overlap)
    kept = "".join(c.content for c in chunks)
    assert len("".join(kept.split())) >= len("".join(text.split()))


@settings(deadline=None, max_examples=100)
@given(json_values)
def test_pretty_json_is_what_the_standard_library_prints(value):
    for text in (json.dumps(value, ensure_ascii=False), json.dumps(value, indent=1, ensure_ascii=False)):
        assert pretty_json(text) == json.dumps(value, indent=2, ensure_ascii=False)


@settings(deadline=None, max_examples=25)
@given(st.lists(json_values, min_size=5, max_size=20))
def test_json_in_chunks(value):
    text = json.dumps({f"key {n}": [n, item] for n, item in enumerate(value)})
    check(pretty_json(text), chunk(text, "json"))


@pytest.fixture
def size(request):
    """Five million characters under ``-m slow``, else few."""
    return 5_000_000 if request.config.getoption("markexpr") == "slow" else 20_000


HOSTILE = {
    "one line": lambda n: "x" * n,
    "words": lambda n: "ab " * (n // 3),
    "newlines": lambda n: "\n" * n,
    "blank in the middle": lambda n: "a" + "\n" * n + "b",
    "spaces in the middle": lambda n: "a" + " " * n + "b",
    "hashes": lambda n: "#" * n,
    "hash words": lambda n: "# " * (n // 2),
    "hash lines": lambda n: "#\n" * (n // 2),
    "headings": lambda n: "# a\n" * (n // 4),
    "dashes": lambda n: "- " * (n // 2),
    "backticks": lambda n: "`" * n,
    "keys": lambda n: "a: 1\n" * (n // 5),
    "documents": lambda n: "---\n" * (n // 4),
    "comments": lambda n: "#c\n" * (n // 3),
    "steps": lambda n: "".join(" " * i + "a:\n" for i in range(int((2 * n) ** 0.5))),
    "brackets": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "numbers": lambda n: "[" + "1," * (n // 2) + "1]",
    "escapes": lambda n: '"' + "\\n" * (n // 2) + '"',
    "minus": lambda n: "-" * n + "1",
    "sum": lambda n: "1" + "+1" * (n // 2),
    "bars": lambda n: "|" * n,
    "rows": lambda n: "| a |\n|---|\n" + "| b |\n" * (n // 6),
    "headers": lambda n: "|a|\n|-|\n" * (n // 8),
    "items": lambda n: "- a\n" * (n // 4),
    "nested items": lambda n: "".join(" " * i + "- a\n" for i in range(int((2 * n) ** 0.5))),
    "saw of items": lambda n: "".join(" " * (i % 500) + "- a\n" for i in range(n // 254)),
    "open fence": lambda n: "```sh\n" + "x\n" * (n // 2),
    "open fences": lambda n: "~~~\n```\n" * (n // 8),
    "block scalar": lambda n: "a: |\n" + " x\n" * (n // 3),
    "block scalars": lambda n: "a: |\n b: >\n" * (n // 12),
    "quotes": lambda n: "> " * (n // 2),
    "underlined": lambda n: "aa\n==\n\n" * (n // 7),
    "rules": lambda n: "====\n" * (n // 5),
    "stars": lambda n: "* a\n" * (n // 4),
    "tables": lambda n: "[a]\n" * (n // 4),
    "open table": lambda n: "[" + " " * n + "]",
    "remarks": lambda n: "#c\n" * (n // 3) + "[a]\n",
    "stages": lambda n: "FROM a\n" * (n // 7),
    "blocks": lambda n: 'a "b" {\n}\n' * (n // 10),
    "definitions": lambda n: "def f():\n    return 1\n" * (n // 23),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts(name, size):
    text = HOSTILE[name](size)
    for form in FORMATS[:-1]:
        chunks = chunk(text, form)
        assert all(len(c.content) <= CHUNK_CAP_CHARS for c in chunks)
        letters = len("".join(text.split()))
        assert letters <= sum(len("".join(c.content.split())) for c in chunks) <= 2 * letters
