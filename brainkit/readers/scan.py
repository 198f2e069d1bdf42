"""Walk a folder and say which files are to be read, and which are not and why."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brainkit.errors import UsageError
from brainkit.readers.formats import Selection
from brainkit.readers.ignore import IGNORE_FILE, Rules, is_excluded_folder, is_ignored, load_rules
from brainkit.readers.model import FoundFile, Skipped
from brainkit.readers.names import learn_names, shown_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from brainkit.readers.model import TextScrubber


def scan(
    root: Path, *, extensions: Collection[str], max_bytes: int, scrubber: TextScrubber
) -> Iterator[FoundFile | Skipped]:
    """The files below ``root`` (or ``root`` itself, if it is a file) to be read, sorted by path; the same on every run.

    Left out without a word: hidden folders, ``node_modules`` and the like, virtual environments, what a .brainignore
    names, and files that ``extensions`` do not select (endings without the dot, or names such as ``dockerfile``: see
    ``formats.Selection``). Everything else that is not read is a Skipped with its reason. A symbolic link is followed
    when it stays below the root and leads to something that is not read under its own name. A root that cannot be
    listed is one Skipped with the path ``"."``.

    Raises:
        UsageError: there is nothing at ``root``; raised at the call, not at the first item.
    """
    root = Path(root).absolute()
    if not os.path.lexists(root):
        raise UsageError(f"{shown_path(root, scrubber)}: no such file or folder")
    walk = _Walk(root, Selection(extensions), max_bytes, scrubber)
    return iter(walk.run())


class _Link(NamedTuple):
    path: Path
    rules: tuple[Rules, ...]


class _Walk:
    """One scan. Links wait until all real folders are read, so that a file is found under its own name first."""

    def __init__(self, root: Path, wanted: Selection, max_bytes: int, scrubber: TextScrubber) -> None:
        self.root, self.wanted, self.max_bytes, self.scrubber = root, wanted, max_bytes, scrubber
        self.results: list[tuple[tuple[str, ...], FoundFile | Skipped]] = []
        self.folders: set[tuple[int, int]] = set()
        self.files: set[tuple[int, int]] = set()
        self.ignored: set[Path] = set()
        self.links: list[_Link] = []
        self.projects: dict[Path, str] = {}

    def run(self) -> list[FoundFile | Skipped]:
        is_folder, name = self.root.is_dir(), Path(self.root.name)
        self.root = self.root if is_folder else self.root.parent
        self.projects[Path()] = _project_around(self.root)
        if not is_folder:
            if self.wanted(name.name):
                self.take_file(name)
            else:
                self.skip(name, "its ending is not among those imported (BOR_IMPORT_EXTENSIONS)")
        else:
            self.walk(Path(), ())
            while self.links:
                self.follow(self.links.pop(0))
        return [result for _, result in sorted(self.results, key=lambda item: item[0])]

    def skip(self, path: Path, reason: str) -> None:
        self.results.append((path.parts, Skipped(shown_path(path, self.scrubber), reason)))

    def walk(self, top: Path, rules: tuple[Rules, ...]) -> None:
        waiting = [(top, rules)]
        while waiting:  # a stack, not recursion: folders may be nested deeper than Python's limit
            folder, in_force = waiting.pop()
            try:
                waiting += self.list_folder(folder, in_force)
            except OSError as error:
                self.skip(folder, f"cannot be read: {error.strerror}")

    def list_folder(self, folder: Path, rules: tuple[Rules, ...]) -> list[tuple[Path, tuple[Rules, ...]]]:
        """Takes the files of one folder; returns its sub-folders with the rules in force there."""
        absolute = self.root / folder
        status = absolute.stat()
        identity = (status.st_dev, status.st_ino)
        with os.scandir(absolute) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
        names = {entry.name for entry in entries}
        if identity in self.folders or ("pyvenv.cfg" in names and folder != Path()):
            return []
        self.folders.add(identity)
        if IGNORE_FILE in names:
            try:
                loaded = load_rules(absolute, folder)
            except OSError as error:  # reading on would import what its owner meant to leave out
                self.skip(folder, f"its {IGNORE_FILE} cannot be read: {error.strerror}")
                return []
            rules += (loaded.rules,)
            if not loaded.understood:
                self.skip(folder / IGNORE_FILE, "holds a line that is no pattern; the others are used")
        if folder != Path():
            self.projects[folder] = folder.name if ".git" in names else self.projects[folder.parent]
        learn_names([entry.name for entry in entries if self.wanted(entry.name)], self.scrubber)
        inner = []
        for entry in entries:
            path, is_folder = folder / entry.name, entry.is_dir(follow_symlinks=False)
            if is_ignored(path, rules, folder=is_folder):
                self.ignored.add(path)
            elif entry.is_symlink():
                self.links.append(_Link(path, rules))
            elif is_folder:
                if not is_excluded_folder(entry.name):
                    inner.append((path, rules))
            elif self.wanted(entry.name):
                self.take_file(path)
        return inner

    def take_file(self, path: Path) -> None:
        absolute = self.root / path
        try:
            status = absolute.stat()
        except OSError as error:
            self.skip(path, f"cannot be read: {error.strerror}")
            return
        self.files.add((status.st_dev, status.st_ino))
        if not stat.S_ISREG(status.st_mode):
            self.skip(path, "not a regular file")
        elif not status.st_size:
            self.skip(path, "empty")
        elif status.st_size > self.max_bytes:
            size, limit = status.st_size / 1e6, self.max_bytes / 1e6
            self.skip(path, f"too large: {size:.1f} MB, and {limit:.4g} MB may be read (BOR_MAX_FILE_MB)")
        else:
            project = self.projects[path.parent]
            self.results.append((path.parts, FoundFile(path, absolute, status.st_size, status.st_mtime_ns, project)))

    def follow(self, link: _Link) -> None:
        wanted = self.wanted(link.path.name)
        try:
            target = (self.root / link.path).resolve(strict=True)
            status = target.stat()
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before Python 3.13
            if wanted:
                loop = isinstance(error, RuntimeError) or "symbolic link" in (error.strerror or "")
                self.skip(link.path, "symlink loop" if loop else "symlink to nothing that can be read")
            return
        is_folder, identity = stat.S_ISDIR(status.st_mode), (status.st_dev, status.st_ino)
        if not wanted and not is_folder:
            return
        try:
            inside = target.relative_to(self.root.resolve())
        except ValueError:
            self.skip(link.path, "symlink leaves the folder")
            return
        if (is_folder and is_excluded_folder(link.path.name)) or self.ignored & {inside, *inside.parents}:
            return
        if is_ignored(link.path, link.rules, folder=is_folder):  # a pattern that names folders only
            return
        if identity in (self.folders if is_folder else self.files):
            self.skip(link.path, f"symlink to a {'folder' if is_folder else 'file'} that is read under its own name")
        elif is_folder:
            self.walk(link.path, link.rules)
        else:
            self.take_file(link.path)


def _project_around(folder: Path) -> str:
    """Name of the nearest folder from here upwards that is a Git repository; '' when there is none."""
    real = folder.resolve()
    return next((place.name for place in (real, *real.parents) if os.path.lexists(place / ".git")), "")
