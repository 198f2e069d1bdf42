"""Notebooks become Markdown."""

from __future__ import annotations

import json

import pytest

from brainkit.readers.notebook import notebook


def made(*cells, **metadata):
    return notebook(json.dumps({"cells": list(cells), "metadata": metadata, "nbformat": 4}))


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def stream(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def test_cells_in_order():
    book = made(
        {"cell_type": "markdown", "source": ["# Disks\n", "\n", "Some *words*.\n"]},
        code(["df -h\n", "ls"], stream(["a\n", "b\n"])),
        {"cell_type": "raw", "source": "raw"},
        {"cell_type": "unknown", "source": ""},
        kernelspec={"language": "Bash", "name": "bash"},
    )
    assert book.content == (
        "# Disks\n\nSome *words*.\n\n```bash\ndf -h\nls\n```\n\n```text\na\nb\n```\n\n```\nraw\n```\n"
    )


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({}, "python"), ({"language_info": {"name": "R"}}, "r"), ({"kernelspec": {"language": "c++"}}, "c++"),
        ({"kernelspec": {"language": "a b"}}, "python"), ({"kernelspec": [1]}, "python"),
    ],
)  # fmt: skip
def test_the_language_of_the_kernel(metadata, language):
    assert made(code("x"), **metadata).content == f"```{language}\nx\n```\n"


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (stream("x" * 600), "```text\n" + "x" * 600 + "\n```"),
        (stream("x" * 1201), "[output: 1,201 characters in 1 line]"),
        (stream("x\n" * 13), "[output: 25 characters in 13 lines]"),
        (stream("\x1b[31mred\x1b[0m\n"), "```text\nred\n```"),
        ({"output_type": "execute_result", "data": {"text/plain": ["4", "2"]}}, "```text\n42\n```"),
        (
            {"output_type": "display_data", "data": {"image/png": "QUJD" * 99, "text/plain": "<Figure>"}},
            "[output: image/png]",
        ),
        (
            {"output_type": "error", "ename": "KeyError", "evalue": "'a'", "traceback": ["long"]},
            "```text\nKeyError: 'a'\n```",
        ),
    ],
)
def test_outputs_are_short(output, shown):
    assert made(code("x", output)).content == f"```python\nx\n```\n\n{shown}\n"


def test_no_cell_swallows_the_next():
    book = made(
        {"cell_type": "markdown", "source": "```\nopen"}, {"cell_type": "markdown", "source": "# B"}, code("```")
    )
    assert book.content == "```\nopen\n```\n\n# B\n\n````python\n```\n````\n"


def test_version_3():
    old = {
        "worksheets": [
            {"cells": [{"cell_type": "heading", "level": 2, "source": "A"}, {"cell_type": "code", "input": "x"}]}
        ]
    }
    assert notebook(json.dumps(old)).content == "## A\n\n```python\nx\n```\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "{}",
        '{"cells": {}}',
        '{"cells": []}',
        '{"cells": [1, null, {}]}',
        '{"worksheets": [1]}',
        "[" * 99_999,
    ],
)
def test_what_is_no_notebook_is_none(text):
    assert notebook(text) is None


@pytest.mark.parametrize("broken", [{"outputs": 1}, {"outputs": [1, {"text": 5}, {"data": [1]}]}, {"source": {"a": 1}}])
def test_odd_cells_are_passed_over(broken):
    book = made({"cell_type": "code", "source": "y", **broken}, {"cell_type": "markdown", "source": "words"})
    assert book.content.endswith("words\n")
