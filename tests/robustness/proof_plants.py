"""Where people leave their secrets: cases put into files of every format, and the forms a value may survive in."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

SHORTEST = 8
"""Values of fewer characters, or that stand in the text beside them anyway, are counted in their own document."""
MARKER = re.compile(r"\[REDACTED[^\]\n]*\]")
_FIRST_BYTES = 8
_HASH_BITS = 24
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Case(NamedTuple):
    """A text with a secret in it."""

    id: str
    text: str
    secret: str


def load_cases(file: Path) -> list[Case]:
    """The cases of a file of JSON lines that hold id, text and secret."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [Case(row["id"], row["text"], row["secret"]) for row in rows]


def corpus_cases(planted: Path, corpus: Path) -> list[Case]:
    """A case for each secret of a list of ``{"doc", "secret"}``: its text is the whole document."""
    rows = [json.loads(line) for line in planted.read_text("utf-8").splitlines()]
    return [
        Case(f"p{number:04}", (corpus / row["doc"]).read_text("utf-8"), row["secret"])
        for number, row in enumerate(rows)
    ]


# How a value may look


def values(case: Case) -> list[str]:
    """What must not be found: the secret's lines, and both halves of the long ones, since a half is a leak too."""
    lines = [line.strip() for line in case.secret.splitlines()]
    lines = [line for line in lines if len(line) > 3 and not line.startswith("-----")]
    halves = [half for line in lines if len(line) >= 24 for half in (line[: len(line) // 2], line[len(line) // 2 :])]
    return list(dict.fromkeys([*lines, *halves]))


def forms(value: str) -> list[bytes]:
    """The value as it stands and as it is written in addresses, JSON, HTML and base64; in lower case, as words are."""
    texts = {value, quote(value, safe=""), html.escape(value), json.dumps(value)[1:-1]}
    texts.add(json.dumps(value, ensure_ascii=False)[1:-1])
    texts.add(json.dumps(json.dumps(value)[1:-1])[1:-1])
    texts.update(_base64(value.encode()))
    return [text.lower().encode() for text in sorted(texts) if len(text.encode()) >= _FIRST_BYTES]


def _base64(value: bytes) -> list[str]:
    """The characters that are the same wherever the value begins in what is encoded."""
    found = []
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + value).decode()
        found.append(whole[-(-before * 8 // 6) : (before + len(value)) * 8 // 6])
    return found


class Search:
    """Finds any of many values in much data at once; upper and lower case are the same."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self._names: dict[bytes, str] = {form: value for value in wanted for form in forms(value)}
        self._by_start: dict[bytes, list[bytes]] = {}
        for form in self._names:
            self._by_start.setdefault(form[:_FIRST_BYTES], []).append(form)
        self._table = np.zeros(1 << _HASH_BITS, bool)
        starts = np.frombuffer(b"".join(self._by_start), "<u8")
        self._table[self._hashes(starts)] = True

    @staticmethod
    def _hashes(words: np.ndarray) -> np.ndarray:
        return (words * _SPREAD) >> np.uint64(64 - _HASH_BITS)

    def __call__(self, data: bytes | str) -> set[str]:
        """The values that the data hold, in any of their forms."""
        data = (data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data).lower()
        found = set()
        for shift in range(_FIRST_BYTES):
            count = (len(data) - shift) // _FIRST_BYTES
            if count <= 0:
                break
            words = np.frombuffer(data, "<u8", count, shift)
            for index in np.flatnonzero(self._table[self._hashes(words)]).tolist():
                at = index * _FIRST_BYTES + shift
                for form in self._by_start.get(data[at : at + _FIRST_BYTES], ()):
                    if data.startswith(form, at):
                        found.add(self._names[form])
        return found


# How people write


def _fenced(text: str, language: str = "") -> str:
    marks = "~~~~" if "```" in text else "```"
    return f"{marks}{language}\n{text.rstrip(chr(10))}\n{marks}\n"


def _commented(text: str, sign: str) -> str:
    return "".join(f"{sign} {line}".rstrip() + "\n" for line in text.splitlines())


def _indented(text: str, blanks: int) -> str:
    return textwrap.indent(text.rstrip("\n"), " " * blanks) + "\n"


def _one_line(text: str) -> bool:
    return "\n" not in text.strip()


def _markdown(text: str) -> str:
    return f"# Setting up the new host\n\nThis is what I ran:\n\n{_fenced(text)}\nIt worked.\n"


def _prose(text: str) -> str:
    return f"# Moving house\n\nWhat has to be kept:\n\n{text.strip()}\n\nThe rest is done.\n"


def _bullets(text: str) -> str:
    return f"# Logins\n\n- {_indented(text, 2).lstrip()}- milk\n"


def _front_matter(text: str) -> str:
    return f"---\ntitle: The new host\nsetup: |\n{_indented(text, 2)}tags: [host]\n---\n# Host\n\nIt is up.\n"


def _plain(text: str) -> str:
    return f"Notes of the evening\n\n{text.strip()}\n\nTomorrow the garden.\n"


def _yaml_block(text: str) -> str:
    return f"host: attic\nsetup:\n  steps: |\n{_indented(text, 4)}  done: true\n"


def _yaml_string(text: str) -> str:
    return f"host: attic\nsetup:\n  - {json.dumps(text, ensure_ascii=False)}\n  - reboot\n"


def _json(text: str) -> str:
    return json.dumps({"host": "attic", "steps": [{"run": text, "done": True}]}, indent=2)


def _python_comment(text: str) -> str:
    return f'"""Sets the host up."""\n\n{_commented(text, "#")}\n\ndef set_up():\n    return 1\n'


def _python_docstring(text: str) -> str:
    body = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'def set_up():\n    """Set the host up.\n\n{_indented(body, 4)}    """\n    return 1\n'


def _python_string(text: str) -> str:
    return f"import sys\n\nSETUP = {text!r}\nsys.stdout.write(SETUP)\n"


def _notebook(*cells: dict[str, object]) -> str:
    metadata = {"kernelspec": {"language": "python", "name": "python3"}}
    return json.dumps({"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _lines(text: str) -> list[str]:
    return text.strip("\n").splitlines(keepends=True)


def _notebook_code(text: str) -> str:
    code = {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": _lines(text), "outputs": []}
    return _notebook({"cell_type": "markdown", "metadata": {}, "source": ["# Host\n"]}, code)


def _notebook_note(text: str) -> str:
    return _notebook({"cell_type": "markdown", "metadata": {}, "source": _lines(_prose(text))})


def _notebook_output(text: str) -> str:
    output = {"output_type": "stream", "name": "stdout", "text": _lines(text)}
    code = {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": ["show()"], "outputs": [output]}
    return _notebook(code)


def _toml(text: str) -> str:
    return f"host = 'attic'\n\n[setup]\nsteps = {json.dumps(text, ensure_ascii=False)}\ndone = true\n"


def _toml_block(text: str) -> str:
    quotes = "'''" if "'''" not in text else '"""'
    return f"host = 'attic'\n\n[setup]\nsteps = {quotes}\n{text.rstrip(chr(10))}\n{quotes}\n"


def _ini_comment(text: str) -> str:
    return f"[host]\nname = attic\n{_commented(text, ';')}port = 8971\n"


def _conf(text: str) -> str:
    return f"# host attic\nport 8971\n{text.strip()}\nlisten 127.0.0.1\n"


def _ini_value(text: str) -> str:
    return f"[host]\nname = attic\nsetup =\n{_indented(text, 4)}port = 8971\n"


def _unit(text: str) -> str:
    run = f"ExecStart=/bin/sh -c {json.dumps(text.strip(), ensure_ascii=False)}\n" if _one_line(text) else ""
    return f"[Unit]\nDescription=Host\n\n[Service]\n{run or _commented(text, '#')}Restart=always\n"


def _dockerfile(text: str) -> str:
    copy = f"COPY <<'EOF' /etc/host.conf\n{text.rstrip(chr(10))}\nEOF\n"
    return f"FROM debian:13\nRUN apt-get update\n{copy}USER app\n"


def _terraform(text: str) -> str:
    data = f"  user_data = <<-EOT\n{_indented(text, 4)}  EOT\n"
    return f'resource "host" "attic" {{\n  name = "attic"\n{data}}}\n'


def _page(body: str) -> str:
    return f"<!doctype html><html><head><title>Host</title></head><body><h1>Host</h1>{body}</body></html>\n"


def _html_pre(text: str) -> str:
    return _page(f"<p>This is what I ran:</p><pre><code>{html.escape(text)}</code></pre><p>It worked.</p>")


def _html_prose(text: str) -> str:
    lines = [html.escape(line) for line in text.strip().splitlines()]
    return _page(f"<p>Keep this: {'<br/>'.join(lines)}</p>")


def _html_cell(text: str) -> str:
    cells = f"<tr><td>1</td><td>{html.escape(text.strip())}</td></tr><tr><td>2</td><td>milk</td></tr>"
    return _page(f"<table><tr><th>no</th><th>entry</th></tr>{cells}</table>")


def _rst(text: str) -> str:
    return f"Host\n====\n\nThis is what I ran::\n\n{_indented(text, 3)}\nIt worked.\n"


def _org(text: str) -> str:
    return f"#+TITLE: Host\n\n* Setup\n\n#+BEGIN_SRC sh\n{text.rstrip(chr(10))}\n#+END_SRC\n"


def _csv(text: str) -> str:
    table = io.StringIO()
    csv.writer(table).writerows([["no", "entry", "done"], ["1", text, "yes"], ["2", "water the plants", "no"]])
    return table.getvalue()


def _transcript(*entries: Mapping[str, object]) -> str:
    head = {"sessionId": "a1", "timestamp": "2026-01-02T03:04:05Z", "cwd": "/home/ina/attic"}
    return "".join(json.dumps({**head, **entry}, ensure_ascii=False) + "\n" for entry in entries)


def _said(role: str, content: object) -> dict[str, object]:
    return {"type": role, "message": {"role": role, "content": content}}


def _transcript_turn(text: str) -> str:
    return _transcript(_said("user", text), _said("assistant", [{"type": "text", "text": "I have set the host up."}]))


def _transcript_call(text: str) -> str:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": text}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    return _transcript(_said("user", "Set the host up."), _said("assistant", [call]), _said("user", [result]))


def _chat(text: str) -> str:
    messages = [{"role": "user", "content": "How did I do it?"}, {"role": "assistant", "content": f"Like this: {text}"}]
    return json.dumps({"messages": messages}) + "\n"


def _tagged(text: str) -> str:
    title = text.strip() if _one_line(text) else "The new host"  # nobody calls a note by several lines
    title, tags = (json.dumps(value, ensure_ascii=False) for value in (title, [text.strip(), "host"]))
    return f"---\ntitle: {title}\naliases: {tags}\n---\nIt is up.\n"


FORMATS: dict[str, tuple[str, Callable[[str], str]]] = {
    "markdown fence": ("md", _markdown),
    "markdown prose": ("md", _prose),
    "markdown list": ("md", _bullets),
    "front matter": ("md", _front_matter),
    "title and aliases": ("md", _tagged),
    "text": ("txt", _plain),
    "yaml block": ("yaml", _yaml_block),
    "yaml string": ("yml", _yaml_string),
    "json": ("json", _json),
    "python comment": ("py", _python_comment),
    "python docstring": ("py", _python_docstring),
    "python string": ("py", _python_string),
    "notebook code": ("ipynb", _notebook_code),
    "notebook note": ("ipynb", _notebook_note),
    "notebook output": ("ipynb", _notebook_output),
    "toml string": ("toml", _toml),
    "toml block": ("toml", _toml_block),
    "ini comment": ("ini", _ini_comment),
    "ini value": ("ini", _ini_value),
    "conf": ("conf", _conf),
    "unit": ("service", _unit),
    "dockerfile": ("dockerfile", _dockerfile),
    "terraform": ("tf", _terraform),
    "html pre": ("html", _html_pre),
    "html prose": ("html", _html_prose),
    "html cell": ("html", _html_cell),
    "rst": ("rst", _rst),
    "org": ("org", _org),
    "csv": ("csv", _csv),
    "transcript turn": ("jsonl", _transcript_turn),
    "transcript call": ("jsonl", _transcript_call),
    "chat": ("jsonl", _chat),
}
"""For each format the ending of its file, and what writes a text into it."""
