"""Bring the brain up to date with folders on disk: read what changed, store it, remove what is gone."""

from __future__ import annotations

import contextlib
import functools
import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from psycopg.errors import ForeignKeyViolation

from brainkit.errors import DatabaseError, UsageError
from brainkit.ingestion.homekey import path_tag
from brainkit.ingestion.prepare import Failed, Prepared, Preparer, Task, said
from brainkit.ingestion.report import FileOutcome, ImportReport
from brainkit.ingestion.workers import Workers
from brainkit.readers import Document, FoundFile, Skipped, git_log, scan
from brainkit.readers.history import FOLDER
from brainkit.readers.names import shown_path
from brainkit.scrub import Scrubber
from brainkit.settings import Settings
from brainkit.store import Change, Database, DocumentRow, DocumentStore, Entry
from brainkit.store.lexicon import refresh_lexicon
from brainkit.store.sources import adopt
from brainkit.store.terms import TERMS_VERSION

CHUNKING_VERSION = 2
"""Goes up when the same text would give other chunks; documents are then indexed anew."""
_RACY_NS = 2_000_000_000
"""A file that changes within so short a time of being read may keep its time and size: it is read again next time."""
_UNSETTLED = -1
_PART = re.compile(r"(?<=\.jsonl)#[^/]*$", re.IGNORECASE)
COMMIT = "commit"
"""Role of the documents made of a repository's history."""
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


class _Stamp(NamedTuple):
    """Size and time of a file, by which it is known again."""

    size: int
    mtime_ns: int


class _Run(NamedTuple):
    """What one import was asked to do, and its report."""

    report: ImportReport
    prune: bool
    git_log: bool
    dry: bool
    progress: Progress
    workers: Workers
    here: set[tuple[str, str]]
    """Source and name of each file that was found."""
    gone: list[DocumentRow]
    """Documents whose file was not found where it was."""


@dataclass
class Importer:
    """Imports folders and files into one database."""

    database: Database
    documents: DocumentStore
    scrubber: Scrubber
    settings: Settings

    def __post_init__(self) -> None:
        self._preparer = Preparer(self.settings, self.scrubber)

    def run(
        self,
        paths: Iterable[Path | str],
        *,
        prune: bool = False,
        git_log: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Import every path; one bad file never stops the others.

        Args:
            paths: folders or files.
            prune: remove documents whose file is gone, under the folders that were really read.
            git_log: also import the commit messages of folders that are Git repositories.
            dry_run: only report what would be done.
            progress: told about each file that is read.

        Raises:
            UsageError: a path does not exist, or is neither a folder nor a file.
            DatabaseError: the database went away; what was stored stays, the next run goes on.
        """
        started, report = time.perf_counter(), ImportReport(dry_run=dry_run)
        given = [self._existing(path) for path in ([paths] if isinstance(paths, (str, Path)) else paths)]
        done: set[Path] = set()
        with contextlib.closing(Workers(self._preparer, self.settings)) as workers:
            run = _Run(report, prune, git_log, dry_run, progress or (lambda *_: None), workers, set(), [])
            # A folder before those inside it, so that they become part of its source.
            for root in sorted({root.resolve() for root in given}, key=lambda root: (len(root.parts), root)):
                kept, read = deepcopy(report), set(done)
                try:
                    self._import_root(root, done, run)
                except ForeignKeyViolation:  # another import made the source part of a larger one: begin it anew there
                    vars(report).update(vars(kept))
                    self._import_root(root, read, run)
                    done = read
        if not dry_run:
            self.documents.share_vectors()  # before the removal of those they come from
        # Last of all, since a file that is gone from one folder may have been found in another.
        gone = [row for row in run.gone if (row.source, _file_of(row.path)) not in run.here]
        self._remove(list({row.id: row for row in gone}.values()), run)
        if not dry_run:
            refresh_lexicon(self.database)  # always: a run that was killed may have left old counts
        report.skipped = list(dict.fromkeys(report.skipped))
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

    def _import_root(self, path: Path, done: set[Path], run: _Run) -> None:
        """Import a folder or file, but for the files that are ``done`` already."""
        folder = path if path.is_dir() else path.parent
        shown, tags = shown_path(folder, self.scrubber), self._tags(folder, run)
        root = _Root(*self.documents.source_for(shown, remember=not run.dry, tags=tags), folder)
        found = self._scan(path)
        files = [item for item in found if isinstance(item, FoundFile)]
        adopted = self._adopt(root, files, run) if path.is_dir() else {}
        known = self.documents.rows(root.source) | adopted
        by_file: dict[str, list[DocumentRow]] = {}
        for row in known.values():
            by_file.setdefault(_file_of(row.path), []).append(row)
        unread = [FileOutcome(root.name(item.path), item.reason) for item in found if isinstance(item, Skipped)]
        run.report.skipped += [FileOutcome(f"{root.source}:{name}", reason) for name, reason in unread]
        names = self._names(root, path, files)
        new = [file for file in files if file.absolute not in done]
        done.update(file.absolute for file in new)
        changed = [file for file in new if not self._is_unchanged(file, by_file.get(names[file.absolute], []))]
        waiting = {file.absolute for file in changed}
        for file in new:
            if file.absolute not in waiting:
                run.report.unchanged += [f"{root.source}:{row.path}" for row in by_file[names[file.absolute]]]
        tasks = [Task(file, frozenset(self._current_hashes(by_file.get(names[file.absolute], [])))) for file in changed]
        began = time.time_ns()
        for number, (file, prepared) in enumerate(zip(changed, run.workers.prepare(tasks), strict=True), 1):
            name = names[file.absolute]
            stamp = _Stamp(file.size, file.mtime_ns if began - file.mtime_ns > _RACY_NS else _UNSETTLED)
            self._store(root.source, name, prepared, by_file.get(name, []), stamp, run)
            run.progress("import", number, len(changed))
        run.here.update((root.source, name) for name in names.values())
        if run.prune and path.is_dir() and files:
            run.gone.extend(row for row in known.values() if row.role != COMMIT and _is_gone(root, row.path, unread))
        if run.git_log and path.is_dir():
            self._import_history(root, known, run)

    def _adopt(self, root: _Root, files: list[FoundFile], run: _Run) -> dict[str, DocumentRow]:
        """Take in sources of folders in which files were found now; in a dry run their rows, as they would be."""
        top = PurePosixPath(shown_path(root.path, self.scrubber))
        inside = [source for source in self.documents.sources() if top in PurePosixPath(source.root).parents]
        if not inside:
            return {}
        folders = {folder for file in files for folder in file.absolute.parents if root.path in folder.parents}
        places: dict[tuple[str, str], Path] = {}
        for folder in sorted(folders):
            shown = shown_path(folder, self.scrubber)
            places[shown, self._tags(folder, run).get(shown, "")] = folder
        rows: dict[str, DocumentRow] = {}
        for source in inside:
            place = places.get((source.root, source.tag))
            if place is None or source.name == root.source:
                continue
            prefix = root.name(shown_path(place.relative_to(root.path), self.scrubber))
            if run.dry:
                moved = self.documents.rows(source.name).values()
                rows |= {
                    path: row._replace(source=root.source, path=path)
                    for row, path in ((row, f"{prefix}/{row.path}") for row in moved)
                }
            else:
                adopt(self.database, source.name, root.source, prefix)
            run.report.notes.append(FileOutcome(f"{root.source}:{prefix}", f"was the source {source.name!r} before"))
        return rows

    def _tags(self, folder: Path, run: _Run) -> dict[str, str]:
        """Tags of a folder and those above it whose shown paths hide something, by these."""
        return {
            shown: path_tag(self.settings.home, place, make=not run.dry)
            for place in (folder, *folder.parents)
            if (shown := shown_path(place, self.scrubber)) != place.as_posix()
        }

    def _import_history(self, root: _Root, known: Mapping[str, DocumentRow], run: _Run) -> None:
        """The commits of the repository a folder is; a commit never changes, so that those known are not read again."""
        if root.prefix and not (root.path / ".git").exists():  # part of a repository: imported with its top
            return
        documents = git_log(root.path, scrubber=self.scrubber)
        if isinstance(documents, Skipped):
            run.report.skipped.append(FileOutcome(f"{root.source}:{documents.path}", documents.reason))
            return
        for number, document in enumerate(documents, 1):
            name = root.name(document.path)
            row = known.get(name)
            hashes = self._current_hashes([row] if row else [])
            if document.content_hash in hashes:
                run.report.unchanged.append(f"{root.source}:{name}")
            else:
                prepared: Prepared = [self._preparer.entry(document)]
                self._store(root.source, name, prepared, [row] if row else [], _Stamp(0, _UNSETTLED), run)
            run.progress("history", number, len(documents))
        if run.prune:
            here, place = {root.name(document.path) for document in documents}, root.name(f"{FOLDER}/")
            commits = (row for row in known.values() if row.role == COMMIT and row.path.startswith(place))
            self._remove([row for row in commits if row.path not in here], run)

    def _remove(self, rows: list[DocumentRow], run: _Run) -> None:
        if not run.dry:
            self.documents.remove([row.id for row in rows])
        run.report.removed += [f"{row.source}:{row.path}" for row in rows]

    def _scan(self, path: Path) -> list[FoundFile | Skipped]:
        return list(
            scan(
                path,
                extensions=self.settings.import_extensions,
                max_bytes=int(self.settings.max_file_mb * 1e6),
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

    def _is_unchanged(self, file: FoundFile, rows: list[DocumentRow]) -> bool:
        """Whether all that a file gave is indexed by today's rules, and neither its size nor its time changed."""
        version = self._index_version
        return bool(rows) and all(
            (row.size, row.mtime_ns, row.index_version) == (file.size, file.mtime_ns, version) for row in rows
        )

    def _current_hashes(self, rows: list[DocumentRow]) -> list[str]:
        return [row.content_hash for row in rows if row.index_version == self._index_version]

    def _store(
        self, source: str, name: str, prepared: Prepared, known: list[DocumentRow], stamp: _Stamp, run: _Run
    ) -> None:
        """Write what a file gave, and remove what it gave before and does not any more."""
        label = f"{source}:{name}"
        if isinstance(prepared, (Skipped, Failed)):
            to = run.report.skipped if isinstance(prepared, Skipped) else run.report.failed
            to.append(FileOutcome(label, prepared.reason))
            return
        rows = {row.path: row for row in known}
        for item in prepared:
            document = item.document if isinstance(item, Entry) else item
            path = name + document.path[len(_file_of(document.path)) :]
            self._store_one(source, path, item, rows.pop(path, None), stamp, run)
        self._remove(list(rows.values()), run)

    def _store_one(
        self, source: str, path: str, item: Entry | Document, row: DocumentRow | None, stamp: _Stamp, run: _Run
    ) -> None:
        label = f"{source}:{path}"
        document = item.document if isinstance(item, Entry) else item
        try:
            if not isinstance(item, Entry) and row and document.content_hash == row.content_hash:
                change = Change.UNCHANGED
                if not run.dry:
                    self.documents.touch(row.id, document, **stamp._asdict())
            else:
                entry = item if isinstance(item, Entry) else self._preparer.entry(document)
                assert isinstance(entry, Entry)
                change = Change.REINDEXED if row else Change.INDEXED
                if not run.dry:
                    change = self._put(source, path, entry, stamp, replaces=row is not None)
        except (DatabaseError, ForeignKeyViolation):
            raise
        except Exception as error:  # one bad document must never stop the others; the report names it
            log.debug("import of %s failed", label, exc_info=True)
            run.report.failed.append(FileOutcome(label, said(error, self.scrubber)))
            return
        run.report.count_redactions(label, document.redactions)
        if document.note:
            run.report.notes.append(FileOutcome(label, document.note))
        getattr(run.report, change.value).append(label)

    def _put(self, source: str, path: str, entry: Entry, stamp: _Stamp, *, replaces: bool) -> Change:
        """Store an entry; when the database restarts in mid-run, once more as soon as it is back."""
        put = functools.partial(
            self.documents.put,
            source,
            path,
            entry,
            index_version=self._index_version,
            **stamp._asdict(),
            replaces=replaces,
        )
        try:
            return put()
        except DatabaseError:
            log.warning("the database went away; trying once more")
            return put()

    def _clean(self, text: str) -> str:
        return self.scrubber.scrub(text.encode("utf-8", "replace").decode()).text


def _file_of(path: str) -> str:
    """The file a document comes from: of ``chats.jsonl#2`` it is ``chats.jsonl``."""
    return _PART.sub("", path)


def _is_gone(root: _Root, name: str, unread: list[FileOutcome]) -> bool:
    """Whether a document lies under the folder that was read, and not in a part of it that could not be."""
    inside = not root.prefix or name.startswith(root.prefix + "/")
    parts = [part for part, _ in unread]
    return inside and not any(part in {".", name} or name.startswith(part + "/") for part in parts)
