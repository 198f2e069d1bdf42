"""Bring the brain up to date with folders on disk: read what changed, store it, remove what is gone."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from brainkit.chunking import chunk
from brainkit.errors import DatabaseError, UsageError
from brainkit.ingestion.report import FileOutcome, ImportReport
from brainkit.readers import FoundFile, Skipped, read, scan
from brainkit.readers.names import shown_path
from brainkit.scrub import Scrubber
from brainkit.settings import Settings
from brainkit.store import Database, DocumentRow, DocumentStore
from brainkit.store.lexicon import refresh_lexicon
from brainkit.store.terms import TERMS_VERSION

CHUNKING_VERSION = 1
"""Goes up when the same text would give other chunks; documents are then indexed anew."""
_RACY_NS = 2_000_000_000
Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is in all."""
log = logging.getLogger(__name__)


class _Root(NamedTuple):
    source: str
    prefix: str
    path: Path


@dataclass
class Importer:
    """Imports folders and files into one database."""

    database: Database
    documents: DocumentStore
    scrubber: Scrubber
    settings: Settings

    def run(
        self, paths: Iterable[Path | str], *, prune: bool = False, progress: Progress | None = None
    ) -> ImportReport:
        """Import every path; one bad file never stops the others.

        Args:
            paths: folders or files.
            prune: remove documents whose file is gone, under the folders that were really read.
            progress: told about each file.

        Raises:
            UsageError: a path does not exist, or is neither a folder nor a file.
            DatabaseError: the database went away; what was stored stays, the next run goes on.
        """
        started, report, redactions = time.perf_counter(), ImportReport(), Counter[str]()
        roots = [Path(path).expanduser().absolute() for path in paths]
        for root in roots:
            if not (root.is_dir() or root.is_file()):
                raise UsageError(f"{shown_path(root, self.scrubber)}: no such folder or file")
        for root in roots:
            self._import_root(root.resolve(), report, redactions, prune=prune, progress=progress)
        refresh_lexicon(self.database)  # always: a run that was killed may have left old counts
        report.redactions = dict(sorted(redactions.items()))
        report.chunks = self.documents.counts()["chunks"]
        report.seconds = time.perf_counter() - started
        return report

    def _import_root(
        self, path: Path, report: ImportReport, redactions: Counter[str], *, prune: bool, progress: Progress | None
    ) -> None:
        folder = path if path.is_dir() else path.parent
        root = _Root(*self.documents.source_for(shown_path(folder, self.scrubber)), folder)
        known = self.documents.rows(root.source)
        found = list(
            scan(
                path,
                extensions=self.settings.import_extensions,
                max_bytes=int(self.settings.import_max_mb * 1e6),
                scrubber=self.scrubber,
            )
        )
        files = [item for item in found if isinstance(item, FoundFile)]
        report.skipped += [
            FileOutcome(root.source + ":" + self._name(root, item.path), item.reason)
            for item in found
            if isinstance(item, Skipped)
        ]
        seen: set[str] = set()
        for number, file in enumerate(files, 1):
            name = _distinct(self._name(root, shown_path(file.path, self.scrubber)), seen)
            seen.add(name)
            self._import_file(root.source, name, file, known.get(name), report, redactions)
            if progress:
                progress("import", number, len(files))
        if prune and path.is_dir() and files:
            unread = [self._name(root, item.path) for item in found if isinstance(item, Skipped)]
            gone = [row for name, row in known.items() if name not in seen and self._is_gone(root, name, unread)]
            self.documents.remove([row.id for row in gone])
            report.removed += [f"{row.source}:{row.path}" for row in gone]

    @staticmethod
    def _is_gone(root: _Root, name: str, unread: list[str]) -> bool:
        """Whether a document lies under the folder that was read, and not in a part of it that could not be."""
        inside = not root.prefix or name.startswith(root.prefix + "/")
        return inside and not any(part in {".", name} or name.startswith(part + "/") for part in unread)

    def _name(self, root: _Root, path: str) -> str:
        return f"{root.prefix}/{path}" if root.prefix else path

    @property
    def _index_version(self) -> str:
        s = self.settings
        return f"terms{TERMS_VERSION}+chunks{CHUNKING_VERSION}({s.chunk_target_chars},{s.chunk_overlap_chars})+scrub({self.scrubber.version})"

    def _import_file(
        self,
        source: str,
        name: str,
        file: FoundFile,
        known: DocumentRow | None,
        report: ImportReport,
        redactions: Counter[str],
    ) -> None:
        label = f"{source}:{name}"
        if known is not None and self._looks_unchanged(file, known):
            report.unchanged.append(label)
            return
        try:
            result = read(file, scrubber=self.scrubber)
            if isinstance(result, Skipped):
                report.skipped.append(FileOutcome(label, result.reason))
                return
            pieces = chunk(
                result.content,
                result.format,
                target=self.settings.chunk_target_chars,
                overlap=self.settings.chunk_overlap_chars,
            )
            change = self.documents.put(
                source, name, result, pieces, index_version=self._index_version, size=file.size, mtime_ns=file.mtime_ns
            )
        except DatabaseError:
            raise
        except Exception as error:  # noqa: BLE001 - one bad file must never stop the others; the report names it
            log.debug("import of %s failed", label, exc_info=True)
            report.failed.append(FileOutcome(label, self._clean(f"{type(error).__name__}: {error}")[:300]))
            return
        redactions.update(result.redactions)
        if result.note:
            report.notes.append(FileOutcome(label, result.note))
        getattr(report, change.value).append(label)

    def _looks_unchanged(self, file: FoundFile, known: DocumentRow) -> bool:
        """Whether size and time say so; a file changed within two seconds of being read is read again, as its time may lie."""
        return (known.size, known.mtime_ns, known.index_version) == (
            file.size,
            file.mtime_ns,
            self._index_version,
        ) and known.indexed_at.timestamp() * 1e9 - file.mtime_ns > _RACY_NS

    def _clean(self, text: str) -> str:
        return self.scrubber.scrub(text.encode("utf-8", "replace").decode()).text


def _distinct(name: str, seen: set[str]) -> str:
    """Two paths that scrub to the same name are told apart by a number, in the order of the scan."""
    candidate, number = name, 1
    while candidate in seen:
        number += 1
        candidate = f"{name}~{number}"
    return candidate
