"""A lease is one idle connection per user of the server; when the last is gone the server may stop.

Leases are counted by the server itself, so the kernel gives back those of processes that were killed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import psutil
from psycopg import OperationalError
from psycopg.pq import ConnStatus, ExecStatus, PGconn, Ping

from brainkit.errors import ServerStartError

if TYPE_CHECKING:
    from psycopg.pq import abc

APPLICATION = "brainkit-lease"
REFUSALS = 40
"""Failed connections in a row, 0.05 s apart, that are no bad luck any more."""
_SURRENDERED = "brainkit-surrendered"


class Lease:
    """A held lease. A raw libpq connection: psycopg's would warn when a forked child lets go of it unclosed."""

    def __init__(self, connection: abc.PGconn) -> None:
        self._connection = connection
        self.postmaster: psutil.Process = psutil.Process(psutil.Process(connection.backend_pid).ppid())
        """The server that granted the lease, with its birth: no later process of its number is taken for it."""
        self.server_version: str = (connection.parameter_status(b"server_version") or b"").decode().split(" ")[0]
        """Version of that server, such as ``18.6``."""

    def alive(self) -> bool:
        """Whether the server still holds it."""
        try:
            self._ask("SELECT 1")
        except OperationalError:
            return False
        return True

    def others(self) -> int:
        """How many other leases there are.

        Raises:
            OperationalError: the connection broke.
        """
        question = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()"
        for _ in range(3):  # the backend of a killed process takes a moment to go
            if (count := int(self._ask(question, APPLICATION))) == 0:
                break
            time.sleep(0.02)
        return count

    def surrender(self) -> None:
        """Give it back; counted no more when this returns, although the backend ends a moment later."""
        try:
            self._ask("SELECT set_config('application_name', $1, false)", _SURRENDERED)
        except OperationalError:
            pass
        finally:
            self._connection.finish()

    def _ask(self, question: str, *values: str) -> bytes:
        result = self._connection.exec_params(question.encode(), [value.encode() for value in values])
        if result.status != ExecStatus.TUPLES_OK:
            raise OperationalError(result.get_error_message())
        return result.get_value(0, 0) or b""


def answers(conninfo: str) -> bool:
    """Whether a server is at the address, ready or not."""
    return PGconn.ping(conninfo.encode()) != Ping.NO_RESPONSE


def obtain(conninfo: str, timeout: float = 600.0) -> Lease | None:
    """A lease from the server that ``conninfo`` names, after its recovery if it is in one; None if none runs.

    Raises:
        ServerStartError: a server is there but lets us not in.
    """
    deadline = time.monotonic() + timeout
    refusals = 0
    while time.monotonic() < deadline:
        answer = PGconn.ping(conninfo.encode())
        if answer == Ping.NO_RESPONSE:
            return None
        if answer == Ping.NO_ATTEMPT:
            raise ServerStartError(f"libpq does not take the address of the embedded server: {conninfo}")
        if answer == Ping.OK:
            connection = PGconn.connect(conninfo.encode())
            if connection.status == ConnStatus.OK:
                try:
                    return Lease(connection)
                except psutil.NoSuchProcess:  # it is going down
                    connection.finish()
                    continue
            reason = connection.error_message.decode(errors="replace").strip()
            connection.finish()
            refusals += 1  # a few are no news: between ping and connection it can begin to stop or to recover
            if refusals > REFUSALS:
                raise ServerStartError(f"The embedded PostgreSQL server refuses the connection: {reason}")
        time.sleep(0.05)
    raise ServerStartError(f"The embedded PostgreSQL server has not become ready within {timeout:.0f} s ({conninfo}).")
