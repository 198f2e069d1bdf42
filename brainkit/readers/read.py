"""Read one found file into a Document: decode, scrub, then look for title, tags, links and date."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from brainkit.readers import markdown
from brainkit.readers.decode import decode
from brainkit.readers.frontmatter import FrontMatter, read_front_matter
from brainkit.readers.model import Document, Skipped
from brainkit.readers.names import scrub_each, shown_path
from brainkit.readers.python import parse_python

if TYPE_CHECKING:
    from pathlib import Path

    from brainkit.readers.model import Format, FoundFile, TextScrubber

FORMATS: dict[str, Format] = {
    "md": "markdown", "markdown": "markdown", "yaml": "yaml", "yml": "yaml", "json": "json", "py": "python",
}  # fmt: skip
MAX_TITLE_CHARS = 300


def read(found: FoundFile, *, scrubber: TextScrubber) -> Document | Skipped:
    """The file as a Document, or Skipped with the reason; a bad file never raises.

    Nothing raw leaves this function: content is scrubbed before anything is derived from it, and path, title, tags and
    links are scrubbed in their own right, since YAML escapes or a folder's name may spell a secret out.
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
    root = found.absolute.parents[len(found.path.parts) - 1]
    result = scrubber.scrub(decoded.text)
    counts.update(finding.kind for finding in result.findings)
    content = result.text
    kind = FORMATS.get(found.path.suffix.lower().removeprefix("."), "text")
    about, links = _about_markdown(content) if kind == "markdown" else (FrontMatter(), ())
    title = about.title or PurePosixPath(path).stem
    values = scrub_each([" ".join(title.split())[:MAX_TITLE_CHARS], *about.tags, *links], scrubber)
    notes = [*decoded.notes, about.note, _parse_note(content, kind)]
    return Document(
        path=path,
        full_path=f"{shown_path(root, scrubber)}/{path}",  # what is redacted in the path is redacted here
        title=values[0],
        content=content,
        content_hash=hashlib.sha256(f"{content}\0{scrubber.version}".encode()).hexdigest(),
        format=kind,
        tags=tuple(dict.fromkeys(values[1 : 1 + len(about.tags)])),
        ts=about.ts or _mtime(found.mtime_ns),
        links=tuple(dict.fromkeys(values[1 + len(about.tags) :])),
        redactions=MappingProxyType(dict(sorted(counts.items()))),
        scrub_version=scrubber.version,
        note="; ".join(note for note in notes if note),
    )


def _bytes_of(path: Path) -> bytes:
    """Opened without blocking: what was a file when it was found may be a pipe by now."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:  # noqa: PTH123 - a descriptor has no Path
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(None, "not a regular file")
        return file.read()


def _about_markdown(content: str) -> tuple[FrontMatter, tuple[str, ...]]:
    end = markdown.front_matter_end(content)
    about = read_front_matter(content[:end]) if end else FrontMatter()
    if not about.title:
        first = next((b.title for b in markdown.blocks(content) if b.level == 1 and b.title), "")
        about = about._replace(title=first)
    prose = markdown.prose(content)
    return about._replace(tags=tuple(dict.fromkeys(about.tags + markdown.tags(prose)))), markdown.links(prose)


def _parse_note(content: str, kind: Format) -> str:
    if kind == "json":
        try:
            json.loads(content)
        except (ValueError, RecursionError):
            return "invalid JSON: chunked as text"
    if kind == "python" and parse_python(content) is None:
        return "not parsed as Python: chunked as text"
    return ""


def _mtime(nanoseconds: int) -> datetime | None:
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return None
