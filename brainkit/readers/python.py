"""Python source as a syntax tree, or None when it cannot be parsed."""

from __future__ import annotations

import ast
import warnings

MAX_CHARS = 2_000_000
"""A syntax tree takes some hundred bytes per character of source; longer sources are read as text."""


def parse_python(source: str) -> ast.Module | None:
    """The syntax tree; None for what is not Python, nested beyond the parser's limits, or too long."""
    if len(source) > MAX_CHARS:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in a stranger's source are not our caller's concern
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
