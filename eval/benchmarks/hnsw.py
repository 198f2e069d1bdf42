"""Exact search against HNSW on halfvec: from which size on the index pays, and which ef_search is enough.

    python -m eval.benchmarks.hnsw                            10,000 and 100,000 vectors of real, varied text
    python -m eval.benchmarks.hnsw --sizes 500000 --ef 40,100,200,400 --m 24 --construction 128

recall@30 counts a vector as found when it is no further away than the thirtieth of the exact search, so equal
distances do not count against the index. Questions are those of the question sets; vectors are wordllama's.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from brainkit.store.hnsw import EF_CONSTRUCTION, M
from eval.benchmarks.common import (
    RESULTS,
    Meter,
    benchmark_server,
    machine,
    new_database,
    number,
    settle,
    table,
    time_calls,
    write_json,
)
from eval.benchmarks.corpus import embed, mixed_questions, real_chunks, varied
from eval.benchmarks.report import header

_TOP = 30
_EPSILON = 1e-6
_SEARCH = "select id, embedding <=> %s as distance from vectors order by distance limit 30"

Connection = psycopg.Connection[tuple[Any, ...]]


def fill(connection: Connection, vectors: np.ndarray) -> None:
    """The narrow table of vectors, as brainkit keeps it."""
    connection.execute(
        f"create table vectors (id bigint primary key, embedding halfvec({vectors.shape[1]}) storage plain)".encode()
    )
    with connection.cursor().copy("copy vectors from stdin with (format binary)") as copy:
        copy.set_types(["int8", "halfvec"])
        for row, vector in enumerate(vectors):
            copy.write_row((row, HalfVector(vector)))


def compare(
    conninfo: str,
    vectors: np.ndarray,
    asked: np.ndarray,
    meter: Meter,
    searches: Sequence[int],
    m: int,
    construction: int,
) -> dict[str, Any]:
    """Cost of an exact search, of building the index, then cost and recall for each ef_search."""
    questions = [HalfVector(vector) for vector in asked]
    with psycopg.connect(conninfo, autocommit=True) as connection:
        register_vector(connection)
        fill(connection, vectors)
        settle(conninfo)
        connection.execute("set max_parallel_workers_per_gather = 0")

        def ask(n: int) -> list[tuple[int, float]]:
            return connection.execute(_SEARCH, (questions[n],), prepare=True).fetchall()

        truth = [[distance for _, distance in ask(n)][-1] for n in range(len(questions))]
        exact = time_calls(ask, len(questions), meter)
        with meter.measure() as build:
            connection.execute(
                "create index vectors_hnsw on vectors using hnsw (embedding halfvec_cosine_ops) "
                f"with (m = {m}, ef_construction = {construction})".encode()
            )
        row = connection.execute("select pg_relation_size('vectors_hnsw')::float8").fetchone()
        found = []
        for ef in searches:
            connection.execute(f"set hnsw.ef_search = {ef}".encode())
            recalls = [
                sum(distance <= truth[n] + _EPSILON for _, distance in ask(n)) / min(_TOP, len(vectors))
                for n in range(len(questions))
            ]
            timing = time_calls(ask, len(questions), meter)
            found.append({"ef": ef, "recall": float(np.mean(recalls)), "worst": min(recalls), **timing._asdict()})
    return {
        "size": len(vectors), "dimensions": vectors.shape[1], "m": m, "ef_construction": construction,
        "exact": exact._asdict(), "build_s": build[0].wall, "build_cpu_s": build[0].cpu,
        "index_mb": (row[0] if row else 0) / 1e6, "hnsw": found,
    }  # fmt: skip


def shown(results: dict[str, Any]) -> str:
    """The table."""
    costs = ("cpu_ms", "cpu_p95_ms", "p50_ms", "p95_ms")
    lines = []
    for of in results["sizes"]:
        size, exact = f"{of['size']:,}", [number(of["exact"][cost]) for cost in costs]
        lines.append([size, "exact", "1", "1", *exact, "", ""])
        for row in of["hnsw"]:
            way = f"m={of['m']}, ef_construction={of['ef_construction']}, ef_search={row['ef']}"
            recall = [f"{row['recall']:.3f}", f"{row['worst']:.2f}"]
            built = [number(of["build_s"]), number(of["index_mb"])]
            lines.append([size, way, *recall, *(number(row[cost]) for cost in costs), *built])
    measures = ["recall@30", "of the worst question", "CPU ms", "CPU p95 ms", "p50 ms", "p95 ms", "build s", "index MB"]
    columns = ["vectors", "way", *measures]
    return "\n".join(["# Exact search and HNSW\n", header(results), table(columns, lines)]) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure each size, write and print the table."""
    about, _, examples = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        prog="python -m eval.benchmarks.hnsw", description=about, epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--sizes", default="10000,100000", help="numbers of vectors")
    parser.add_argument("--ef", default="40,60,100,200,400", help="values of hnsw.ef_search")
    parser.add_argument("--construction", type=int, default=EF_CONSTRUCTION, help="ef_construction")
    parser.add_argument("--m", type=int, default=M, help="neighbours of a node")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    options = parser.parse_args(argv)
    sizes, searches = ([int(n) for n in text.split(",")] for text in (options.sizes, options.ef))
    texts = real_chunks()
    asked = embed(mixed_questions(options.questions), "wordllama")
    vectors = embed([piece.text for piece in varied(texts, max(sizes))], "wordllama")
    with benchmark_server() as server:
        results: dict[str, Any] = {"machine": machine(server), "sizes": []}
        for size in sorted(sizes):
            conninfo = new_database(server, "bench_hnsw")
            results["sizes"].append(
                compare(conninfo, vectors[:size], asked, Meter(server), searches, options.m, options.construction)
            )
            write_json(options.out / "hnsw.json", results)
            (options.out / "hnsw.md").write_text(shown(results), "utf-8")
    print(shown(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
