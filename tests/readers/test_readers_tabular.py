"""Tables are summarised: columns, types, number of rows, the first of them."""

from __future__ import annotations

import pytest

from brainkit.readers.tabular import head_of, tabular


def summary(text, ending="csv"):
    draft = tabular(head_of(text), text, ending, str)
    return draft and draft.content


def test_a_table():
    text = "host;ip;cores;since\neule;10.0.0.2;4;2024-01-31\n\nfuchs;10.0.0.3;8;\n"
    assert summary(text) == (
        "2 rows and 4 columns, separated by semicolons.\n\n"
        "## Columns\n\n- host: text\n- ip: text\n- cores: integer\n- since: date\n\n"
        "## Rows\n\n| host | ip | cores | since |\n| --- | --- | --- | --- |\n"
        "| eule | 10.0.0.2 | 4 | 2024-01-31 |\n| fuchs | 10.0.0.3 | 8 |  |\n"
    )


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2", ""], "integer"), (["1", "2.5", "3e4"], "number"), (["yes", "no"], "boolean"),
        (["2024-01-31", "31.1.2024"], "date"), (["2024-01-31T10:00:00Z"], "date"), (["1", "x"], "text"),
        (["", " "], "empty"),
    ],
)  # fmt: skip
def test_types(cells, kind):
    lines = "".join(f"a,{cell}\n" for cell in cells)
    assert f"- value: {kind}\n" in summary(f"name,value\n{lines}")


def test_only_the_first_twenty_rows_are_shown_and_all_are_counted():
    text = "n\tsquare\n" + "".join(f"{n}\t{n * n}\n" for n in range(1, 30_001))
    content = summary(text, "tsv")
    assert content.startswith("30,000 rows and 2 columns, separated by tabs.")
    assert content.endswith("## First 20 rows\n\n| n | square |\n| --- | --- |\n" + "".join(
        f"| {n} | {n * n} |\n" for n in range(1, 21)
    ))  # fmt: skip


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("name\nowl\nfox\n", "2 rows and 1 column.\n\n## Columns\n\n- name: text\n"),
        ("1,2\n3,4\n", "2 rows and 2 columns, separated by commas.\n\n## Columns\n\n- column 1: integer\n"),
        (
            "a,b\n1,2,3\n",
            "1 row and 3 columns, separated by commas.\n\n## Columns\n\n- a: integer\n- b: integer\n- column 3",
        ),
        ('a,b\n"x\ny",2\n', "1 row and 2 columns"),
        ("a,b\n", "0 rows and 2 columns"),
        ('a,b\n1,"open\n' + "x,y\n" * 9, "1 row and 2 columns"),
    ],
)
def test_odd_tables(text, starts):
    assert summary(text).startswith(starts)


def test_a_cell_keeps_to_its_place():
    assert "| a\\|b c | " + "x" * 199 + "… |\n" in summary(f'h,i\n"a|b\nc",{"x" * 999}\n')


@pytest.mark.parametrize(
    "text", ["x" * 5_000_000, "a,b\n1," + "x" * 200_000 + "\n", '"' + "a,\n" * 100_000, "\n\n", ""]
)
def test_what_is_no_table_is_none(text):
    assert summary(text) is None


def test_a_wide_table_is_cut():
    assert "and 200 columns" in summary(",".join(f"c{n}" for n in range(5000)) + "\n" + ",".join("1" * 5000) + "\n")
