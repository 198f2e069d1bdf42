"""Front matter: what is read of it, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from brainkit.readers.frontmatter import FrontMatter, parse_date, read_front_matter


def fence(body: str) -> str:
    return f"---\n{body}\n---\n"


@pytest.mark.parametrize(
    ("body", "title", "tags"),
    [
        ("title: A  note\ntags: [a, '#b', a]", "A note", ("a", "b")),
        ("Title: 007\nTags: a, b c", "007", ("a", "b", "c")),
        ("title: >-\n  folded\n  title\ntag:\n- x\n- 5\n- [no]", "folded title", ("x", "5")),
        ("title: [a]\ntags: {a: b}", "", ()),
        ("", "", ()),
        ("# only a comment", "", ()),
        ("title:", "", ()),
    ],
)
def test_title_and_tags(body, title, tags):
    assert read_front_matter(fence(body)) == FrontMatter(title, tags)


@pytest.mark.parametrize(
    ("body", "language"),
    [
        ("lang: de", "german"),
        ("language: German", "german"),
        ("lang: en-GB", "english"),
        ("LANG: pt_BR", "simple"),
        ("lang: klingon", "simple"),
        ("lang:", ""),
        ("lang: [de]", ""),
        ("title: de", ""),
    ],
)
def test_language(body, language):
    assert read_front_matter(fence(body)).language == language


@pytest.mark.parametrize(
    ("body", "aliases"),
    [
        ("aliases: [Owl, the old server, Owl]", ("Owl", "the old server")),
        ("aliases:\n- 7\n- [no]\nalias: C#", ("7", "C#")),
        ("alias: Owl, old server", ("Owl", "old server")),
        ("aliases: {a: b}", ()),
        ("aliases:", ()),
    ],
)
def test_aliases(body, aliases):
    assert read_front_matter(fence(body)).aliases == aliases


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("2024-05-01T10:00:00+02:00", datetime(2024, 5, 1, 8, tzinfo=UTC)),
        ("2024-05-01 10:00 Z", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-13-01", None),
        ("0001-01-01T00:00+14:00", None),
        ("yesterday", None),
        ("", None),
        (None, None),
        (["2024-05-01"], None),
    ],
)
def test_dates(text, expected):
    assert parse_date(text) == expected


def test_the_first_date_that_is_one_wins():
    assert read_front_matter(fence("updated: 2024-03-03\ncreated: 2024-02-02\ndate: soon")).ts == datetime(
        2024, 2, 2, tzinfo=UTC
    )


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\ntitle: t"


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (BOMB, "invalid front matter: kept as text"),
        ("title: [unclosed", "invalid front matter: kept as text"),
        ("title: a: b", "invalid front matter: kept as text"),
        ("title: !!python/object/apply:os.system ['true']", ""),
        ("[" * 20_000, "invalid front matter: kept as text"),
        ("- a\n- b", "front matter holds no keys: kept as text"),
        ("x: " + "y" * 70_000, "front matter too long to be read"),
        ("a: 1\n--- \nb: 2", "invalid front matter: kept as text"),
        ("? [a, b]\n: c", "invalid front matter: kept as text"),
    ],
)
def test_what_is_refused(body, note):
    assert read_front_matter(fence(body)).note == note
