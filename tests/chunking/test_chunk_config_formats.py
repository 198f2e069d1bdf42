"""Configuration files, reStructuredText and Org by their parts; expected headings are written by hand."""

from __future__ import annotations

import pytest

from brainkit.chunking import chunk

LONG = "word " * 60


def headings(text: str, form: str) -> list[str]:
    return [c.heading for c in chunk(text, form)]


def starts(text: str, form: str) -> list[str]:
    return [c.content.split("\n")[0] for c in chunk(text, form)]


def test_toml():
    text = (
        f'title = "{LONG}"\n\n# about a\n[a.b]\nx = "{LONG}"\nmatrix = [\n  [1, 2],\n  [3, 4]\n]\n\n'
        f'[[servers]] # first\n# remark\nip = "{LONG}"\n  [servers."x y"]\n  z = "{LONG}"\n'
    )
    assert headings(text, "toml") == ["", "a.b", "servers", 'servers."x y"']
    assert starts(text, "toml") == [f'title = "{LONG}"', "# about a", "[[servers]] # first", '  [servers."x y"]']


def test_ini_and_units():
    text = f'; global\nx={LONG}\n; about it\n# more\n[remote "origin"]\nurl = {LONG}\n[core] ; end\ny = {LONG}\n'
    assert headings(text, "ini") == ["", 'remote "origin"', "core"]
    assert starts(text, "ini") == ["; global", "; about it", "[core] ; end"]
    unit = f"[Unit]\nDescription={LONG}\n\n[Service]\nExecStart={LONG}\n\n[Install]\nWantedBy={LONG}\n"
    assert headings(unit, "unit") == ["Unit", "Service", "Install"]


def test_dockerfile_by_stages():
    text = (
        f"# syntax=docker/dockerfile:1\nARG V=1\n# {LONG}\n\n# the builder\nFROM --platform=x python:3 AS build\n"
        f"RUN {LONG}\nfrom  scratch\nCOPY --from=build {LONG}\n"
    )
    assert headings(text, "dockerfile") == ["", "FROM --platform=x python:3 AS build", "from scratch"]
    assert starts(text, "dockerfile")[1:] == ["# the builder", "from  scratch"]


def test_terraform_by_blocks():
    text = (
        f'terraform {{\n  # {LONG}\n  backend "s3" {{\n  }}\n}}\n\n# dns\nresource "a_record" "www" {{\n'
        f'  x = "{LONG}"\n  inner "y" {{\n  }}\n}}\nlocals {{ a = "{LONG}" }}\nhosts = {{\n  a = "{LONG}"\n}}\n'
    )
    assert headings(text, "terraform") == ["terraform", 'resource "a_record" "www"', "locals", "hosts"]
    assert starts(text, "terraform")[1] == "# dns"


def test_restructured_text():
    text = (
        f"=======\n Title\n=======\n\n{LONG}\n\nPart one\n========\n\n{LONG}\n\nDeeper\n------\n\n{LONG}\n"
        f"::\n\n    no heading\n    ----------\n\n----\n\nToo long for it\n----\n\nPart two\n========\n{LONG}\n"
    )
    assert headings(text, "rst") == ["Title", "Title > Part one", "Title > Part one > Deeper", "Title > Part two"]


def test_org():
    text = (
        f"#+TITLE: t\n{LONG}\n* TODO One :home:dns:\n{LONG}\n** Two\n{LONG}\n**bold** is no heading\n* Three\n{LONG}\n"
    )
    assert headings(text, "org") == ["", "One", "One > Two", "Three"]


@pytest.mark.parametrize("form", ["csv", "html", "ipynb", "transcript"])
def test_converted_formats_are_markdown(form):
    text = f"# A\n{LONG}\n## B\n{LONG}\n"
    assert chunk(text, form) == chunk(text, "markdown")


@pytest.mark.parametrize("form", ["toml", "ini", "unit", "dockerfile", "terraform", "rst", "org"])
def test_what_has_no_such_parts_is_text(form):
    text = "\n\n".join(f"Paragraph {n}. {LONG}" for n in range(9))
    assert chunk(text, form) == chunk(text, "text")
    assert len(chunk(text, form)) > 1
