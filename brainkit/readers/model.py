"""What a reader hands on: a Document, a FoundFile still to be read, or a Skipped with its reason."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

Format = Literal[
    "markdown", "text", "yaml", "json", "python", "toml", "ini", "unit", "dockerfile", "terraform", "rst", "org", "csv",
    "html", "ipynb", "transcript",
]  # fmt: skip
"""How a text is chunked. What html, ipynb and transcript are converted to is Markdown; csv is a summary in Markdown."""


class Finding(Protocol):
    """One redaction; only its kind matters here."""

    @property
    def kind(self) -> str:
        """Such as ``password``."""


class Scrubbed(Protocol):
    """What a scrubber returns."""

    @property
    def text(self) -> str:
        """The text without its secrets."""

    @property
    def findings(self) -> Sequence[Finding]:
        """What was redacted."""


class TextScrubber(Protocol):
    """What the readers need of a scrubber; ``brainkit.scrub.Scrubber`` is one. It has to be weakly referenceable."""

    @property
    def version(self) -> str:
        """Changes whenever the same text may scrub to another result."""

    def scrub(self, text: str, /) -> Scrubbed:
        """The text without its secrets."""


class Link(NamedTuple):
    """A link of a note to another.

    Attributes:
        target: note or file it names, without the heading.
        heading: heading or block in the target, '' when the whole is meant.
        alias: text shown in its place, '' when none is given.
        kind: wikilink (``[[x]]``), markdown (``[text](x.md)``) or embed (``![[x]]``).
    """

    target: str
    heading: str
    alias: str
    kind: str


@dataclass(frozen=True)
class Document:
    """A file as brainkit keeps it: every text here is scrubbed and storable (no NUL, no lone surrogate).

    Attributes:
        path: relative to the imported root, with ``/``; what labels and citations name. The conversations of one file
            have ``#`` and the session behind it, a commit is ``.git-log/`` and the first 12 digits of its hash.
        full_path: where the file lay, for diagnosis.
        title: what it calls itself (front matter, ``<title>``, ``#+TITLE``, a commit's subject), else its first
            heading, else the file's stem.
        content: the whole text; lines end in LF.
        content_hash: hex sha256 of the content and the scrub version: equal means nothing to do.
        format: how it is chunked.
        tags: front-matter tags and inline ``#tags``, in order, each once, without ``#``.
        ts: the source's own time in UTC: front matter ``date``, ``created`` or ``updated``, the last turn, the commit;
            else the file's mtime.
        links: targets of wikilinks and relative markdown links, in order, each once.
        redactions: number of redactions in content and path, by kind.
        scrub_version: version of the rules that scrubbed it.
        note: what had to be said, such as "decoded as windows-1252"; empty when nothing.
        project: folder name of the Git repository it lies in, of a conversation that of where it was held; '' if none.
        ref: the full hash of the commit or the session it comes from; '' for a file.
        role: what it is: note, config, code, data, conversation or commit.
        aliases: other titles, from the front matter.
        language: english, german or simple where the front matter says it (``lang``); '' where it is to be found out.
        edges: its links with all they say, in order, each once.
    """

    path: str
    full_path: str
    title: str
    content: str
    content_hash: str
    format: Format
    tags: tuple[str, ...]
    ts: datetime | None
    links: tuple[str, ...]
    redactions: Mapping[str, int]
    scrub_version: str
    note: str
    project: str = ""
    ref: str = ""
    role: str = ""
    aliases: tuple[str, ...] = ()
    language: str = ""
    edges: tuple[Link, ...] = ()


def content_hash(content: str, scrubber: TextScrubber) -> str:
    """Hex sha256 of a document's text and the rules that scrubbed it: equal means nothing to do."""
    return hashlib.sha256(f"{content}\0{scrubber.version}".encode()).hexdigest()


@dataclass(frozen=True)
class Skipped:
    """A file or folder that is not imported: its scrubbed path and the reason in words."""

    path: str
    reason: str


@dataclass(frozen=True)
class FoundFile:
    """A file to be read.

    Attributes:
        path: relative to the root, raw (it may hold what cannot be stored; never show it).
        absolute: where to open it.
        size: bytes at the time of the scan.
        mtime_ns: modification time in nanoseconds since 1970 UTC.
        project: raw name of the folder of the nearest Git repository around it, '' when there is none.
    """

    path: Path
    absolute: Path
    size: int
    mtime_ns: int
    project: str = ""
