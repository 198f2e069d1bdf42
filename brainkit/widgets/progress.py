"""How far long work in a notebook has come: one line that changes, and stays at its end."""

from __future__ import annotations

import time
from typing import Any

from IPython.display import display

from brainkit.cli.screen import LABELS

EVERY_SECONDS = 0.2


class NotebookProgress:
    """Called with (what, done, total), as the brain's ``progress`` is; one line for each kind of work."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[Any, float]] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        """Say that ``done`` of ``total`` are done."""
        line = {"text/plain": f"{LABELS.get(what, what)}: {done} of {total}"}
        now = time.monotonic()
        if what not in self._lines:
            handle = display(line, raw=True, display_id=True)  # type: ignore[no-untyped-call]
            self._lines[what] = (handle, now)
        elif done == total or now - self._lines[what][1] > EVERY_SECONDS:
            handle = self._lines[what][0]
            self._lines[what] = (handle, now)
            if handle is not None:  # no notebook around
                handle.update(line, raw=True)
