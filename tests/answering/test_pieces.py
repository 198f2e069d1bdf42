"""Pieces of a document: whole sentences, items, rows and lines, each verbatim and with the line it hangs on."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainkit.answering.sentences import MAX_PIECE, Piece, pieces

NOTE = """---
tags: [ups, power]
date: 2024-05-03
---
# UPS in the cellar

The battery was changed on 3. May 2024. It cost 39.90 EUR at e.g. Batteriehaus. Update: that was the
old price!

## Steps

Do this in order:

1. Switch the load to the
   bypass, as told in the manual.
2. Pull the fuse:
   - left one first
   - then the right
- [ ]
-

| part | number |
|------|:------:|
| battery | RBC7 |
| fuse | F-16A |

Check it
```sh
# is it on line?
upsc ups@localhost \\
  ups.status
}
```
> never open it under load

<!-- draft -->
***
"""


def prose(text):
    return pieces(text, prose=True)


def found(text):
    return [piece.text for piece in prose(text)]


def test_a_markdown_note_by_hand():
    top, steps = "UPS in the cellar", "Steps"
    assert prose(NOTE) == [
        Piece("tags: [ups, power]", ""),
        Piece("date: 2024-05-03", ""),
        Piece("The battery was changed on 3. May 2024.", top),
        Piece("It cost 39.90 EUR at e.g. Batteriehaus.", top),
        Piece("Update: that was the old price!", top),
        Piece("1. Switch the load to the bypass, as told in the manual.", steps, "Do this in order:"),
        Piece("- left one first", steps, "2. Pull the fuse:"),
        Piece("- then the right", steps, "2. Pull the fuse:"),
        Piece("| battery | RBC7 |", steps, "| part | number |"),
        Piece("| fuse | F-16A |", steps, "| part | number |"),
        Piece("Check it", steps),
        Piece("# is it on line?", steps, "Check it"),
        Piece("upsc ups@localhost \\\n  ups.status", steps, "# is it on line?"),
        Piece("> never open it under load", steps),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Am 12. März kam der Techniker. Er blieb lange.", ["Am 12. März kam der Techniker.", "Er blieb lange."]),
        ("Siehe z. B. Kapitel 4. Das reicht.", ["Siehe z. B. Kapitel 4. Das reicht."]),
        ("See nginx.conf and v1.31.4 now. (Really.) Yes", ["See nginx.conf and v1.31.4 now.", "(Really.)", "Yes"]),
        ('He said "no." Then left.', ['He said "no."', "Then left."]),
        ("**Bold.** Next one.", ["**Bold.**", "Next one."]),
        ("ca. 30 m, bzw. Mehr. Ende", ["ca. 30 m, bzw. Mehr.", "Ende"]),
        ("no end", ["no end"]),
        ("", []),
        ("...", []),
    ],
)
def test_sentences(text, expected):
    assert found(text) == expected


def test_lines_of_keys_are_pieces_of_their_own_but_a_sentence_with_a_colon_is_not_cut():
    assert found("Host: amsel\nPort: 8971") == ["Host: amsel", "Port: 8971"]
    assert found("Note: the port was moved\nin May.") == ["Note: the port was moved in May."]
    assert found("Serial 4711  \nbought 2023") == ["Serial 4711", "bought 2023"]


def test_a_nested_item_stands_below_its_parent_and_a_later_one_does_not():
    text = "- zfs\n  - scrub monthly\n    - on Sunday\n  - trim weekly\n- nfs\n\nNew text.\n\n- alone\n"
    assert [(p.text, p.lead) for p in prose(text)] == [
        ("- zfs", ""), ("- scrub monthly", "- zfs"), ("- on Sunday", "- scrub monthly"), ("- trim weekly", "- zfs"),
        ("- nfs", ""), ("New text.", ""), ("- alone", ""),
    ]  # fmt: skip


def test_an_introduction_ends_with_its_section():
    assert [(p.text, p.lead) for p in prose("Ports:\n- 80\n\n# B\n- 90")] == [("- 80", "Ports:"), ("- 90", "")]
    assert [(p.text, p.lead) for p in prose("**Ports:**\n- 80\n\nOther.\n- 90")] == [
        ("- 80", "**Ports:**"),
        ("Other.", ""),
        ("- 90", ""),
    ]


@pytest.mark.parametrize(
    ("line", "heading"), [("# A b", "A b"), ("## A ##  ", "A"), ("# C#", "C#"), ("###### A #b", "A #b"), ("# ##", "##")]
)
def test_headings(line, heading):
    assert prose(f"{line}\nText here.") == [Piece("Text here.", heading)]


def test_an_indented_block_is_code_line_by_line():
    assert [p.text for p in prose("Run\n\n    sudo zpool scrub tank\n    zpool status\n")] == [
        "Run", "sudo zpool scrub tank", "zpool status",
    ]  # fmt: skip


YAML = """# the reverse proxy
services:
  traefik:
    image: traefik:v3.1
    ports:
      - "443:443"

    # metrics, only inside
    command: >-
      --metrics
---
volumes:
  data: {}
"""


def test_yaml_lines_are_whole_and_stand_below_their_key():
    assert pieces(YAML, prose=False) == [
        Piece("# the reverse proxy", ""),
        Piece("image: traefik:v3.1", "", "traefik:"),
        Piece('- "443:443"', "", "ports:"),
        Piece("# metrics, only inside", "", "traefik:"),
        Piece("--metrics", "", "command: >-"),
        Piece("data: {}", "", "volumes:"),
    ]


def test_json_and_python_by_hand():
    text = '{\n  "mqtt": {\n    "port": 8883,\n    "tls": true\n  },\n  "x": []\n}\n'
    assert [(p.text, p.lead) for p in pieces(text, prose=False)] == [
        ('"port": 8883,', '"mqtt": {'), ('"tls": true', '"mqtt": {'), ('"x": []', ""),
    ]  # fmt: skip
    code = "def cop(heat, power):\n    return heat / power\n\n\nLIMIT = 4.2\n"
    assert [(p.text, p.lead) for p in pieces(code, prose=False)] == [
        ("return heat / power", "def cop(heat, power):"), ("LIMIT = 4.2", ""),
    ]  # fmt: skip


def test_a_long_line_is_cut_at_spaces_and_one_without_spaces_all_the_same():
    words = " ".join(f"word{i}" for i in range(200))
    cut = found(words)
    assert " ".join(cut) == words
    assert all(len(part) <= MAX_PIECE for part in cut)
    assert "".join(found("x" * 1000)) == "x" * 1000


def test_a_long_item_is_cut_into_sentences():
    item = "- " + " ".join(f"Sentence number {i} of this long item here." for i in range(20))
    assert found(item)[:2] == [
        "- Sentence number 0 of this long item here.",
        "Sentence number 1 of this long item here.",
    ]


def test_an_unfinished_fence_and_command_lose_nothing():
    assert found("```\nfirst\nsecond \\") == ["first", "second \\"]
    assert [p.text for p in pieces("a \\\n  b \\", prose=False)] == ["a \\\n  b \\"]


def test_what_leads_code_does_not_lead_what_comes_after_it():
    text = "Check it\n```\nzpool status\n```\n- and wait\n"
    assert [(p.text, p.lead) for p in prose(text)] == [
        ("Check it", ""), ("zpool status", "Check it"), ("- and wait", ""),
    ]  # fmt: skip


LINES = st.lists(
    st.sampled_from(
        [
            "", "# A", "## B c", "- item", "  - sub item", "1. first", "Text here. More text", "  indented", "    code",
            "```", "|a|b|", "|--|--|", "| 1 | 2 |", "key: value", "key:", "  key: v", "- name: x", "run \\", "---", "}",
            "> quote", "<!-- x -->", "# comment", "Ends with colon:", "\tTab", "ä ö — 日本", "~~~", "**x:**", "break  ",
        ]
    ),
    max_size=25,
)  # fmt: skip


def squeezed(text):
    return "".join(text.split())


@given(lines=LINES, as_prose=st.booleans())
def test_whatever_the_document_pieces_are_verbatim_in_order_and_hold_a_word(lines, as_prose):
    document, at = "\n".join(lines), 0
    whole = squeezed(document)
    for piece in pieces(document, prose=as_prose):
        at = whole.index(squeezed(piece.text), at) + len(squeezed(piece.text))
        assert re.search(r"\w", piece.text)
        assert squeezed(piece.lead) in whole
        assert not piece.text.rstrip("*_`").endswith(":")
        assert piece.lead != piece.text
        assert len(piece.text) + len(piece.lead) <= MAX_PIECE


@given(st.text(max_size=300), st.booleans())
def test_any_text_at_all_gives_verbatim_pieces(text, as_prose):
    assert all(squeezed(p.text) in squeezed(text) for p in pieces(text, prose=as_prose))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "line",
    [
        "-" * 200_000 + "x",
        "# a" + " " * 200_000 + "b",
        "A. " * 100_000,
        '{"k": 1}, ' * 200_000,
        "x" * 2_000_000,
        "| " * 200_000,
    ],
    ids=["dashes", "heading", "initials", "minified", "letters", "table"],
)
def test_a_hostile_line_takes_no_more_than_its_length(line):
    """Quadratic work on any of these would take minutes."""
    for as_prose in (True, False):
        assert all(len(piece.text) <= MAX_PIECE for piece in pieces(line, prose=as_prose))
