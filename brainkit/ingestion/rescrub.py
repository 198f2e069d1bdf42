"""Apply newer scrub rules to what is stored already, and let nothing older stay on disk."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from brainkit.ingestion.homekey import path_tag
from brainkit.ingestion.prepare import Preparer
from brainkit.ingestion.report import count_kinds
from brainkit.readers import Document, Link
from brainkit.readers.names import scrub_each, shown_path
from brainkit.scrub import Scrubber
from brainkit.store import Database, DocumentRow, DocumentStore, Entry
from brainkit.store.lexicon import refresh_lexicon
from brainkit.store.rewrite import rewrite
from brainkit.store.sources import Source, all_sources, move, rename
from brainkit.store.texts import change_texts

BATCH = 100
UNREAD = -1
"""Time of a file that has to be read again: the new rules may also keep what the old ones took out."""
_SCRUB = re.compile(r"scrub\(.*\)$")


@dataclass
class RescrubReport:
    """What applying the rules anew did.

    Attributes:
        documents: documents looked at.
        changed: those of which something was redacted now, as ``source:path``, after the change.
        redactions: what was redacted now, by kind.
        others: logged questions, labels and error messages that changed.
        rewritten: whether tables and write-ahead log were rewritten, so that no older text is left on disk.
        note: why not, if not.
    """

    documents: int = 0
    changed: list[str] = field(default_factory=list)
    redactions: dict[str, int] = field(default_factory=dict)
    others: int = 0
    rewritten: bool = False
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        return asdict(self)


def rescrub(
    database: Database,
    documents: DocumentStore,
    preparer: Preparer,
    scrubber: Scrubber,
    *,
    progress: Callable[[str, int, int], None] | None = None,
) -> RescrubReport:
    """Scrub every stored text again; stopped at any moment, it can be run again.

    Args:
        database: an open brain.
        documents: its documents.
        preparer: makes chunks of what changed.
        scrubber: today's rules.
        progress: told about every document.
    """
    report = RescrubReport()
    _sources(database, preparer.settings.home, scrubber)
    rows = list(documents.rows().values())
    taken = {(row.source, row.path) for row in rows}
    for start in range(0, len(rows), BATCH):
        part = rows[start : start + BATCH]
        stored = documents.load([row.id for row in part])
        for row in part:
            if row.id in stored:
                _document(database, documents, preparer, scrubber, row, stored[row.id], taken, report)
        report.documents += len(part)
        if progress:
            progress("rescrub", report.documents, len(rows))
    report.others = change_texts(database, lambda text: scrubber.scrub(text).text)
    refresh_lexicon(database)
    report.note = rewrite(database)
    report.rewritten = not report.note
    return report


def _sources(database: Database, home: Path, scrubber: Scrubber) -> None:
    """Scrub the names and roots of the sources; a root that was shown as it is can then only be known by its tag."""
    for source in all_sources(database):
        root = shown_path(PurePosixPath(source.root), scrubber)
        if root != source.root:
            tag = source.tag or path_tag(home, Path(source.root))
            rename(database, source, Source(scrub_each([source.name], scrubber)[0], root, tag))


def _document(
    database: Database,
    documents: DocumentStore,
    preparer: Preparer,
    scrubber: Scrubber,
    row: DocumentRow,
    old: Document,
    taken: set[tuple[str, str]],
    report: RescrubReport,
) -> None:
    found: Counter[str] = Counter()
    new = rescrubbed(old, scrubber, found)
    version = _SCRUB.sub(lambda _: f"scrub({scrubber.version})", row.index_version)
    if not found:
        if version != row.index_version:
            documents.accept(row.id, new, index_version=version)
        return
    path, number = new.path, 1
    while path != row.path and (row.source, path) in taken:
        number += 1
        path = f"{new.path}~{number}"
    entry = preparer.entry(new)
    assert isinstance(entry, Entry)
    if path != row.path:
        move(database, row.source, row.path, path)
        taken.add((row.source, path))
    documents.put(row.source, path, entry, index_version=version, size=row.size, mtime_ns=UNREAD)
    report.changed.append(f"{row.source}:{path}")
    report.redactions = count_kinds(report.redactions, found)


def rescrubbed(document: Document, scrubber: Scrubber, found: Counter[str]) -> Document:
    """A document under today's rules; ``found`` grows by what they redact that was not redacted before."""
    result = scrubber.scrub(document.content)
    found.update(finding.kind for finding in result.findings)

    def each(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(scrub_each(texts, scrubber, found))

    edges = tuple(Link._make((*each(edge[:3]), edge.kind)) for edge in document.edges)
    return replace(
        document,
        path=shown_path(PurePosixPath(document.path), scrubber, found),
        full_path=shown_path(PurePosixPath(document.full_path), scrubber, found),
        title=each((document.title,))[0],
        content=result.text,
        content_hash=hashlib.sha256(f"{result.text}\0{scrubber.version}".encode()).hexdigest(),
        tags=each(document.tags),
        links=each(document.links),
        aliases=each(document.aliases),
        edges=edges,
        project=each((document.project,))[0],
        note=each((document.note,))[0],
        redactions=count_kinds(document.redactions, found),
        scrub_version=scrubber.version,
    )
