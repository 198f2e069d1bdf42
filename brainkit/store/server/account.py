"""The system account the server runs as: ours, or one of its own when we are root, which PostgreSQL refuses."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from typing import Any, NamedTuple

from brainkit.errors import ServerStartError

ELSEWHERE = "Or set BOR_DATABASE_URL to a PostgreSQL server that runs already."

# Nothing of ours leaks in: PGPORT, PGDATA or LD_LIBRARY_PATH of the caller would change what the programs do.
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}


class Account(NamedTuple):
    """Who the server runs as, and who may connect to it."""

    name: str
    uid: int
    gid: int
    separate: bool
    """True when we are root and the server runs as somebody else."""
    me: str

    @property
    def peers(self) -> tuple[str, ...]:
        """Names of the operating-system users that may connect."""
        return tuple(dict.fromkeys((self.me, self.name)))

    def run(self, *command: str | os.PathLike[str]) -> str:
        """Run a program as this account; returns what it printed.

        Raises:
            ServerStartError: it cannot be executed or failed; the message holds its output.
        """
        identity: dict[str, Any] = {}
        if self.separate:
            identity = {"user": self.uid, "group": self.gid, "extra_groups": []}
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
                cwd="/",  # the account may not be able to enter the caller's directory
                umask=0o077,
                env=_ENVIRONMENT,
                start_new_session=True,  # Ctrl-C in a terminal is for us, not for the server
                encoding="utf-8",
                errors="replace",
                **identity,
            )
        except OSError as error:
            message = f"User {self.name} cannot run {command[0]}: {error.strerror}. {ELSEWHERE}"
            raise ServerStartError(message) from error
        if done.returncode:
            raise ServerStartError(f"{command[0]} failed with exit code {done.returncode}:\n{done.stdout.strip()}")
        output: str = done.stdout
        return output


def account_for(os_user: str) -> Account:
    """The account for a server started by this process; as root ``os_user`` is made if it does not exist.

    Raises:
        ServerStartError: we have no user name, or ``os_user`` cannot be made or is root.
    """
    me = _own_name()
    if os.geteuid() != 0:
        return Account(me, os.geteuid(), os.getegid(), separate=False, me=me)
    entry = _entry(os_user) or _create(os_user)
    if entry.pw_uid == 0:
        raise ServerStartError(f"BOR_PG_OSUSER={os_user} is root, as which PostgreSQL does not run. Name another user.")
    return Account(os_user, entry.pw_uid, entry.pw_gid, separate=True, me=me)


def _own_name() -> str:
    import pwd  # not on Windows, where this package must still be importable

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        raise ServerStartError(
            f"User id {os.geteuid()} has no name on this system, which PostgreSQL needs. "
            f"Add it to /etc/passwd, or run as root. {ELSEWHERE}"
        ) from None


def _entry(name: str) -> Any:
    import pwd  # not on Windows, where this package must still be importable

    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _create(name: str) -> Any:
    import grp  # not on Windows, where this package must still be importable

    try:
        grp.getgrnam(name)
        group = ["--gid", name]
    except KeyError:
        group = ["--user-group"]
    advice = (
        f"PostgreSQL does not run as root, so brainkit gives it the system user {name!r} (BOR_PG_OSUSER), which cannot "
        f"be made here. Make it yourself or name an existing one, or run brainkit as an ordinary user. {ELSEWHERE}"
    )
    useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if useradd is None:
        raise ServerStartError(f"There is no useradd on this system. {advice}")
    command = [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", *group, name]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    for _ in range(50):  # another process may be making the same user right now
        if entry := _entry(name):
            return entry
        if done.returncode == 0:
            break
        time.sleep(0.02)
    raise ServerStartError(f"{' '.join(command)} failed: {done.stderr.strip()}. {advice}")
