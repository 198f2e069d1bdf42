"""Pieces of long tables, fences, lists and block scalars say what they are pieces of."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainkit.chunking import chunk

PROSE = "Some words before it.\n\n"


def lines_of(text: str, form: str, **options) -> list[list[str]]:
    return [c.content.split("\n") for c in chunk(text, form, **options)]


def rows(count: int) -> str:
    return "".join(f"| host{n:03} | 10.0.0.{n} |\n" for n in range(count))


@pytest.mark.parametrize("form", ["markdown", "csv", "html", "ipynb", "transcript", "org"])
@pytest.mark.parametrize("separator", ["|------|----|", "|:-----|---:|"])
def test_every_piece_of_a_table_has_its_header(form, separator):
    pieces = lines_of(f"{PROSE}| Host | IP |\n{separator}\n{rows(120)}\n\nAfter it.\n", form)
    assert len(pieces) > 3
    for lines in pieces[1:]:
        assert lines[:2] == ["| Host | IP |", separator]
        assert lines[2].startswith("| host")


def test_without_outer_bars_and_in_quotes():
    body = "".join(f"host{n:03} | 10.0.0.{n}\n" for n in range(120))
    assert all(c[:2] == ["Host | IP", "--- | ---"] for c in lines_of(f"Host | IP\n--- | ---\n{body}", "markdown"))
    quoted = "".join(f"> {row}\n" for row in f"| Host | IP |\n|---|---|\n{rows(120)}".splitlines())
    assert all(c[:2] == ["> | Host | IP |", "> |---|---|"] for c in lines_of(quoted, "markdown"))


def test_what_stands_behind_a_table_has_no_header():
    text = f"| Host | IP |\n|---|---|\n{rows(30)}\n" + "\n\n".join("word " * 100 for _ in range(6))
    last = lines_of(text, "markdown")[-1]
    assert not any("|" in line for line in last)


def test_the_header_of_a_wide_table_without_its_separator_then_cut():
    for width, kept in ((250, 250), (600, 299)):
        header = "| " + "h" * (width - 4) + " |"
        pieces = lines_of(f"{header}\n|{'-' * (width - 2)}|\n" + "| some cell of it |\n" * 200, "markdown")
        assert {lines[0] for lines in pieces[2:]} == {header[:kept]}
        assert {lines[1] for lines in pieces[2:]} == {"| some cell of it |"}


@pytest.mark.parametrize("marker", ["```", "~~~", "`````"])
@pytest.mark.parametrize("indent", ["", "  ", "    ", "> "])
def test_every_piece_of_a_fence_has_its_language(marker, indent):
    opening = f"{indent}{marker}sh"
    body = "".join(f"{indent}echo {n:04}\n\n" for n in range(150))
    text = f"{PROSE}{opening}\n{body}{indent}{marker}\n\n" + "The words behind it. " * 100
    for lines in lines_of(text, "markdown"):
        if any("echo" in line for line in lines):
            assert opening in lines[: next(n for n, line in enumerate(lines) if "echo" in line)]
        else:
            assert opening not in lines


def test_a_shorter_or_other_marker_does_not_close_a_fence():
    text = "````md\n" + "```sh\necho\n```\n~~~\n" * 100 + "````\n"
    assert {lines[0] for lines in lines_of(text, "markdown")} == {"````md"}


def test_no_piece_begins_with_the_end_of_a_fence():
    text = "```sh\n" + "echo a line of it\n" * 40 + "```\n" + "Some words. " * 100
    for size in range(300, 800, 20):
        for lines in lines_of(text, "markdown", target=size):
            assert lines[:2] != ["```sh", "```"]
            assert lines[0] != "```"


def test_a_fence_in_a_list_has_its_item_too():
    text = "1. Restore the backup:\n\n   ```sh\n" + "   echo a line of it\n" * 100 + "   ```\n"
    assert {tuple(lines[:1]) for lines in lines_of(text, "markdown")} == {("1. Restore the backup:",)}
    assert {tuple(lines[:2]) for lines in lines_of(text, "markdown")[1:]} == {("1. Restore the backup:", "   ```sh")}
    assert lines_of("- ```sh\n" + "  echo it\n" * 200, "markdown")[1][:2] == ["- ```sh", "  echo it"]


def test_pieces_of_a_nested_list_have_the_items_above():
    text = "# Hosts\n\n- rack one\n" + "".join(f"  - server {n:03} of it\n    - disk {n:03}\n" for n in range(100))
    chunks = chunk(text + "- rack two\n" + "- another rack\n" * 100, "markdown")
    assert {c.heading for c in chunks} == {"Hosts"}
    for piece in chunks[1:]:
        lines = piece.content.split("\n")
        if lines[1].startswith("    - disk"):
            assert lines[0].startswith("  - server")
        elif any("server" in line for line in lines):
            assert lines[0] == "- rack one"
        else:
            assert lines[0] == "- another rack"
            assert "- rack two" not in lines[:1]


def test_a_long_item_is_repeated_in_its_first_words():
    item = "- " + "word " * 60
    pieces = lines_of(f"{item}\n" + "  - part of it\n" * 200, "markdown")
    assert pieces[1][0] == ("- " + "word " * 60)[:96]
    assert pieces[1][1] == "  - part of it"


@pytest.mark.parametrize("key", ["run.sh: |", "run.sh: >-", "- |", '"a key": |2 # of it', "a: !!str |", "- name: |+"])
def test_every_piece_of_a_block_scalar_has_its_key(key):
    body = "".join(f"      echo {n:03}\n\n" for n in range(150))
    text = f"data:\n  {key}\n{body}  other: 1\n" + "more:\n" + "".join(f"  k{n}: {n}\n" for n in range(100))
    pieces = lines_of(text, "yaml")
    assert sum(f"  {key}" in lines for lines in pieces) > 1
    for lines in pieces:
        echoes = [n for n, line in enumerate(lines) if "echo" in line]
        assert not echoes or f"  {key}" in lines[: echoes[0]]


def test_org_blocks_and_no_other_format():
    text = "#+BEGIN_SRC sh\n" + "echo ```\n" * 200 + "#+end_src\n" + "Words behind it. " * 100
    pieces = lines_of(text, "org")
    assert all(lines[0] == "#+BEGIN_SRC sh" for lines in pieces if "echo ```" in lines)
    assert "BEGIN_SRC" not in pieces[-1][0]
    plain = "| a |\n|---|\n" + "| b |\n" * 400
    assert all(c.content in plain for c in chunk(plain, "text"))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["table", "fence", "list", "prose"]), st.integers(1, 60), st.integers(1, 40)),
        min_size=1,
        max_size=6,
    ),
    st.integers(300, 1500),
    st.integers(0, 400),
)
def test_in_any_document_each_row_and_line_stands_below_its_first(parts, target, overlap):
    """Rows and lines are numbered by the part they are of, and so are the lines that have to be above them."""
    text = ""
    for part, (kind, count, width) in enumerate(parts):
        body = ["w" * width + f" row{part}." for _ in range(count)]
        if kind == "table":
            text += f"| top{part}. |\n|---|\n" + "".join(f"| {row} |\n" for row in body)
        elif kind == "fence":
            text += f"```top{part}.\n" + "".join(f"{row}\n" for row in body) + "```\n"
        elif kind == "list":
            text += f"- top{part}.\n" + "".join(f"  - {row}\n" for row in body)
        else:
            text += "".join(f"{row.replace('row', 'free')}\n" for row in body)
        text += "\n"
    for piece in chunk(text, "markdown", target=target, overlap=overlap):
        seen: set[str] = set()
        for kind, part in re.findall(r"(top|row)(\d+)\.", piece.content):
            assert kind == "top" or part in seen
            seen.add(part)
