"""The browser's side of the widgets: JavaScript and CSS files, joined to the one text that a widget sends."""

from __future__ import annotations

from importlib import resources
from typing import Any


def front(*names: str) -> str:
    """The files of this package one after the other; no bundler, and nothing is fetched from anywhere."""
    here = resources.files("brainkit.widgets")
    return "\n".join(here.joinpath(name).read_text("utf-8") for name in names)


def mimebundle(
    bundle: tuple[dict[str, Any], dict[str, Any]] | None, plain: str
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """A widget's output with a text that says something where no kernel runs, and is the same at every run."""
    if bundle is None:
        return None
    data, metadata = bundle
    return {**data, "text/plain": plain}, metadata
