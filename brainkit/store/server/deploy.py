"""Copies the programs of a Python package aside, so that neither an upgrade nor a closed folder disturbs a server."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from brainkit.store.server.lock import locked
from brainkit.store.server.programs import Programs

# What a compiler needs, a server does not: half of the package.
_SKIP = shutil.ignore_patterns("include", "doc", "pgxs", "pkgconfig", "*.a", "__pycache__", "*.py")


def deploy(programs: Programs, into: Path) -> Programs:
    """The programs as the server will use them: a copy below ``into``, keyed by package version, or in place.

    Only a Python package is copied: it may lie where the server's account cannot read, and ``pip install -U`` would
    replace it under a running server. Programs of the system or of BOR_PG_BIN are used where they are.
    """
    if programs.package is None:
        return programs
    target = into / programs.origin.replace(" ", "-")
    module = programs.package.name
    libraries = programs.package.with_name(f"{module}.libs")  # shared libraries, found by a relative path
    sources = [source for source in (programs.package, libraries) if source.is_dir()]
    with locked(into / ".lock"):
        if not all(_same_files(source, target / source.name) for source in sources):
            _copy(sources, target)
    return programs._replace(bin=target / programs.bin.relative_to(programs.package.parent))


def _copy(sources: list[Path], target: Path) -> None:
    # Aside, then renamed: whoever looks sees a whole copy or none, also after a crash.
    for left in target.parent.glob(".copy-*"):
        shutil.rmtree(left)  # by a process that was killed while it copied
    work = Path(tempfile.mkdtemp(prefix=".copy-", dir=target.parent))
    try:
        for source in sources:
            shutil.copytree(source, work / "new" / source.name, ignore=_SKIP)
        _open_for_reading(work / "new")
        if target.exists():
            target.rename(work / "old")
        (work / "new").rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _same_files(source: Path, copy: Path) -> bool:
    """Whether every program of the source is in the copy with its size; a power cut can leave empty files."""
    for folder, folders, files in os.walk(source):
        skip = _SKIP(folder, [*folders, *files])
        folders[:] = [name for name in folders if name not in skip]
        for name in set(files) - skip:
            original = Path(folder, name)
            twin = copy / original.relative_to(source)
            if not twin.is_file() or twin.stat().st_size != original.stat().st_size:
                return False
    return True


def _open_for_reading(tree: Path) -> None:
    """Everybody may read and execute, whatever umask the package was installed under; only the owner writes."""
    for folder, _, files in os.walk(tree):
        Path(folder).chmod(0o755)
        for name in files:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
