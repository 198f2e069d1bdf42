"""What a brain was told to remember: a Markdown file each, below its home; an agent's waits until a person confirms it.

The files of ``memory`` are notes like any other, imported as a source of their own. They can be read, edited and
backed up with any program.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from brainkit.errors import UsageError

State = Literal["kept", "proposed", "rejected"]
ORIGINS: Final = ("user", "agent", "web")
MOST_CHARS: Final = 20_000
"""Of one text; longer ones are files to be imported."""
_FOLDERS: Final[dict[State, str]] = {"kept": "memory", "proposed": "memory-proposed", "rejected": "memory-rejected"}
_SHORT: Final = 200
"""Characters of a tag, a session or an agent."""


@dataclass(frozen=True)
class Engram:
    """Something to be remembered, without secrets.

    Attributes:
        id: twelve hexadecimal digits of its text's hash: the same text is remembered once.
        text: Markdown.
        source: who said it: user, agent or web.
        state: kept (found by ``recall``), proposed (waits for a person) or rejected.
        tags: as given.
        session_id: of the conversation it came from ("" if none).
        agent_id: of the agent that proposed it ("" if none).
        created: when, UTC.
        path: of its file, below the brain's home.
    """

    id: str
    text: str
    source: str
    state: State
    tags: tuple[str, ...]
    session_id: str
    agent_id: str
    created: datetime
    path: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        return {**vars(self), "tags": list(self.tags), "created": self.created.isoformat()}


class Memory:
    """The files below a brain's home.

    Args:
        home: of the brain.
        scrub: takes secrets out of a text.
    """

    def __init__(self, home: Path, scrub: Callable[[str], str]) -> None:
        self._home = home
        self._scrub = scrub

    @property
    def folder(self) -> Path:
        """Where what is kept lies."""
        return self._home / _FOLDERS["kept"]

    def add(
        self, text: str, source: str, tags: tuple[str, ...] = (), session_id: str = "", agent_id: str = ""
    ) -> Engram:
        """Write a text down: an agent's as a proposal, anybody else's to keep; on disk when this returns.

        Returns:
            The engram; the one that is there already if the same text is, kept, proposed or rejected.

        Raises:
            UsageError: the text is empty or too long, there is no such source, or the home cannot be written.
        """
        if source not in ORIGINS:
            raise UsageError(f"source {source!r} is not allowed: give {', '.join(ORIGINS)}")
        clean = self._scrub(_storable(text)).strip()
        if not clean:
            raise UsageError("there is nothing to remember: the text is empty")
        if len(clean) > MOST_CHARS:
            raise UsageError(f"{len(clean):,} characters are more than {MOST_CHARS:,}: import it as a file")
        key = hashlib.sha256(" ".join(clean.split()).casefold().encode()).hexdigest()[:12]
        known = self.find(key)
        if known is not None and (known.state != "proposed" or source == "agent"):
            return known
        engram = Engram(
            key, clean, source, "proposed" if source == "agent" else "kept",
            tuple(filter(None, map(self._short, tags))), self._short(session_id), self._short(agent_id),
            datetime.now(UTC).replace(microsecond=0), "",
        )  # fmt: skip
        name = f"{engram.created:%Y-%m-%d}-{_slug(clean)}{key}.md"
        self._write(self._home / _FOLDERS[engram.state] / name, engram)
        if known is not None:  # a person says what an agent had proposed
            (self._home / known.path).unlink(missing_ok=True)
        found = self.find(key)
        assert found is not None
        return found

    def settle(self, key: str, state: State) -> Engram:
        """Keep or reject what was proposed.

        Raises:
            UsageError: there is no such proposal.
        """
        found = self.find(key)
        if found is None or found.state != "proposed":
            raise UsageError(f"no proposal {key!r} waits: `brainkit review` lists those that do")
        old, new = self._home / found.path, self._home / _FOLDERS[state] / Path(found.path).name
        new.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            old.replace(new)
        except FileNotFoundError:  # somebody else was faster
            raise UsageError(f"no proposal {key!r} waits: `brainkit review` lists those that do") from None
        _settled(new.parent)
        return self._read(new, state)

    def find(self, key: str) -> Engram | None:
        """The engram of an id, in whatever state."""
        return next((one for one in self.all() if one.id == key), None)

    def all(self, state: State | None = None) -> Iterator[Engram]:
        """All engrams, or those in one state, oldest first within a state; files that are none are left out."""
        for name, folder in _FOLDERS.items():
            if state in (None, name):
                for file in sorted((self._home / folder).glob("*.md")):
                    with suppress(OSError, UsageError):
                        yield self._read(file, name)

    def scrub_again(self) -> int:
        """Apply today's rules to every file; returns how many changed."""
        changed = 0
        for engram in self.all():
            clean = self._scrub(engram.text)
            if clean != engram.text:
                self._write(self._home / engram.path, replace(engram, text=clean))
                changed += 1
        return changed

    # Inside

    def _short(self, text: str) -> str:
        return " ".join(self._scrub(_storable(text)).split())[:_SHORT]

    def _write(self, file: Path, engram: Engram) -> None:
        first = " ".join(re.sub(r"^[#\s>*-]+", "", engram.text).partition("\n")[0].split())
        head = {
            "title": first if len(first) <= 80 else first[:79].rstrip() + "…",
            "source": engram.source,
            "created": engram.created.isoformat(),
            "tags": list(engram.tags),
            "session": engram.session_id,
            "agent": engram.agent_id,
        }
        text = f"---\n{yaml.safe_dump(head, allow_unicode=True, sort_keys=False, width=10_000)}---\n\n{engram.text}\n"
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=file.parent, suffix=".unfinished")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as out:
                    out.write(text)
                    out.flush()
                    os.fsync(out.fileno())
                Path(name).replace(file)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            _settled(file.parent)
        except OSError as error:
            raise UsageError(f"{file} cannot be written: {error.strerror}") from error

    def _read(self, file: Path, state: State) -> Engram:
        """An engram from its file, which a person may have edited.

        Raises:
            UsageError: it is none.
        """
        _, _, rest = file.read_text("utf-8", "replace").partition("---\n")
        head, mark, text = rest.partition("\n---\n")
        try:
            fields = yaml.safe_load(head)
            created = datetime.fromisoformat(str(fields["created"]))
        except (yaml.YAMLError, ValueError, TypeError, KeyError):
            fields, mark = {}, ""
        if not mark:
            raise UsageError(f"{file} is no remembered note")
        return Engram(
            file.stem[-12:],
            text.strip(),
            str(fields.get("source", "user")),
            state,
            tuple(map(str, fields.get("tags") or ())),
            str(fields.get("session") or ""),
            str(fields.get("agent") or ""),
            created,
            file.relative_to(self._home).as_posix(),
        )


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _slug(text: str) -> str:
    """The first words, for a file name: ``the-ups-battery-``; '' if there is none in Latin letters."""
    plain = unicodedata.normalize("NFKD", text.partition("\n")[0]).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    return "".join(f"{word[:20]}-" for word in words[:5])


def _settled(folder: Path) -> None:
    """Have the folder's entries on disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
