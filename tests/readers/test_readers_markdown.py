"""Headings, prose, links and tags of markdown; the cases follow the CommonMark specification 0.31."""

from __future__ import annotations

import pytest

from brainkit.readers import blocks, front_matter_end
from brainkit.readers.markdown import closing, edges, prose, tags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# foo\n## bar\n###### baz", [(1, "foo"), (2, "bar"), (6, "baz")]),
        ("####### seven\n#hashtag\n#5 bolt\n", []),
        ("   ### three spaces\n    # four\n\n    # code", [(3, "three spaces")]),
        ("## foo ##\n# bar ##################\n### b # c\n# foo#\n#\n## \n### ###", [
            (2, "foo"), (1, "bar"), (3, "b # c"), (1, "foo#"), (1, ""), (2, ""), (3, ""),
        ]),
        ("Foo\n===\nBar\n  ---  \n", [(1, "Foo"), (2, "Bar")]),
        ("two\nlines\n===", [(1, "two lines")]),
        ("Foo\n\n---\n\n- item\n---\n> quote\n---\n---\n", []),
        ("1. item\n   more\n---\n", []),
        ("| a |\n---\n", []),
        ("    code\n---\n", []),
        ("# foo\n---\n", [(1, "foo")]),
        ("x" * 300 + "\n---\n", []),
        ("```\n# no\n``\n~~~\n# no\n````\n# yes", [(1, "yes")]),
        ("~~~ sh `x`\n# no\n```\n~~\n~~~~\n# yes", [(1, "yes")]),
        ("``` a`b\n# yes\n", [(1, "yes")]),
        ("```\n# never closed\n", []),
        ("```\n    ```\n# no\n```\n# yes", [(1, "yes")]),
        ("<!-- \n# no\n-->\n# yes\n<!-- one line -->\n# too", [(1, "yes"), (1, "too")]),
        ("<pre>\n# no\n</PRE>\n# yes\n<prefix>\n# too", [(1, "yes"), (1, "too")]),
        ("- item\n# yes\n", [(1, "yes")]),
        ("---\ntitle: x\n# comment\n---\n# yes\n", [(1, "yes")]),
        ("---\nnot closed\n# yes\n", [(1, "yes")]),
        ("***\n---\n___\n", []),
        ("", []),
    ],
)  # fmt: skip
def test_headings(text, expected):
    assert [(b.level, b.title) for b in blocks(text) if b.level] == expected


def test_a_setext_heading_begins_at_its_paragraph():
    text = "before\n\nFoo\nbar\n===\nafter\n"
    heading = next(b for b in blocks(text) if b.level)
    assert text[heading.start : heading.end] == "Foo\nbar\n===\n"


@pytest.mark.parametrize(
    ("text", "end"),
    [("---\na: 1\n---\nx", 13), ("---\na: 1\n...", 12), ("---\n---\n", 8), ("----\n", 0), ("x", 0), ("---", 0)],
)
def test_front_matter_end(text, end):
    assert front_matter_end(text) == end


def test_prose_leaves_out_code_and_comments():
    text = (
        "see `#code` #one\n```\n#two\n```\n<!--\n#three\n-->\n\n    #four\n\n## five #six\n- a\n    - nested #seven\n"
    )
    assert tags(prose(text)) == ("one", "six", "seven")


def test_links():
    text = (
        "[[Note]] [[dir/Other note|shown]] ![[embed]] [[Note#part]] [a](b.md) [c](<d e.md>) [d](../x/y.md#z 'title') "
        "[web](https://a.example/b.md) [mail](mailto:a@example.org) [here](#top) [root](/etc) ![img](p.png) [[]] [a]() "
        "[s](e%20f.md) [n](%00.md) [t](%0A.md)"
    )
    assert tuple(dict.fromkeys(edge.target for edge in edges(text))) == (
        "Note",
        "dir/Other note",
        "embed",
        "b.md",
        "../x/y.md",
        "e f.md",
    )


@pytest.mark.parametrize(
    ("text", "edge"),
    [
        ("[[Note]]", ("Note", "", "", "wikilink")),
        ("[[dir/Note#Part two|shown]]", ("dir/Note", "Part two", "shown", "wikilink")),
        ("[[Note|shown#Part]]", ("Note", "Part", "shown", "wikilink")),
        ("[[Note|C#]]", ("Note", "", "C#", "wikilink")),
        ("[[Note#^block-1]]", ("Note", "^block-1", "", "wikilink")),
        (r"| [[Note\|shown]] |", ("Note", "", "shown", "wikilink")),
        ("![[plan.png|300]]", ("plan.png", "", "300", "embed")),
        ("[shown](a%20b.md#top 'title')", ("a b.md", "top", "shown", "markdown")),
    ],
)
def test_edges(text, edge):
    assert edges(text) == (edge,)


@pytest.mark.parametrize("text", ["[[#Part]]", "[[]]", "[a](#top)", "[a](https://x.example/b.md)", "[a](/etc/b.md)"])
def test_links_to_nowhere_else_are_no_edges(text):
    assert edges(text) == ()


def test_an_edge_comes_once_and_not_for_ever():
    assert len(edges("[[a]] [[a]] [[a|b]]")) == 2
    assert len(edges(" ".join(f"[[n{n}]]" for n in range(600)))) == 500


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("```\na", "```"),
        ("```\na\n```\nb", ""),
        ("~~~~\n~~~\n", "~~~~"),
        ("<!-- a", "-->"),
        ("<!-- a -->", ""),
        ("a", ""),
    ],
)
def test_what_is_left_open_is_known(text, end):
    assert closing(text) == end


def test_tags():
    text = "#a #a #b/c, (#d) #e-f. #1 #2x #-- #ff00ff #0f0 #fade x#no ##no #ü/ [#g]"
    assert tags(text) == ("a", "b/c", "d", "e-f", "2x", "fade", "ü", "g")
