"""A file becomes a Document, or is Skipped; nothing raw gets out."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brainkit.readers import Document, FoundFile, Link, Skipped, read_all, scan
from brainkit.scrub import Scrubber


def read(found, *, scrubber):
    """The document of a file that gives one, or why there is none."""
    documents = read_all(found, scrubber=scrubber)
    return documents if isinstance(documents, Skipped) else documents[0]


NOTE = """---
title: Backup of tok-123
tags: [restic, tok-456]
date: 2024-05-01
---
# Heading

See [[DNS]] and [mail](mail.md), #home. The key is tok-789.
"""


@pytest.fixture
def load(tmp_path, scrubber):
    def run(name, data, mtime_ns=1_700_000_000_000_000_000):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return read(FoundFile(Path(name), path, path.stat().st_size, mtime_ns), scrubber=scrubber)

    return run


def test_a_note(tmp_path, load):
    document = load("tok-abc/backup.md", NOTE)
    content = NOTE.replace("tok-123", "[REDACTED:token]").replace("tok-456", "[REDACTED:token]")
    content = content.replace("tok-789", "[REDACTED:token]")
    assert document == Document(
        path="[REDACTED:token]/backup.md",
        full_path=f"{tmp_path}/[REDACTED:token]/backup.md",
        title="Backup of [REDACTED:token]",
        content=content,
        content_hash=hashlib.sha256((content + "\0fake-1").encode()).hexdigest(),
        format="markdown",
        tags=("restic", "home"),  # a redacted tag is a list to YAML, and no tag
        ts=datetime(2024, 5, 1, tzinfo=UTC),
        links=("DNS", "mail.md"),
        redactions={"token": 4},
        scrub_version="fake-1",
        note="",
        role="note",
        edges=(Link("DNS", "", "", "wikilink"), Link("mail.md", "", "mail", "markdown")),
    )


def test_a_secret_that_only_yaml_spells_out_is_scrubbed_too(load):
    document = load("a.md", '---\ntitle: "to\\x6b-123"\ntags: ["t\\x6fk-456"]\n---\n')
    assert document.title == "[REDACTED:token]"
    assert document.tags == ("[REDACTED:token]",)


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.md", "intro\n\n```\n# no\n```\n## second\nFirst\n=====\n", "First"),
        ("a.md", "#\n# Real\n", "Real"),
        ("my.note.markdown", "no heading", "my.note"),
        ("a.txt", "# not markdown", "a"),
        ("a.md", "---\ntitle: [broken\n---\n# Used\n", "Used"),
        ("a.md", "# " + "x" * 999, "x" * 300),
    ],
)
def test_titles(load, name, text, title):
    assert load(name, text).title == title


@pytest.mark.parametrize(
    ("name", "text", "form", "note"),
    [
        ("a.MD", "x", "markdown", ""),
        ("a.yml", "a: {{ b }}", "yaml", ""),
        ("a.json", '{"a": 1}', "json", ""),
        ("a.json", "{'a': 1}", "json", "invalid JSON: chunked as text"),
        ("a.json", "[" * 100_000, "json", "invalid JSON: chunked as text"),
        ("a.py", "x = '\\d'", "python", ""),
        ("a.py", "print 1", "python", "not parsed as Python: chunked as text"),
        ("a.py", "x\\\0 = 1", "python", "1 NUL character removed; not parsed as Python: chunked as text"),
        ("a.py", "x=1\n" * 600_000, "python", "not parsed as Python: chunked as text"),
        ("a.yml", "a: 1\na: 2\n- b\n", "yaml", "invalid YAML: chunked by its top-level lines"),
        ("a.yml", "a:\n\t- b", "yaml", "invalid YAML: chunked by its top-level lines"),
        ("a.yml", "{{- if .x }}\n\t- b\n{{- end }}", "yaml", ""),
        ("a.yml", "x: &a [1]\ny: *a\n---\nz: !odd 1", "yaml", ""),
        ("a.yml", "a: b: c\n" * 25_001, "yaml", ""),  # too long to be looked at
        ("a.toml", "a = 1", "toml", ""),
        ("a.toml", "a = = 1", "text", "invalid TOML: chunked as text"),
        ("a.ini", "[a]\nb = 1", "ini", ""),
        ("nginx.conf", "server {\n  listen 80;\n}", "text", ""),
        (".env.local", "export A=1", "ini", ""),
        ("a.timer", "[Timer]\nOnCalendar=daily", "unit", ""),
        ("Dockerfile.dev", "FROM scratch", "dockerfile", ""),
        ("main.tf", 'variable "a" {}', "terraform", ""),
        ("a.html", "<script>x</script>", "text", "no text in its HTML: kept as it is"),
        ("a.html", "<p>x", "html", ""),
        ("a.ipynb", "{}", "text", "invalid notebook: kept as text"),
        ("a.ipynb", "[" * 100_000, "text", "invalid notebook: kept as text"),
        ("a.csv", "x" * 200_000, "text", "no table: kept as text"),
        ("a.csv", "a\0,b\n1,2\n", "csv", "1 NUL character removed"),
        ("a.jsonl", '{"a": 1}\n{"a"', "text", ""),
        ("a.md", "---\n- x\n---\ntext", "markdown", "front matter holds no keys: kept as text"),
        ("a.md", b"caf\xe9", "markdown", "decoded as windows-1252"),
    ],
)
def test_formats_and_notes(load, name, text, form, note):
    document = load(name, text)
    assert (document.format, document.note) == (form, note)


def test_time_of_the_file_where_the_note_has_none(load):
    assert load("a.txt", "x").ts == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert load("a.txt", "x", mtime_ns=-1_000_000_000).ts == datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert load("a.txt", "x", mtime_ns=2**63 * 1000).ts is None


def test_the_hash_tells_scrub_versions_apart(load, scrubber):
    first = load("a.txt", "x")
    scrubber.version = "fake-2"
    assert load("a.txt", "x").content_hash != first.content_hash


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "binary: not text in any encoding known here"),
        (b" \n\t\r\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\0\0", "empty"),
    ],
)
def test_skipped(load, data, reason):
    assert load("tok-1.md", data) == Skipped("[REDACTED:token].md", reason)


def test_what_vanishes_or_changes_between_scan_and_read(tmp_path, scrubber):
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    (tmp_path / "folder.md").mkdir()
    reasons = [
        read(FoundFile(Path(name), tmp_path / name, 1, 0), scrubber=scrubber).reason
        for name in ("gone.md", "pipe.md", "folder.md")
    ]
    assert reasons == [
        "cannot be read: No such file or directory",
        "cannot be read: not a regular file",
        "cannot be read: Is a directory",
    ]


def test_everything_in_a_document_can_be_stored(tmp_path, scrubber):
    (tmp_path / os.fsdecode(b"b\xfcro")).mkdir()
    for name in (
        b"b\xfcro/\xff\xfe.md",
        b"b\xfcro/new\nline.md",
        "b\udcfcro/🦉\u200e.md".encode(errors="surrogateescape"),
    ):
        (tmp_path / os.fsdecode(name)).write_bytes(b"---\ntitle: a\0b\n---\n[[x\0y]] \xed\xa0\x80")
    found = list(scan(tmp_path, extensions=("md",), max_bytes=999, scrubber=scrubber))
    documents = [read(item, scrubber=scrubber) for item in found]
    assert sorted(d.path for d in documents) == ["büro/new\nline.md", "büro/ÿþ.md", "büro/🦉\u200e.md"]
    for document in documents:
        assert (document.title, document.links) == ("ab", ("xy",)) or "\n" in document.path
        for text in (document.path, document.full_path, document.title, document.content, *document.links):
            assert "\0" not in text
            text.encode()


def test_the_real_scrubber_fits(tmp_path):
    scrub = pytest.importorskip("brainkit.scrub")
    secret = "AK" + "IA" + "Q3EGR7ZK5NXW2LTD"
    (tmp_path / "a.md").write_text(f"---\ntitle: {secret}\n---\nkey {secret}\n")
    scrubber = scrub.Scrubber()
    (found,) = scan(tmp_path, extensions=("md",), max_bytes=999, scrubber=scrubber)
    document = read(found, scrubber=scrubber)
    assert secret not in repr(document)
    assert sum(document.redactions.values()) == 2
    assert document.scrub_version == scrubber.version


@pytest.mark.parametrize(
    ("written", "title"),
    [
        (r'"a\0b"', "ab"),
        (r'"x\ud800y"', "x\ufffdy"),
        (r'"\ud83d\ude00 smile"', "\U0001f600 smile"),
        (r'"\udfff"', "\ufffd"),
    ],
)
def test_escapes_in_front_matter_never_make_a_text_that_cannot_be_stored(tmp_path, written, title):
    (tmp_path / "x.md").write_text(f"---\ntitle: {written}\ntags: [{written}]\n---\nbody\n", "utf-8")
    (found,) = scan(tmp_path, extensions=["md"], max_bytes=1000, scrubber=Scrubber())
    document = read(found, scrubber=Scrubber())
    assert document.title == title
    assert all("\0" not in tag and tag.encode() for tag in document.tags)


def test_the_full_path_ends_with_the_path_as_it_is_redacted(tmp_path):
    folder = tmp_path / "notes"
    name = "DB_PASSWORD=" + "fqMwNukjkU1" + "In.md"
    folder.mkdir()
    (folder / name).write_text("body\n", "utf-8")
    (found,) = scan(folder, extensions=["md"], max_bytes=1000, scrubber=Scrubber())
    document = read(found, scrubber=Scrubber())
    assert document.full_path == f"{folder.as_posix()}/{document.path}"
    assert "fqMwNukjkU1" not in document.full_path


@pytest.mark.parametrize("name", ["pass" + "word=hunter2.txt", "api" + "_key=8f3kZq01LmPx7.yaml"])
def test_an_ending_does_not_hide_a_secret_in_a_name(tmp_path, name):
    (tmp_path / name).write_text("body: 1\n", "utf-8")
    (found,) = scan(tmp_path, extensions=["txt", "yaml"], max_bytes=1000, scrubber=Scrubber())
    document = read(found, scrubber=Scrubber())
    value = name.partition("=")[2].partition(".")[0]
    assert value not in document.path + document.full_path + document.title


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("a.md", "note"), ("a.txt", "note"), ("a.rst", "note"), ("a.org", "note"), ("a.html", "note"),
        ("a.yaml", "config"), ("a.json", "config"), ("a.toml", "config"), ("a.conf", "config"),
        ("a.service", "config"), ("Dockerfile", "config"), ("Caddyfile", "config"), ("a.tf", "config"),
        ("a.py", "code"), ("a.ipynb", "code"), ("a.csv", "data"), ("a.jsonl", "data"),
    ],
)  # fmt: skip
def test_roles(load, name, role):
    assert load(name, "x").role == role


@pytest.mark.parametrize(("name", "title"), [("backup.timer", "backup.timer"), ("Dockerfile.dev", "Dockerfile.dev")])
def test_what_its_ending_tells_apart_is_titled_by_its_whole_name(load, name, title):
    assert load(name, "[Timer]").title == title


def test_what_conversion_spells_out_is_scrubbed_too(load):
    page = load("a.html", "<title>to&#107;-1</title><p>key to&#107;-23 <a href='to%6b-1.md'>x</a>")
    assert (page.title, page.content) == ("[REDACTED:token]", "key [REDACTED:token] [x](to%6b-1.md)\n")
    assert page.links == ("[REDACTED:token].md",)
    book = load("a.ipynb", '{"cells": [{"cell_type": "markdown", "source": ["# to\\u006b-1"]}]}')
    assert (book.title, book.content) == ("[REDACTED:token]", "# [REDACTED:token]\n")
    talk = load(
        "a.jsonl", '{"role": "user", "content": "to\\u006b-1", "sessionId": "to\\u006b-2", "cwd": "/to\\u006b-3"}'
    )
    assert talk.content == "## user\n\n[REDACTED:token]\n"
    assert (talk.title, talk.ref, talk.project) == ("[REDACTED:token]",) * 3
    assert page.redactions == book.redactions == talk.redactions == {"token": 1}


def test_the_redactions_of_a_file_are_counted_once(tmp_path, scrubber):
    lines = [f'{{"messages": [{{"role": "user", "content": "tok-{n}"}}]}}' for n in range(3)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    documents = read_all(FoundFile(Path("a.jsonl"), tmp_path / "a.jsonl", 1, 0), scrubber=scrubber)
    assert [dict(document.redactions) for document in documents] == [{"token": 3}, {}, {}]


def test_aliases_and_headings_of_links(load):
    text = '---\naliases: [Owl, "t\\x6fk-1", Owl]\n---\n[see](b.md#to%6b-2) [see](b.md#tok%2d3) ![[c]]\n'
    note = load("a.md", text)
    assert note.aliases == ("Owl", "[REDACTED:token]")
    assert note.edges == (Link("b.md", "[REDACTED:token]", "see", "markdown"), Link("c", "", "", "embed"))


@pytest.mark.parametrize(
    ("name", "text", "title", "tags"),
    [
        ("a.rst", "======\nBackup\n======\n\nText\n----\n", "Backup", ()),
        ("a.rst", "Plain words\n\nShort\n--\n\nHead\n~~~~\n", "Head", ()),
        ("a.rst", "no heading", "a", ()),
        ("a.org", "#+TITLE: My file\n#+FILETAGS: :home:net:\n* Other", "My file", ("home", "net")),
        ("a.org", "text\n* TODO Fix it :urgent:\n", "Fix it", ()),
        ("a.org", "text *bold*\n", "a", ()),
    ],
)
def test_titles_and_tags_of_rst_and_org(load, name, text, title, tags):
    document = load(name, text)
    assert (document.title, document.tags, document.content) == (title, tags, text)


def test_the_date_of_an_org_file(load):
    assert load("a.org", "#+DATE: <2024-05-01 Wed>\n").ts == datetime(2024, 5, 1, tzinfo=UTC)
    assert load("a.org", "#+DATE: today\n").ts == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def bearer():
    return "at5G6zi" + "Qx9m2"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", json.dumps({"role": "user", "content": f'or\nPASSWORD = "{bearer()}"\n"x"'})),
        (
            "a.jsonl",
            '{"role": "user", "content": "go"}\n'
            + json.dumps(
                {"role": "assistant", "content": [{"type": "tool_use", "name": "sh", "input": {
                    "command": "x" * 280 + f'\n export DB_PASSWORD="{bearer()}"\n'}}]}
            ),
        ),
        ("a.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": ["P\n", f'password = "{bearer()}"\n']}]})),
        ("a.html", f"<p>db_<b>x</b></p><pre>password: &quot;{bearer()}&quot;</pre>"),
        ("a.csv", f'what,text\na,"password = ""{bearer()}"""\n'),
    ],
)  # fmt: skip
def test_no_syntax_hides_a_secret_from_the_real_scrubber(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (document,) = read_all(FoundFile(Path(name), tmp_path / name, 1, 0), scrubber=Scrubber())
    assert document.format != "text"
    assert bearer()[:5] not in repr(document)
    assert sum(document.redactions.values()) >= 1
