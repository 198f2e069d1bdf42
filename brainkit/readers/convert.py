"""A file's scrubbed text as Drafts: by its format converted, or kept with what it says about itself."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING

import yaml

from brainkit.readers import markdown
from brainkit.readers.draft import Draft
from brainkit.readers.frontmatter import FrontMatter, read_front_matter
from brainkit.readers.inner import scrub_inner
from brainkit.readers.notebook import notebook
from brainkit.readers.outlined import org, restructured
from brainkit.readers.python import parse_python
from brainkit.readers.transcript import transcript
from brainkit.readers.webpage import html_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainkit.readers.draft import Clean
    from brainkit.readers.model import Format

MAX_CHECKED_CHARS = 200_000
"""Longer YAML and TOML is not parsed just to say whether it can be."""
TEMPLATE = re.compile(r"\{\{|\{%")
INI_LINE = re.compile(r"^[ \t]*(?:\[[^\]\n]+\]|(?:export )?[\w.-]+[ \t]*[=:])", re.MULTILINE)
CONVERTED = frozenset({"html", "ipynb", "transcript"})
"""Formats whose text is made anew, so that it has to be scrubbed again."""


def drafts(text: str, kind: Format, raw: str, clean: Clean) -> list[Draft]:
    """The documents in the text of a file, at least one; what cannot be converted is text, with a note.

    Args:
        text: what it holds, scrubbed.
        kind: its format by its name.
        raw: what it holds; looked at only where scrubbing made JSON unreadable.
        clean: scrubs a text.
    """
    if kind == "transcript":
        return transcript(text, raw, clean) or [Draft(text, "text")]
    if kind == "ipynb":
        return [_notebook(text, raw, clean)]
    text = scrub_inner(text, clean)
    if kind == "html":
        return [_html(text, clean)]
    reader = _READERS.get(kind)
    return [reader(text) if reader else Draft(text, kind, note=_parse_note(text, kind))]


def _markdown(text: str) -> Draft:
    end = markdown.front_matter_end(text)
    about = read_front_matter(text[:end]) if end else FrontMatter()
    prose = markdown.prose(text)
    tags = tuple(dict.fromkeys(about.tags + markdown.tags(prose)))
    title = about.title or _first_heading(text)
    edges = markdown.edges(prose)
    return Draft(text, "markdown", title, tags, about.ts, about.note, about.aliases, about.language, edges)


def _notebook(text: str, raw: str, clean: Clean) -> Draft:
    draft = notebook(text)
    if draft is None and (made := notebook(raw)):
        draft = made._replace(content=clean(made.content))
    if draft is None:
        return Draft(text, "text", note="invalid notebook: kept as text")
    edges = markdown.edges(markdown.prose(draft.content))
    return draft._replace(title=_first_heading(draft.content), edges=edges)


def _html(text: str, clean: Clean) -> Draft:
    return html_page(text, clean) or Draft(text, "text", note="no text in its HTML: kept as it is")


def _toml(text: str) -> Draft:
    if len(text) <= MAX_CHECKED_CHARS and not _is_toml(text):
        return Draft(text, "text", note="invalid TOML: chunked as text")
    return Draft(text, "toml")


def _ini(text: str) -> Draft:
    return Draft(text, "ini" if INI_LINE.search(text) else "text")  # a .conf may be of any syntax


def _first_heading(text: str) -> str:
    return next((block.title for block in markdown.blocks(text) if block.level == 1 and block.title), "")


def _parse_note(text: str, kind: Format) -> str:
    if kind == "json":
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return "invalid JSON: chunked as text"
    if kind == "python" and parse_python(text) is None:
        return "not parsed as Python: chunked as text"
    if kind == "yaml" and len(text) <= MAX_CHECKED_CHARS and not TEMPLATE.search(text) and not _is_yaml(text):
        return "invalid YAML: chunked by its top-level lines"
    return ""


def _is_yaml(text: str) -> bool:
    """Whether it parses; only its events are looked at, so that no alias is ever expanded."""
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        for _ in yaml.parse(text, loader):
            pass
    except (yaml.YAMLError, RecursionError, ValueError):
        return False
    return True


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


_READERS: dict[Format, Callable[[str], Draft]] = {
    "markdown": _markdown, "rst": restructured, "org": org, "toml": _toml,
    "ini": _ini,
}  # fmt: skip
