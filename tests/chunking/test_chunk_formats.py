"""Where each format is cut and what each chunk is called; expected values are counted by hand."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from brainkit.chunking import chunk
from brainkit.chunking.json import pretty_json
from brainkit.chunking.section import heading_of


def long(word: str, length: int = 400) -> str:
    """Words that fill at least ``length`` characters."""
    return (word + " ") * (length // (len(word) + 1) + 1)


def headings(text: str, form: str, **options) -> list[str]:
    return [c.heading for c in chunk(text, form, **options)]


def starts(text: str, form: str, **options) -> list[str]:
    return [c.content.split("\n")[0] for c in chunk(text, form, **options)]


@pytest.mark.parametrize("form", ["markdown", "text", "yaml", "json", "python"])
@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_blank_documents_have_no_chunks(form, text):
    assert chunk(text, form) == []


def test_markdown_by_headings():
    text = (
        f"---\ntitle: t\n---\n{long('intro')}\n# A\n{long('a')}\n## B\n{long('b')}\n```sh\n# no heading\n```\n"
        f"### C\n{long('c')}\n\nSecond\n------\n{long('d')}\n# E\n{long('e')}\n"
    )
    assert headings(text, "markdown") == ["", "A", "A > B", "A > B > C", "A > Second", "E"]
    assert starts(text, "markdown") == ["---", "# A", "## B", "### C", "Second", "# E"]


def test_a_heading_alone_goes_with_what_is_below_it():
    text = f"# Top\n\n## A\n{long('a')}\n## Only a heading\n\n### B\n{long('b')}\n"
    assert headings(text, "markdown") == ["Top > A", "Top > Only a heading > B"]
    assert starts(text, "markdown") == ["# Top", "## Only a heading"]


def test_a_note_of_many_two_liners_gives_few_chunks():
    text = "# Log\n\n" + "".join(f"## Day {n:02}\nSomething happened on that day.\n\n" for n in range(40))
    chunks = chunk(text, "markdown")
    # a section is 44 characters, so 22 fill a thousand
    assert len(chunks) == 2
    assert {c.heading for c in chunks} == {"Log"}


def test_the_last_fragment_joins_the_one_before():
    text = f"# A\n{long('a')}\n# B\nshort\n"
    assert headings(text, "markdown") == ["A"]


def test_a_fragment_without_room_beside_it_stands_alone():
    text = f"# A\n{long('a', 900)}\n# B\n{long('b', 150)}\n# C\n{long('c', 900)}\n"
    assert headings(text, "markdown") == ["A", "B", "C"]


def test_long_sections_are_cut_at_paragraphs_with_overlap():
    paragraphs = [f"Paragraph {n:02}. " + long("word", 280).strip() for n in range(6)]
    text = "# A\n\n" + "\n\n".join(paragraphs)
    chunks = chunk(text, "markdown")
    assert [c.heading for c in chunks] == ["A"] * 3
    assert chunks[0].content == "# A\n\n" + "\n\n".join(paragraphs[:3])
    assert chunks[1].content.endswith(paragraphs[4]) or chunks[1].content.endswith(paragraphs[5])
    for before, after in pairwise(chunks):
        shared = next(n for n in range(300, -1, -1) if before.content.endswith(after.content[:n].rstrip()))
        assert 100 <= shared <= 200


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (("x" * 60 + "\n") * 40, "x"),
        (("abc defg. " * 9 + "No stop here ") * 40, "defg."),
        ("word " * 400, "word"),
    ],
)
def test_cut_at_lines_sentences_words(text, end):
    for piece in chunk(text, "text")[:-1]:
        assert piece.content.endswith(end)


def test_without_any_bound_the_cut_is_at_the_target():
    assert [len(c.content) for c in chunk("x" * 2000, "text", target=1000, overlap=0)] == [1000, 1000]
    assert [len(c.content) for c in chunk("x" * 2000, "text", target=5000, overlap=0)] == [1200, 800]
    assert [len(c.content) for c in chunk("x" * 1800, "text", target=1000, overlap=200)] == [1000, 1000]


def test_yaml_by_documents_and_top_level_keys():
    text = (
        "# the web server\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: &app paperless\n"
        f"spec:\n  template: {long('t', 880)}\n"
        f"---\n# claim\nkind: 'Secret'\nmetadata: # no name\n  labels:\n    name: not-it\n"
        f"data:\n  a: {long('d', 950)}\n"
        f"---\nservices:\n  web: {long('w', 990)}\n  db: {long('b', 500)}\n"
    )
    assert headings(text, "yaml") == [
        "Deployment/paperless > spec",
        "Secret",
        "Secret > data",
        "services > web",
        "services > db",
    ]


def test_yaml_key_of_a_long_section_and_comments_above_it():
    text = (
        f'tasks:\n- name: Install it\n  apt: {long("p")}\n  # about apt\n- name: "Start it"\n  # how\n  service:\n'
        f"    x: {long('s', 700)}\n    y: {long('r', 700)}\n# about vars\nvars: {long('v', 300)}\n"
    )
    assert headings(text, "yaml") == [
        "tasks > Install it", "tasks > Start it > service > x", "tasks > Start it > service > y", "vars",
    ]  # fmt: skip
    assert starts(text, "yaml")[-1] == "# about vars"
    assert chunk(text, "yaml")[0].content.endswith("# about apt")


def test_yaml_with_templates_and_faults_is_cut_all_the_same():
    text = (
        "{{- if .Values.web }}\nweb:\n  image: {{ .Values.image }}\n  command: " + long("c", 500) + "\n"
        "{{- end }}\n{% if x %}\nbroken: [1, 2\n  text: " + long("b", 700) + "\n\ttab: x\n"
    )  # fmt: skip
    assert headings(text, "yaml") == ["web", "broken"]
    assert starts(text, "yaml") == ["{{- if .Values.web }}", "{% if x %}"]


def test_yaml_block_scalars_are_text():
    script = "".join(f"  step-{n}: not a key at all, only a line of a script\n" for n in range(40))
    assert set(headings(f"script: |-\n{script}", "yaml")) == {"script"}


def test_yaml_of_plain_text_is_text():
    assert set(headings(long("word", 3000), "yaml")) == {""}


def test_json_by_keys():
    text = json.dumps(
        {
            "services": {"web": {"a": long("a", 700), "b": long("b", 700)}, "db": long("d", 300)},
            "list": [{"x": long("1", 700)}, {"x": long("2", 700)}],
            "n": 1,
        }
    )
    assert headings(text, "json") == [
        "services > web > a", "services > web > b", "services > db", "list", "list",
    ]  # fmt: skip
    assert chunk(text, "json")[0].content.startswith('{\n  "services": {\n    "web": {\n      "a": "a a')


def test_json_that_is_none_is_text():
    assert [c.content for c in chunk("{'a': 1}", "json")] == ["{'a': 1}"]


def test_json_small_is_one_chunk_laid_out():
    assert [c.content for c in chunk('{"b":1.50,"a":[true,null],"b":{}}', "json")] == [
        '{\n  "b": 1.50,\n  "a": [\n    true,\n    null\n  ],\n  "b": {}\n}'
    ]
    assert [c.content for c in chunk(" 7 ", "json")] == ["7"]


def test_json_escapes_that_scrubbing_did_not_see_stay_escapes():
    text = r'"\u00fcber \u0041\u0042 \/ \n \\u00fc \ud83e\udd89 \u0000"'
    assert pretty_json(text) == r'"über \u0041\u0042 \/ \n \\u00fc \ud83e\udd89 \u0000"'


def test_json_deeper_than_the_widest_indent():
    text = "[" * 30 + "]" * 30
    assert pretty_json(text).split("\n")[25] == " " * 20 + "["


PYTHON = f'''"""Module {long("doc", 300)}."""
import os

# comment that belongs to f
# and its second line
@decorator(
    1
)
def f():
    return """
# no comment of g
"""

# far away

async def g():
    return "{long("g", 300)}"


VALUE = "{long("v", 300)}"


class Big:
    """{long("big", 300)}"""

    # about one
    def one(self):
        return "{long("1", 700)}"

    limit = 5

    @property
    def two(self):
        return "{long("2", 900)}"


class Small:
    def three(self):
        return "{long("3", 300)}"
'''


def test_python_by_definitions():
    chunks = chunk(PYTHON, "python")
    assert [c.heading for c in chunks] == [
        "", "def g", "", "class Big", "class Big > def one", "class Big > def two", "class Small",
    ]  # fmt: skip
    f = chunks[0].content
    assert f.startswith('"""Module doc')
    assert "# comment that belongs to f" in f
    assert chunks[4].content.lstrip().startswith("# about one")
    assert chunks[5].content.lstrip().startswith(("limit = 5", "@property"))


def test_python_comments_and_decorators_stay_with_their_definition():
    text = f'x = "{long("x", 300)}"\n# about f\n@wraps\ndef f(): return "{long("f", 300)}"\n'
    assert starts(text, "python") == [text.splitlines()[0], "# about f"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_python_with_any_line_ending_and_without_the_last(newline):
    text = f'x = "{long("x", 300)}"{newline}def f(): return "{long("f", 300)}"'.replace("\n", newline)
    assert headings(text, "python") == ["", "def f"]


def test_two_definitions_on_one_line():
    assert (
        headings(f'def f(): "{long("f", 300)}"; \ndef g(): "{long("g", 300)}"\nclass A: pass; x = 1', "python")[0]
        == "def f"
    )


def test_what_is_not_python_is_text():
    assert headings("print 'hello'\n" * 3, "python") == [""]


def test_heading_of_keeps_the_innermost_names():
    assert heading_of(()) == ""
    assert heading_of(("a", "b\n c")) == "a > b c"
    assert heading_of(("x" * 150, "y" * 100, "z")) == "y" * 100 + " > z"
    assert heading_of(("a", "z" * 300)) == "z" * 200
