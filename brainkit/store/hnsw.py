"""The approximate index over vectors (HNSW): built above a size, its search width chosen by measured recall.

Below the size every vector is looked at, which is exact. Source: Malkov and Yashunin 2018, as pgvector has it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Event
from typing import Any, Final, NamedTuple

from psycopg import sql
from psycopg.errors import DiskFull, InsufficientResources, OutOfMemory

from brainkit.errors import DatabaseError
from brainkit.store.database import Connection, Database
from brainkit.store.server.tuning import MB, memory_bytes
from brainkit.store.vectors import VectorStore

BUILD_ABOVE: Final = 50_000
"""Vectors up to which reading all of them takes no longer than some 30 ms."""
ENOUGH: Final = 0.98
"""Recall of the first 30 that is asked of the index."""
WIDTHS: Final = (40, 60, 100, 150, 200, 300, 400, 600, 1000)
NEIGHBOURS: Final = 30
SAMPLE: Final = 50
_MOST_DIMENSIONS: Final = 4000
M: Final = 32
EF_CONSTRUCTION: Final = 200
"""Neighbours of a vector, and how many are weighed to find them. With pgvector's 16 and 64 no width up to 400 found
enough of 100,000 texts' vectors; these take some five times as long to build."""
_BUILD: Final = """create index concurrently if not exists {index} on {table} using hnsw (embedding halfvec_cosine_ops)
                   with (m = {m}, ef_construction = {ef_construction})"""
_MOST_MEMORY_MB: Final = 2048
_LOOK_SECONDS: Final = 0.5
_EXACT: Final = "order by (v.embedding <=> s.embedding) + 0"
_APPROXIMATE: Final = "order by v.embedding <=> s.embedding"
log = logging.getLogger(__name__)


class IndexState(NamedTuple):
    """The index of a vector table.

    Attributes:
        built: whether there is one that can be used.
        width: ``hnsw.ef_search`` to search with; 0 without an index.
        recall: share of the true 30 nearest that it found at that width, when it was built; 1 without an index.
    """

    built: bool = False
    width: int = 0
    recall: float = 1.0


def index_state(database: Database, vectors: VectorStore) -> IndexState:
    """Whether a vector table has an index, and how to search it."""
    query = """select obj_description(c.oid) from pg_class c join pg_index i on i.indexrelid = c.oid
               where c.relname = %s and i.indisvalid and pg_table_is_visible(c.oid)"""
    with database.connection() as connection:
        row = connection.execute(query, (_name(vectors),)).fetchone()
    if row is None:
        return IndexState()
    measured: dict[str, Any] = {}
    with suppress(ValueError, TypeError):  # made by hand, or the build ended before it was measured
        measured = json.loads(row[0])
    return IndexState(True, int(measured.get("width", WIDTHS[-1])), float(measured.get("recall", 0.0)))


def build_index(
    database: Database,
    vectors: VectorStore,
    *,
    above: int = BUILD_ABOVE,
    progress: Callable[[str, int, int], None] | None = None,
) -> IndexState:
    """Build the index if the table is larger than ``above``, and measure it; one that is there is kept.

    Others read and write meanwhile. A build that was cut off is done again; one for which the server has too little
    memory or disk is left, and searches stay exact.

    Args:
        database: the brain's database.
        vectors: whose table.
        above: number of vectors up to which there is nothing to do.
        progress: told ("index", vectors in it, all vectors).
    """
    state = index_state(database, vectors)
    identity = vectors.identity
    if (state.built and state.recall) or identity is None or identity.dimensions > _MOST_DIMENSIONS:
        return state
    count = vectors.count()
    if count <= above:
        return state
    name = sql.Identifier(_name(vectors))
    with database.connection() as connection:
        if not connection.execute("select pg_try_advisory_lock(hashtextextended('brainkit hnsw', 0))").fetchone()[0]:  # type: ignore[index]
            return state  # somebody else is building it
        try:
            if not state.built:
                connection.execute(sql.SQL("drop index if exists {}").format(name))
                memory = _memory_mb(count, identity.dimensions)
                connection.execute(sql.SQL("set maintenance_work_mem = {}").format(sql.Literal(f"{memory}MB")))
                with _watched(database, count, progress):
                    connection.execute(
                        sql.SQL(_BUILD).format(index=name, table=vectors.table, m=M, ef_construction=EF_CONSTRUCTION)
                    )
                connection.execute(sql.SQL("analyze {}").format(vectors.table))
            state = _measured(connection, vectors)
            comment = json.dumps({"width": state.width, "recall": round(state.recall, 4)})
            connection.execute(sql.SQL("comment on index {} is {}").format(name, sql.Literal(comment)))
        except (DiskFull, InsufficientResources, OutOfMemory) as error:
            log.warning("no index over the vectors: %s", error)
            return IndexState()
        finally:
            connection.execute("reset maintenance_work_mem")
            connection.execute("select pg_advisory_unlock(hashtextextended('brainkit hnsw', 0))")
    return state


def use_index(connection: Connection, width: int) -> None:
    """Let a connection search the index ``width`` wide, and further for as long as rows are missing."""
    connection.execute(
        "select set_config('hnsw.ef_search', %s, false), set_config('hnsw.iterative_scan', 'strict_order', false)",
        (str(min(width, WIDTHS[-1])),),
        prepare=True,
    )


def measure_recall(database: Database, vectors: VectorStore, width: int, *, sample: int = SAMPLE) -> float:
    """Share of the 30 nearest that the index finds, 0..1; equally near ones count alike.

    Asked for is what lies between pairs of stored vectors.
    """
    with database.connection() as connection:
        return _recall(connection, vectors, width, sample)


@contextmanager
def _watched(database: Database, count: int, progress: Callable[[str, int, int], None] | None) -> Iterator[None]:
    """Tell how far the server is with building, as it tells itself, until the block ends."""
    ended = Event()

    def watch() -> None:
        told = progress or (lambda *_: None)
        query = "select blocks_done::float8 / nullif(blocks_total, 0) from pg_stat_progress_create_index"
        told("index", 0, count)
        while not ended.wait(_LOOK_SECONDS):
            with suppress(DatabaseError), database.connection() as connection:
                for (share,) in connection.execute(query):
                    told("index", int(count * (share or 0)), count)
        told("index", count, count)

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        try:
            yield
        finally:
            ended.set()
    watching.result()


def _memory_mb(vectors: int, dimensions: int) -> int:
    """What the graph takes while it is built, up to a quarter of the machine's memory: beyond, building crawls."""
    needed = 1.3 * vectors * (2 * dimensions + 2 * M * 16 + 100) / MB
    return int(min(max(64, needed), _MOST_MEMORY_MB, memory_bytes() / 4 / MB))


def _measured(connection: Connection, vectors: VectorStore) -> IndexState:
    """The narrowest search that finds enough, or the widest there is."""
    state = IndexState(True)
    for width in WIDTHS:
        state = IndexState(True, width, _recall(connection, vectors, width, SAMPLE))
        if state.recall >= ENOUGH:
            break
    return state


def _recall(connection: Connection, vectors: VectorStore, width: int, sample: int) -> float:
    use_index(connection, width)
    # Questions lie farther from the chunks than these from each other, as does what is half one and half another;
    # hashes of the ids pick the same ones every time. The farthest of the true neighbours bounds what counts.
    query = sql.SQL(
        """
        with asked as materialized (
          select number, one.embedding + other.embedding as embedding
          from (select embedding, row_number() over (order by hashint8(chunk_id), chunk_id) as number
                from {table} order by number limit %(sample)s) one
          join (select embedding, row_number() over (order by hashint8(-chunk_id), chunk_id) as number
                from {table} order by number limit %(sample)s) other using (number)
        ), exact as (
          select s.number, n.total, n.farthest from asked s cross join lateral (
            select count(*) as total, max(distance) as farthest
            from (select v.embedding <=> s.embedding as distance from {table} v {exact} limit %(k)s) x) n
        )
        select coalesce(sum(least(f.found, e.total))::float8 / nullif(sum(e.total), 0), 1)
        from asked s join exact e using (number) cross join lateral (
          select count(*) filter (where distance <= e.farthest + 1e-7) as found
          from (select v.embedding <=> s.embedding as distance from {table} v {approximate} limit %(k)s) x) f"""
    ).format(table=vectors.table, exact=sql.SQL(_EXACT), approximate=sql.SQL(_APPROXIMATE))
    row = connection.execute(query, {"sample": sample, "k": NEIGHBOURS}).fetchone()
    return float(row[0]) if row else 1.0


def _name(vectors: VectorStore) -> str:
    return f"vectors_{vectors.model_id}_hnsw"
