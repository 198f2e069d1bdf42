"""Where a brain's server keeps its things: below the home, or as root in a system folder the home points to."""

from __future__ import annotations

import hashlib
import itertools
import logging
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brainkit.errors import ServerStartError
from brainkit.store.server.account import ELSEWHERE

if TYPE_CHECKING:
    from brainkit.store.server.account import Account

logger = logging.getLogger(__name__)

SYSTEM_ROOT = Path("/var/lib/brainkit")
SHORT_ROOT = Path("/tmp")  # noqa: S108 - fixed, since TMPDIR differs between a shell and cron; the folder in it is checked
FOLDER = "postgresql"
POINTER = "postgresql.path"
LONGEST_SOCKET = 100
"""Bytes; the kernel's limit is 108 on Linux and 104 on macOS."""


class Layout(NamedTuple):
    """The folders of one server."""

    state: Path
    programs: Path
    socket: Path

    @property
    def log(self) -> Path:
        """The server's own log."""
        return self.state / "server.log"

    def data(self, major: int) -> Path:
        """Data directory of a major version."""
        return self.state / f"pg{major}"

    def data_major(self) -> int | None:
        """Major version of the data that lie here, the newest if several; None without data."""
        majors = [int(name[1]) for entry in _entries(self.state) if (name := re.fullmatch(r"pg(\d+)", entry))]
        return max(majors, default=None)


def locate(home: Path) -> Layout:
    """Where the server of ``home`` lies or would lie; changes nothing.

    Raises:
        ServerStartError: the home points to no brainkit folder, or belongs to a brain of another user.
    """
    pointer = home / POINTER
    if os.geteuid() != 0:
        if pointer.exists():
            raise ServerStartError(
                f"The brain in {home} was made by root, and only root can open it. "
                "Run brainkit as root, or set BOR_HOME to another folder."
            )
        if bad := re.search(r"[\"$`\\\n]", str(home)):
            raise ServerStartError(f"BOR_HOME={home} has {bad[0]!r} in it, which PostgreSQL's pg_ctl does not take.")
        state = home / FOLDER
        return Layout(state, state / "programs", _socket_folder(state))
    if (home / FOLDER).exists():
        raise ServerStartError(
            f"The brain in {home} was made by user id {(home / FOLDER).stat().st_uid}, not by root. "
            "Run brainkit as that user, or set BOR_HOME to another folder."
        )
    state = _pointed_to(pointer) or _unused_folder(home)
    return Layout(state, SYSTEM_ROOT / "programs", _socket_folder(state))


def prepare(home: Path, account: Account) -> Layout:
    """Make the folders of ``locate(home)``; the caller holds the home's lock.

    Raises:
        ServerStartError: as ``locate``, or the data are gone, or the home is a copy of another, or a folder is unsafe.
        OSError: a folder cannot be made.
    """
    layout = locate(home)
    if account.separate:
        _claim(home, layout.state)
        make_folder(SYSTEM_ROOT, 0, 0, 0o755)
        make_folder(layout.programs, 0, 0, 0o755)
        make_folder(layout.state, 0, account.gid, 0o750)  # root's own: the account cannot plant anything here
        _write_path(layout.state / "home", home)
        _write_path(home / POINTER, layout.state)
    else:
        make_folder(layout.state, account.uid, account.gid, 0o700)
        make_folder(layout.programs, account.uid, account.gid, 0o700)
    make_folder(layout.socket, account.uid, account.gid, 0o700)
    return layout


def make_folder(path: Path, uid: int, gid: int, mode: int) -> None:
    """Make a folder with this owner and mode, or check that what lies there is one nobody else could have planted."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid or found.st_mode & 0o022 & ~mode:
            raise ServerStartError(
                f"{path} is not a folder that belongs to user id {uid} and that others cannot write to. "
                f"See who made it, and remove it. {ELSEWHERE}"
            ) from None
        return
    if os.geteuid() == 0:
        os.chown(path, uid, gid)
    path.chmod(mode)  # mkdir's mode is cut by the umask


def _pointed_to(pointer: Path) -> Path | None:
    state = _read_path(pointer)
    if state is None:
        return None
    # The home may be writable by others, so the pointer is believed only as far as a name of ours goes.
    if state.parent != SYSTEM_ROOT or not re.fullmatch(r"[0-9a-f]{16}", state.name):
        raise ServerStartError(f"{pointer} does not name a folder of brainkit below {SYSTEM_ROOT}: {state}")
    return state


def _unused_folder(home: Path) -> Path:
    """A folder for a home without pointer: never one with data, they belong to a home that was moved or deleted."""
    for number in itertools.count():
        state = SYSTEM_ROOT / _key(f"{home}\n{number}" if number else str(home))
        if not any(re.fullmatch(r"pg\d+", entry) for entry in _entries(state)):
            return state
        logger.warning("%s begins anew; data of an earlier brain of this path are left in %s", home, state)
    raise AssertionError  # pragma: no cover - count() does not end


def _claim(home: Path, state: Path) -> None:
    """Refuse a pointer that leads nowhere, or that was copied along with its home."""
    if not (home / POINTER).exists():
        return
    if not state.is_dir():
        raise ServerStartError(
            f"The database of the brain in {home} is gone: {state} does not exist (in a container, keep {SYSTEM_ROOT} "
            f"on a volume too). Bring it back, or remove {home / POINTER} to begin with an empty brain."
        )
    owner = _read_path(state / "home")
    if owner not in (None, home) and _read_path(owner / POINTER) == state:
        raise ServerStartError(
            f"{home} is a copy of {owner}, and both name the same database {state}. "
            f"Remove {home / POINTER} to begin with an empty brain there."
        )


def _read_path(file: Path) -> Path | None:
    return Path(os.fsdecode(file.read_bytes().rstrip(b"\n"))) if file.exists() else None


def _write_path(file: Path, path: Path) -> None:
    file.write_bytes(os.fsencode(path) + b"\n")


def _socket_folder(state: Path) -> Path:
    natural = state / "run"
    fits = len(os.fsencode(natural / ".s.PGSQL.5432")) <= LONGEST_SOCKET
    # A comma separates hosts for libpq and folders for the server; a name that is not UTF-8 fits in no conninfo.
    if fits and not re.search(r"[,\ud800-\udfff]", str(natural)):
        return natural
    return SHORT_ROOT / f"brainkit-{os.geteuid()}-{_key(str(state))}"


def _key(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:16]


def _entries(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
