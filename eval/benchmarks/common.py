"""What all benchmarks share: CPU time of client and server, percentiles, a database server, and what they ran on."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import platformdirs
import psutil
import psycopg

from brainkit.store.server import EmbeddedServer

RESULTS: Final = Path(__file__).parent / "results"
CACHE: Final = Path(platformdirs.user_cache_dir("brainkit-benchmarks"))
_PACKAGES: Final = (
    "llama-index-core", "llama-index-vector-stores-postgres", "haystack-ai", "pgvector-haystack", "sqlite-vec", "apsw",
    "bm25s", "psycopg", "sqlalchemy", "numpy", "onnxruntime",
)  # fmt: skip
_SETTLE: Final = ("vacuum (analyze)", "checkpoint")


class Spent(NamedTuple):
    """CPU seconds of client and server, and seconds on the clock."""

    cpu: float
    wall: float


class Meter:
    """CPU time of this process and of a PostgreSQL server with all its processes, those that ended included.

    Where /proc tells nanoseconds (Linux), single questions can be told apart; elsewhere, and for server processes
    that end meanwhile, the step is 1/100 s, so sum over many.
    """

    def __init__(self, server: EmbeddedServer) -> None:
        pid = int((server.data_dir / "postmaster.pid").read_text().split()[0])
        self._postmaster = psutil.Process(pid)
        self._children = Path(f"/proc/{pid}/task/{pid}/children")

    def cpu(self) -> float:
        """Seconds so far; worker processes of this one count once they have ended."""
        workers = os.times()
        return time.process_time() + workers.children_user + workers.children_system + self._server()

    @contextlib.contextmanager
    def measure(self) -> Iterator[list[Spent]]:
        """What a ``with`` block spends, appended to the list it gives."""
        spent: list[Spent] = []
        cpu, wall = self.cpu(), time.perf_counter()
        yield spent
        spent.append(Spent(self.cpu() - cpu, time.perf_counter() - wall))

    def question(self, call: Callable[[], object]) -> float:
        """CPU seconds of one call; what counting costs is left out."""
        server, client = self._server(), time.process_time()
        call()
        return time.process_time() - client + self._server() - server

    def _server(self) -> float:
        own = self._postmaster.cpu_times()
        return self._living() + own.user + own.system + own.children_user + own.children_system

    def _living(self) -> float:
        total = 0.0
        try:
            children = self._children.read_text().split()
        except OSError:
            for process in self._postmaster.children():
                with contextlib.suppress(psutil.Error):
                    times = process.cpu_times()
                    total += times.user + times.system
            return total
        for child in children:
            with contextlib.suppress(OSError, IndexError):
                total += int(Path(f"/proc/{child}/schedstat").read_text().split()[0]) / 1e9
        return total


class Timing(NamedTuple):
    """Cost of a question over n questions, in ms: CPU of client and server (mean, 95th percentile) and wall time.

    One client and one backend take turns, so on an idle machine the wall time comes close to the CPU time.
    """

    cpu_ms: float
    cpu_p95_ms: float
    p50_ms: float
    p95_ms: float
    n: int


def time_calls(
    call: Callable[[int], object], count: int, meter: Meter, *, warm: int = 5, seconds: float = 60.0, least: int = 10
) -> Timing:
    """Time ``call(0)`` ... ``call(count - 1)``, after ``warm`` calls that do not count.

    Args:
        call: does the work of one question.
        count: number of questions.
        meter: counts the CPU time.
        warm: calls before the count, so that caches are filled and statements prepared.
        seconds: stop after so long, but not before ``least`` calls.
        least: fewest calls.
    """
    for number in range(min(warm, count)):
        call(number)
    walls: list[float] = []
    costs: list[float] = []
    started = time.perf_counter()

    def timed(number: int) -> None:
        begun = time.perf_counter()
        call(number)
        walls.append(1000 * (time.perf_counter() - begun))

    for number in range(count):
        costs.append(1000 * meter.question(partial(timed, number)))
        if time.perf_counter() - started > seconds and len(walls) >= least:
            break
    p50, p95 = np.percentile(walls, [50, 95])
    return Timing(float(np.mean(costs)), float(np.percentile(costs, 95)), float(p50), float(p95), len(walls))


@contextlib.contextmanager
def benchmark_server() -> Iterator[EmbeddedServer]:
    """A server of its own in a temporary home, with brainkit's settings; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="brainkit-bench-") as home:
        server = EmbeddedServer(Path(home) / "home")
        server.start()
        try:
            with psycopg.connect(server.conninfo("postgres"), autocommit=True) as connection:
                # What a peer leaves to clean up would run while the next one is measured; `settle` does it instead.
                connection.execute("alter system set autovacuum = off")
                connection.execute("select pg_reload_conf()")
            yield server
        finally:
            server.erase()


def new_database(server: EmbeddedServer, name: str) -> str:
    """Make an empty database anew; its connection string for psycopg."""
    with psycopg.connect(server.conninfo("postgres"), autocommit=True) as connection:
        connection.execute(f'drop database if exists "{name}" with (force)'.encode())
        connection.execute(f'create database "{name}"'.encode())
    with psycopg.connect(server.conninfo(name), autocommit=True) as connection:
        connection.execute("create extension if not exists vector")
    return server.conninfo(name)


def settle(conninfo: str) -> None:
    """Vacuum, analyze and checkpoint, as a server does by itself some time after a load."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for statement in _SETTLE:
            connection.execute(statement.encode())


class Size(NamedTuple):
    """Megabytes on disk (or in memory, where a program keeps all there), and the indexes' part, None if not known."""

    total_mb: float
    index_mb: float | None


def database_size(conninfo: str) -> Size:
    """Size of all tables in a database with their indexes."""
    query = """select coalesce(sum(pg_total_relation_size(oid)), 0)::float8,
                      coalesce(sum(pg_indexes_size(oid)), 0)::float8
               from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"""
    with psycopg.connect(conninfo) as connection:
        row = connection.execute(query).fetchone() or (0.0, 0.0)
    return Size(row[0] / 1e6, row[1] / 1e6)


def machine(server: EmbeddedServer) -> dict[str, Any]:
    """What the figures were measured on, and when."""
    with psycopg.connect(server.conninfo("postgres")) as connection:
        offered = connection.execute(
            "select default_version from pg_available_extensions where name = 'vector'"
        ).fetchone()
    versions = {"python": platform.python_version(), "postgresql": server.version}
    versions["pgvector (server)"] = str(offered[0]) if offered else ""
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "load_at_start": round(psutil.getloadavg()[0], 1),
        "versions": versions,
    }


def write_json(path: Path, results: Mapping[str, Any]) -> None:
    """Write results, numbers with no more digits than they mean."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_rounded(results), indent=1, ensure_ascii=False) + "\n", "utf-8")


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, Mapping):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_rounded(inner) for inner in value]
    return value


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A markdown table; the first column is text, the others numbers.

    Example:
        >>> print(table(["way", "ms"], [["a", 1.5]]))
        | way | ms |
        |---|--:|
        | a | 1.5 |
    """
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    shown = ["| " + " | ".join(map(str, line)) + " |" for line in lines]
    shown[1] = shown[1].replace(" ", "")
    return "\n".join(shown)


def number(value: float | None) -> str:
    """Three digits that mean something, so that columns stay readable.

    Example:
        >>> number(0.1234), number(12.34), number(1234.5), number(None)
        ('0.12', '12.3', '1234', '')
    """
    if value is None:
        return ""
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"
