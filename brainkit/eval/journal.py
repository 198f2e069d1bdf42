"""The folder of a run while it runs: each question's results as soon as they are there, so that nothing is asked twice.

``results.jsonl`` grows by one flushed line a question; a run that was killed leaves it with ``manifest.json``, and
``resume`` goes on there if labels, notes, model and settings are the same.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from brainkit.errors import UsageError
from brainkit.eval.asking import Asked

MANIFEST: Final = "manifest.json"
RESULTS: Final = "results.jsonl"
ASKED: Final = "asked.jsonl"
"""What ``results.jsonl`` was while it grew, beside the report of an interrupted run."""


class Journal:
    """Keeps what was asked below ``out``.

    Args:
        out: folder of all runs.
        resume: go on with the newest run that was not finished, if it was the same.

    Attributes:
        folder: of this run, once it has begun.
        resumed: questions that need not be asked again.
    """

    def __init__(self, out: Path, *, resume: bool = False) -> None:
        self._out, self._resume = out, resume
        self._manifest: dict[str, Any] = {}
        self.folder: Path | None = None
        self.resumed = 0

    def begin(self, manifest: Mapping[str, Any]) -> dict[str, Asked]:
        """Make the folder, or find the one to go on in; returns what was asked there, by label id.

        Raises:
            UsageError: nothing can be written there.
        """
        self._manifest = {**manifest, "state": "running"}
        found: dict[str, Asked] = {}
        try:
            folder = self._unfinished() if self._resume else None
            if folder is not None:
                self.folder, found = folder, _read(folder / RESULTS)
                lines = [json.dumps(one.to_dict(), ensure_ascii=False) + "\n" for one in found.values()]
                write(folder / RESULTS, "".join(lines))  # without the half line of a kill
                (folder / ASKED).unlink(missing_ok=True)
            else:
                self.folder = new_folder(self._out)
                (self.folder / RESULTS).touch()
            self._save()
        except OSError as error:
            raise UsageError(f"the report cannot be written below {self._out}: {error}") from error
        self.resumed = len(found)
        return found

    def add(self, asked: Asked) -> None:
        """Keep what a question gave."""
        if self.folder is not None:
            with (self.folder / RESULTS).open("a", encoding="utf-8") as file:
                file.write(json.dumps(asked.to_dict(), ensure_ascii=False) + "\n")

    def end(self, *, complete: bool) -> None:
        """Say how the run ended; what an interrupted one asked makes room for the report."""
        self._manifest["state"] = "complete" if complete else "interrupted"
        if self.folder is not None and not complete:
            (self.folder / RESULTS).replace(self.folder / ASKED)
        self._save()

    def _save(self) -> None:
        if self.folder is not None:
            write(self.folder / MANIFEST, json.dumps(self._manifest, indent=2, ensure_ascii=False) + "\n")

    def _unfinished(self) -> Path | None:
        """The newest folder of a run that was the same and did not end."""
        folders = [path for path in self._out.iterdir() if not path.is_symlink()] if self._out.is_dir() else []
        for folder in sorted(folders, key=lambda path: path.name, reverse=True):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
                if manifest.get("state") != "complete" and manifest.get("key") == self._manifest["key"]:
                    return folder
        return None


def _read(file: Path) -> dict[str, Asked]:
    """What was asked, without lines that were not finished; of an interrupted run's report, the lines beside it."""
    found = {}
    kept = file.with_name(ASKED)
    for line in (kept if kept.exists() else file).read_bytes().split(b"\n"):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            one = Asked.from_dict(json.loads(line))
            found[one.label] = one
    return found


def new_folder(out: Path) -> Path:
    """A new folder named after the time."""
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    number = 0
    while True:
        folder = out / (stamp + (f"-{number}" if number else ""))
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if not out.is_dir():
                raise
            number += 1
        else:
            return folder


def write(file: Path, text: str) -> None:
    """Write a file all or nothing."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    part.write_text(text, "utf-8")
    part.replace(file)
