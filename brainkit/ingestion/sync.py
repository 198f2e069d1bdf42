"""Bring the brain up to date with folders on disk: read what changed, store it, remove what is gone."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from brainkit.chunking import Chunk, chunk
from brainkit.errors import DatabaseError, UsageError
from brainkit.ingestion.report import FileOutcome, ImportReport
from brainkit.readers import Document, FoundFile, Skipped, read, scan
from brainkit.readers.names import shown_path
from brainkit.scrub import Scrubber
from brainkit.settings import Settings
from brainkit.store import Database, DocumentRow, DocumentStore
from brainkit.store.lexicon import refresh_lexicon
from brainkit.store.terms import TERMS_VERSION

CHUNKING_VERSION = 1
"""Goes up when the same text would give other chunks; documents are then indexed anew."""
_RACY_NS = 2_000_000_000
"""A file that changes within so short a time of being read may keep its time and size: it is read again next time."""
_UNSETTLED = -1
Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is in all."""
log = logging.getLogger(__name__)


class _Root(NamedTuple):
    """A folder that is imported: its source, and its place in it ('' or 'sub/folder')."""

    source: str
    prefix: str
    path: Path

    def name(self, path: str) -> str:
        """Name in the source of a path below this folder."""
        return f"{self.prefix}/{path}" if self.prefix else path

    @property
    def top(self) -> Path:
        """The folder the source was named after."""
        return self.path.parents[self.prefix.count("/")] if self.prefix else self.path


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
        given = [self._existing(path) for path in ([paths] if isinstance(paths, (str, Path)) else paths)]
        done: set[Path] = set()
        # A folder before those inside it, so that they become part of its source.
        for root in sorted({root.resolve() for root in given}, key=lambda root: (len(root.parts), root)):
            self._import_root(root, done, report, redactions, prune=prune, progress=progress)
        refresh_lexicon(self.database)  # always: a run that was killed may have left old counts
        report.skipped = list(dict.fromkeys(report.skipped))
        report.redactions = dict(sorted(redactions.items()))
        report.chunks = self.documents.counts()["chunks"]
        report.seconds = time.perf_counter() - started
        return report

    def _existing(self, path: Path | str) -> Path:
        if not str(path).strip():
            raise UsageError("an empty path was given; '.' is this folder")
        try:
            root = Path(path).expanduser().absolute()
            found = root.is_dir() or root.is_file()
        except (OSError, RuntimeError, ValueError) as error:  # a name too long, an unknown ~user, a NUL
            raise UsageError(f"{self._clean(str(path))[:200]!r}: cannot be a path ({error})") from None
        if not found:
            raise UsageError(f"{shown_path(root, self.scrubber)}: no such folder or file")
        return root

    def _import_root(
        self,
        path: Path,
        done: set[Path],
        report: ImportReport,
        redactions: Counter[str],
        *,
        prune: bool,
        progress: Progress | None,
    ) -> None:
        """Import a folder or file, but for the files that are ``done`` already."""
        folder = path if path.is_dir() else path.parent
        root = _Root(*self.documents.source_for(shown_path(folder, self.scrubber)), folder)
        known = self.documents.rows(root.source)
        found = self._scan(path)
        files = [item for item in found if isinstance(item, FoundFile)]
        unread = [FileOutcome(root.name(item.path), item.reason) for item in found if isinstance(item, Skipped)]
        report.skipped += [FileOutcome(f"{root.source}:{name}", reason) for name, reason in unread]
        names = self._names(root, path, files)
        for number, file in enumerate(files, 1):
            if file.absolute not in done:
                name = names[file.absolute]
                self._import_file(root.source, name, file, known.get(name), report, redactions)
                done.add(file.absolute)
            if progress:
                progress("import", number, len(files))
        if prune and path.is_dir() and files:
            here = set(names.values())
            gone = [row for name, row in known.items() if name not in here and _is_gone(root, name, unread)]
            self.documents.remove([row.id for row in gone])
            report.removed += [f"{row.source}:{row.path}" for row in gone]

    def _scan(self, path: Path) -> list[FoundFile | Skipped]:
        return list(
            scan(
                path,
                extensions=self.settings.import_extensions,
                max_bytes=int(self.settings.import_max_mb * 1e6),
                scrubber=self.scrubber,
            )
        )

    def _names(self, root: _Root, path: Path, files: list[FoundFile]) -> dict[Path, str]:
        """Names of the files in their source; those of paths that scrub to the same are told apart by a number.

        Which number depends on all files of the source, so that where the given path holds a secret, all are counted.
        """
        inside = path.relative_to(root.top)
        if shown_path(inside, self.scrubber) != inside.as_posix():
            everywhere = [item for item in self._scan(root.top) if isinstance(item, FoundFile)]
            read = {file.absolute for file in everywhere}
            files = everywhere + [file for file in files if file.absolute not in read]
        names: dict[Path, str] = {}
        seen: set[str] = set()
        for file in files:
            shown = shown_path(file.absolute.relative_to(root.top), self.scrubber)
            name, number = shown, 1
            while name in seen:
                number += 1
                name = f"{shown}~{number}"
            seen.add(name)
            names[file.absolute] = name
        return names

    @property
    def _index_version(self) -> str:
        """All that decides how a text is indexed; documents of another version are indexed anew."""
        s = self.settings
        chunks = f"chunks{CHUNKING_VERSION}({s.chunk_target_chars},{s.chunk_overlap_chars})"
        return f"terms{TERMS_VERSION}+{chunks}+scrub({self.scrubber.version})"

    def _import_file(
        self,
        source: str,
        name: str,
        file: FoundFile,
        known: DocumentRow | None,
        report: ImportReport,
        redactions: Counter[str],
    ) -> None:
        label, version = f"{source}:{name}", self._index_version
        if known and (known.size, known.mtime_ns, known.index_version) == (file.size, file.mtime_ns, version):
            report.unchanged.append(label)
            return
        try:
            settled = time.time_ns() - file.mtime_ns > _RACY_NS
            result = read(file, scrubber=self.scrubber)
            if isinstance(result, Skipped):
                report.skipped.append(FileOutcome(label, result.reason))
                return
            change = self.documents.put(
                source,
                name,
                result,
                self._chunks(result),
                index_version=version,
                size=file.size,
                mtime_ns=file.mtime_ns if settled else _UNSETTLED,
            )
        except DatabaseError:
            raise
        except Exception as error:  # one bad file must never stop the others; the report names it
            log.debug("import of %s failed", label, exc_info=True)
            report.failed.append(FileOutcome(label, self._clean(f"{type(error).__name__}: {error}")[:300]))
            return
        redactions.update(result.redactions)
        if result.note:
            report.notes.append(FileOutcome(label, result.note))
        getattr(report, change.value).append(label)

    def _chunks(self, document: Document) -> Iterator[Chunk]:
        """The chunks of a document, made when the first is asked for."""
        s = self.settings
        yield from chunk(document.content, document.format, target=s.chunk_target_chars, overlap=s.chunk_overlap_chars)

    def _clean(self, text: str) -> str:
        return self.scrubber.scrub(text.encode("utf-8", "replace").decode()).text


def _is_gone(root: _Root, name: str, unread: list[FileOutcome]) -> bool:
    """Whether a document lies under the folder that was read, and not in a part of it that could not be."""
    inside = not root.prefix or name.startswith(root.prefix + "/")
    parts = [part for part, _ in unread]
    return inside and not any(part in {".", name} or name.startswith(part + "/") for part in parts)
