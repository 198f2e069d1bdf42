"""A file becomes a Document, or is Skipped; nothing raw gets out."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brainkit.readers import Document, FoundFile, Skipped, read, scan
from brainkit.scrub import Scrubber

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
        ("a.toml", "a = 1", "text", ""),
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
