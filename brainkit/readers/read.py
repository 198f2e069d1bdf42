"""Read one found file into Documents: decode, scrub, convert, scrub again, and fill in what the file says not."""

from __future__ import annotations

import os
import stat
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from brainkit.readers.convert import CONVERTED, drafts
from brainkit.readers.decode import decode
from brainkit.readers.draft import Draft
from brainkit.readers.formats import format_of, role_of
from brainkit.readers.model import Document, Link, Skipped, content_hash
from brainkit.readers.names import scrub_each, shown_path
from brainkit.readers.tabular import head_of, tabular

if TYPE_CHECKING:
    from pathlib import Path

    from brainkit.readers.model import Format, FoundFile, TextScrubber

MAX_TITLE_CHARS = 300
MAX_TITLE_SOURCE = 3_000
TITLED_BY_NAME = frozenset({"unit", "dockerfile"})
"""Their endings tell them apart: ``backup.service`` and ``backup.timer``, ``Dockerfile.dev``."""


def read_all(found: FoundFile, *, scrubber: TextScrubber) -> list[Document] | Skipped:
    """The documents in a file (one, but for transcripts), or Skipped with the reason; a bad file never raises.

    Nothing raw leaves this function: the text is scrubbed before anything is derived from it, and what is derived is
    scrubbed in its own right, since the escapes of YAML, JSON or HTML or a folder's name may spell a secret out.
    """
    counts: Counter[str] = Counter()
    path = shown_path(found.path, scrubber, counts)
    try:
        data = _bytes_of(found.absolute)
    except OSError as error:
        return Skipped(path, f"cannot be read: {error.strerror}")
    decoded = decode(data)
    if decoded is None:
        return Skipped(path, "binary: not text in any encoding known here")
    if not decoded.text.strip():
        return Skipped(path, "empty")
    root = shown_path(found.absolute.parents[len(found.path.parts) - 1], scrubber)
    kind = format_of(found.path.name)
    file = _File(found, path, f"{root}/{path}", kind, decoded.notes, scrubber)
    made = _drafts(decoded.text, file, counts)
    documents: list[Document] = []
    for draft in made:
        tally = counts if draft is made[0] else Counter[str]()
        documents.append(_document(draft, file, tally, {document.path for document in documents}))
    return documents


class _File(NamedTuple):
    """What all documents of a file share."""

    found: FoundFile
    path: str
    full_path: str
    kind: Format
    notes: tuple[str, ...]
    scrubber: TextScrubber


def _scrubbed(text: str, scrubber: TextScrubber, counts: Counter[str]) -> str:
    result = scrubber.scrub(text)
    counts.update(finding.kind for finding in result.findings)
    return result.text


def _drafts(text: str, file: _File, counts: Counter[str]) -> list[Draft]:
    def clean(part: str) -> str:
        return _scrubbed(part, file.scrubber, counts)

    if file.kind == "csv":  # only its head is shown, so that no more has to be scrubbed
        tally: Counter[str] = Counter()
        ending = "tsv" if file.found.path.suffix.lower() == ".tsv" else ""
        draft = tabular(_scrubbed(head_of(text), file.scrubber, tally), text, ending, clean)
        if draft is not None:
            counts.update(tally)
            return [draft]
        return [Draft(clean(text), "text", note="no table: kept as text")]
    return drafts(clean(text), file.kind, text, clean)


def _document(draft: Draft, file: _File, counts: Counter[str], taken: set[str]) -> Document:
    scrubber = file.scrubber
    again = draft.format in CONVERTED or draft.format == "csv"
    content = _scrubbed(draft.content, scrubber, counts) if again else draft.content
    named = PurePosixPath(file.path)
    title = (draft.title or (named.name if draft.format in TITLED_BY_NAME else named.stem))[:MAX_TITLE_SOURCE]
    if "\n" in title:  # scrubbed while it has its lines, which may tell what a word is
        title = scrub_each([title], scrubber)[0]
    project = draft.project or file.found.project
    links = draft.edges
    about = [" ".join(title.split()), draft.part, draft.ref, project, *draft.tags, *draft.aliases]
    values = iter(scrub_each([*about, *chain.from_iterable(link[:3] for link in links)], scrubber))
    title, part, ref, project = (next(values) for _ in range(4))
    title = title[:MAX_TITLE_CHARS]  # only now: of a secret that is cut off the rest is not recognised
    tags, aliases = ([next(values) for _ in names] for names in (draft.tags, draft.aliases))
    edges = dict.fromkeys(Link(next(values), next(values), next(values), link.kind) for link in links)
    suffix = _free(part, {path[len(file.path) :] for path in taken})
    return Document(
        path=file.path + suffix,
        full_path=file.full_path + suffix,  # what is redacted in the path is redacted here
        title=title,
        content=content,
        content_hash=content_hash(content, scrubber),
        format=draft.format,
        tags=tuple(dict.fromkeys(tags)),
        ts=draft.ts or _mtime(file.found.mtime_ns),
        links=tuple(dict.fromkeys(edge.target for edge in edges)),
        redactions=MappingProxyType(dict(sorted(counts.items()))),
        scrub_version=scrubber.version,
        note="; ".join(note for note in (*file.notes, draft.note) if note),
        project=project,
        ref=ref,
        role=_role(draft, file),
        aliases=tuple(dict.fromkeys(aliases)),
        language=draft.language,
        edges=tuple(edges),
    )


def _role(draft: Draft, file: _File) -> str:
    if file.kind == "transcript" and draft.format == "text":
        return "data"
    return role_of(file.found.path.name, file.kind)


def _free(part: str, taken: set[str]) -> str:
    """``#part``, with a number behind it where another document of the file has that already; '' for no part."""
    suffix, number = f"#{part}" if part else "", 1
    while suffix in taken:
        number += 1
        suffix = f"#{part}~{number}"
    return suffix


def _bytes_of(path: Path) -> bytes:
    """Opened without blocking: what was a file when it was found may be a pipe by now."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:  # noqa: PTH123 - a descriptor has no Path
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(None, "not a regular file")
        return file.read()


def _mtime(nanoseconds: int) -> datetime | None:
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return None
