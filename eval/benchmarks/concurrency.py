"""Questions a second through one Brain with several threads, and from several processes, on the bundled notes.

    python -m eval.benchmarks.concurrency                              1, 2, 4, 8 threads; 1, 2, 4 processes
    python -m eval.benchmarks.concurrency --embedder wordllama --questions 1000

Every way asks the same number of questions, no wording twice, so that each is embedded anew. Rounds of all ways take
turns, and the best round of each counts: whatever else the machine does can only slow one down. Connections are those
of the database that are open at the end. Writes results/concurrency.json and .md.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg

from brainkit import Brain, Settings
from brainkit.labels import load
from brainkit.store.server import EmbeddedServer
from eval.benchmarks.common import (
    RESULTS,
    Meter,
    benchmark_server,
    machine,
    new_database,
    number,
    table,
    write_json,
)
from eval.benchmarks.report import header

_DATA: Final = Path(__file__).parents[1]
_CALLS: Final = ("recall", "ask")
_WARM: Final = 20


class Rate(NamedTuple):
    """Questions a second, CPU ms of a question (client and server), connections open afterwards."""

    per_second: float
    cpu_ms: float
    connections: int


def connections(conninfo: str) -> int:
    """Connections that others have to a database."""
    with psycopg.connect(conninfo) as connection:
        row = connection.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        ).fetchone()
    return int(row[0]) if row else 0


def with_threads(brain: Brain, conninfo: str, meter: Meter, call: str, threads: int, asked: Sequence[str]) -> Rate:
    """Threads of this process, which ask one brain."""
    with ThreadPoolExecutor(threads) as pool, meter.measure() as spent:
        list(pool.map(getattr(brain, call), asked))
    return _rate(spent[0].wall, spent[0].cpu, len(asked), conninfo)


def with_processes(
    settings: Settings, conninfo: str, meter: Meter, call: str, processes: int, asked: Sequence[str]
) -> Rate:
    """Processes with a brain of their own each, all opened before the clock starts."""
    context = multiprocessing.get_context("spawn")
    ready, done = context.Barrier(processes + 1), context.Barrier(processes + 1)
    told = context.SimpleQueue()
    shares = [asked[number::processes] for number in range(processes)]
    workers = [context.Process(target=_work, args=(settings, call, share, ready, done, told)) for share in shares]
    for worker in workers:
        worker.start()
    ready.wait()
    with meter.measure() as spent:  # the workers, which have not ended yet, tell their part themselves
        cpu = sum(told.get() for _ in workers)
    rate = _rate(spent[0].wall, spent[0].cpu + cpu, len(asked), conninfo)
    done.wait()
    for worker in workers:
        worker.join()
    return rate


def _rate(seconds: float, cpu: float, questions: int, conninfo: str) -> Rate:
    return Rate(questions / seconds, 1000 * cpu / questions, connections(conninfo))


def _work(settings: Settings, call: str, asked: Sequence[str], ready: Any, done: Any, told: Any) -> None:
    with Brain.open(settings) as brain:
        ask = getattr(brain, call)
        for question in asked[:_WARM]:
            ask(f"{question} (warm)")
        ready.wait()
        cpu = time.process_time()
        for question in asked:
            ask(question)
        told.put(time.process_time() - cpu)
        done.wait()


def measure(
    server: EmbeddedServer, settings: Settings, conninfo: str, questions: Sequence[str], options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Rows of the table: the best round of each way to ask."""
    meter, turns = Meter(server), itertools.count()
    with Brain.open(settings) as brain:
        brain.import_paths([options.notes])
        asks: dict[str, tuple[list[int], Callable[[str, int, Sequence[str]], Rate]]] = {
            "threads": (options.threads, partial(with_threads, brain, conninfo, meter)),
            "processes": (options.processes, partial(with_processes, settings, conninfo, meter)),
        }
        ways = [(kind, workers) for kind, (counts, _) in asks.items() for workers in counts]
        for call in _CALLS:
            best: dict[tuple[str, int], Rate] = {}
            list(map(getattr(brain, call), questions[:_WARM]))
            for _, way in itertools.product(range(options.rounds), ways):
                turn = next(turns)
                asked = [f"{questions[n % len(questions)]} ({turn}.{n})" for n in range(options.questions)]
                rate = asks[way[0]][1](call, way[1], asked)
                best[way] = max(rate, best.get(way, rate))
            for (kind, workers), rate in best.items():
                yield {"call": call, "kind": kind, "workers": workers, **rate._asdict()}


def shown(results: dict[str, Any]) -> str:
    """The table."""
    ones = {(row["call"], row["kind"]): row["per_second"] for row in results["rows"] if row["workers"] == 1}
    lines = [
        [
            f"{row['call']}, {row['kind']}: {row['workers']}",
            number(row["per_second"]),
            number(row["per_second"] / ones.get((row["call"], row["kind"]), row["per_second"])),
            number(row["cpu_ms"]),
            row["connections"],
        ]
        for row in results["rows"]
    ]
    columns = ["way", "questions/s", "x one", "CPU ms", "connections"]
    return "\n".join(["# Questions at the same time\n", header(results), table(columns, lines)]) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, write and print the table."""
    about, _, examples = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        prog="python -m eval.benchmarks.concurrency", description=about, epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip

    def counts(text: str) -> list[int]:
        return [int(part) for part in text.split(",")]

    parser.add_argument("--threads", type=counts, default=[1, 2, 4, 8], help="numbers of threads")
    parser.add_argument("--processes", type=counts, default=[1, 2, 4], help="numbers of processes")
    parser.add_argument("--questions", type=int, default=300, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--embedder", default="minilm", choices=("minilm", "wordllama"))
    parser.add_argument("--notes", type=Path, default=_DATA / "corpus", help="folder of notes")
    parser.add_argument("--labels", type=Path, default=_DATA / "questions.jsonl", help="file of labelled questions")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    options = parser.parse_args(argv)
    questions = [label.question for label in load(options.labels)]
    with benchmark_server() as server, tempfile.TemporaryDirectory() as home:
        conninfo = new_database(server, "bench_concurrency")
        url = server.url("bench_concurrency").replace("postgresql+psycopg://", "postgresql://")
        settings = Settings(home=Path(home), database_url=url, embedder=options.embedder)
        results: dict[str, Any] = {"machine": machine(server), "embedder": options.embedder}
        results["note"] = f"{options.embedder}, {options.questions} questions a round, best of {options.rounds} rounds."
        results["rows"] = list(measure(server, settings, conninfo, questions, options))
    write_json(options.out / "concurrency.json", results)
    (options.out / "concurrency.md").write_text(shown(results), "utf-8")
    print(shown(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
