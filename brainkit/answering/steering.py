"""The owner's own words to the model, kept as ``steering.md`` in the brain's home and added to every prompt."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

CUT: Final = "[... cut: longer than BOR_STEERING_MAX_CHARS]"


class Steering:
    """Reads and writes the steering text.

    Args:
        home: folder of the brain.
        most: characters of it that go into a prompt.
        scrub: takes secrets out of a text.
    """

    def __init__(self, home: Path, most: int, scrub: Callable[[str], str]) -> None:
        self.file = home / "steering.md"
        self.most = most
        self._scrub = scrub

    def read(self) -> str:
        """The whole text as it was written, "" if there is none."""
        try:
            return self.file.read_text("utf-8", errors="replace").strip()
        except FileNotFoundError:
            return ""

    def for_prompt(self) -> str:
        """The text as a prompt holds it: at most ``most`` characters, and a mark where it was cut."""
        text = self.read()
        return text if len(text) <= self.most else f"{text[: self.most].rstrip()}\n{CUT}"

    def write(self, text: str) -> None:
        """Replace the text, without its secrets and for the owner's eyes only; an empty one removes it."""
        text = self._scrub(text).strip()
        if not text:
            self.file.unlink(missing_ok=True)
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.file.parent, prefix=".steering-")  # 0600 from the start
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text + "\n")
            Path(name).replace(self.file)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(name).unlink()
            raise
