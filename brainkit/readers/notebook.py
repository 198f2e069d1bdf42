"""Jupyter notebooks as Markdown: the text cells as they are, code as fences, outputs shortened."""

from __future__ import annotations

import json
import re
from typing import Any

from brainkit.readers.draft import Draft, fenced, sized
from brainkit.readers.markdown import closing

MAX_OUTPUT_CHARS = 600
MAX_OUTPUT_LINES = 12
COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def notebook(text: str) -> Draft | None:
    """The notebook as a Draft, or None when it is none (version 3 and 4 of nbformat are read).

    Text outputs of up to 600 characters in 12 lines are kept; of longer ones and of images the size or kind is said.
    """
    try:
        book = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(book, dict):
        return None
    sheets = book.get("worksheets")
    first = sheets[0] if isinstance(sheets, list) and sheets and isinstance(sheets[0], dict) else {}
    cells = book.get("cells", first.get("cells"))
    if not isinstance(cells, list):
        return None
    language = _language(book.get("metadata"))
    parts = [part for cell in cells if isinstance(cell, dict) for part in _cell(cell, language)]
    content = "\n\n".join(part for part in parts if part.strip())
    return Draft(content + "\n", "ipynb") if content else None


def _language(metadata: object) -> str:
    for key, name in (("kernelspec", "language"), ("language_info", "name")):
        about = metadata.get(key) if isinstance(metadata, dict) else None
        value = about.get(name) if isinstance(about, dict) else None
        if isinstance(value, str) and value.replace("+", "").replace("#", "").isalnum():
            return value.lower()
    return "python"


def _cell(cell: dict[str, Any], language: str) -> list[str]:
    source = _joined(cell.get("source", cell.get("input"))).strip("\n")
    kind = cell.get("cell_type")
    if kind == "code":
        outputs = cell.get("outputs")
        shown = [_output(output) for output in outputs if isinstance(output, dict)] if isinstance(outputs, list) else []
        return ([fenced(source, language)] if source.strip() else []) + shown
    if kind == "heading":
        level = cell.get("level")
        return ["#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + " ".join(source.split())]
    if kind == "raw":
        return [fenced(source)] if source.strip() else []
    end = closing(source)  # what a cell leaves open must not swallow the next one
    return [f"{source}\n{end}" if end else source]


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", output)
    text = _joined(output.get("text"))
    if output.get("output_type") in {"error", "pyerr"}:
        text = f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}"
    elif not text and isinstance(data, dict):
        text = _joined(data.get("text/plain"))
        images = [kind for kind in data if isinstance(kind, str) and kind.startswith("image/")]
        if images:
            return f"[output: {images[0]}]"
    text = COLOURS.sub("", text).strip("\n")
    if not text.strip():
        return ""
    if len(text) <= MAX_OUTPUT_CHARS and text.count("\n") < MAX_OUTPUT_LINES:
        return fenced(text, "text")
    return f"[output: {sized(text)}]"


def _joined(value: object) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""
