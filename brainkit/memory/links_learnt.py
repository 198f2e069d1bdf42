"""Links learnt from the vectors: documents that are among each other's nearest, above a measured cosine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from psycopg import sql

from brainkit.store import Database

NEAREST: Final = 5
"""So many neighbours of a document are looked at."""
COPY: Final = 0.97
"""From this cosine on two documents are copies of one another and no link."""
CUTS: Final = {"minilm": 0.65}
CUT: Final = 0.65
"""Cosine of two documents' mean vectors from which on they are linked, by embedder, and for any other."""
_VERSION: Final = 1
_BLOCK: Final = 512
_BATCH: Final = 500
_CHUNKS: Final = 40
"""First chunks of a document among which the sections that match best are looked for."""
Progress = Callable[[str, int, int], None]


class _Vectors(NamedTuple):
    """Mean vectors of documents, each of length 1: ids [n], matrix [n, d]."""

    ids: list[UUID]
    matrix: np.ndarray

    def block(self, rows: Sequence[int]) -> np.ndarray:
        """Cosines [len(rows), n]; -2 with itself and with copies."""
        cosines: np.ndarray = self.matrix[rows] @ self.matrix.T
        cosines[np.arange(len(rows)), rows] = -2
        cosines[cosines >= COPY] = -2
        return cosines


def refresh_learnt(
    database: Database, model_id: int, cut: float, *, full: bool = False, progress: Progress | None = None
) -> None:
    """Bring the learnt links up to date; stopped at any moment, the next call goes on.

    A document is searched again when its chunks got other vectors, when one of its neighbours changed or is gone, and
    when a changed one came nearer than its last neighbour: the result is that of searching all of them.

    Args:
        database: an open brain; nobody else may do this at the same time.
        model_id: of the vectors.
        cut: smallest cosine of a link, -1..1.
        full: search all documents again.
        progress: told ("links", documents searched, documents to search).
    """
    table = sql.Identifier(f"vectors_{model_id}")
    keys = _keys(database, table, model_id)
    _forget(database, [key for key in _known(database) if key not in keys])
    known = _known(database)
    changed = {one for one, key in keys.items() if full or known.get(one, ("", True))[0] != key}
    short = {one for one, (_, whole) in known.items() if not whole}
    if changed or short:
        vectors = _means(database, table, keys)
        place = {one: number for number, one in enumerate(vectors.ids)}
        changed &= set(place)
        dirty = ((short | _looking_at(database, changed)) & set(place)) - changed
        others = (
            [] if len(changed) + len(dirty) == len(place) else [p for one, p in place.items() if one not in changed]
        )
        dirty |= _approached(database, vectors, [place[one] for one in changed], others)
        # The changed ones last: until they are written, the next call finds again whom they are near.
        order = [place[one] for part in (dirty - changed, changed) for one in sorted(part)]
        for done in range(0, len(order), _BLOCK):
            rows = order[done : done + _BLOCK]
            _write(database, vectors, rows, keys)
            if progress and (full or len(order) > _BLOCK):
                progress("links", done + len(rows), len(order))
    _link(database, table, cut, changed)


def _keys(database: Database, table: sql.Identifier, model_id: int) -> dict[UUID, str]:
    """What tells a document's vectors from those it had before: a chunk that is stored anew has another id."""
    query = sql.SQL(
        """select c.document_id, max(c.id)::text || ':' || count(*)::text
           from chunks c join {0} v on v.chunk_id = c.id group by 1"""
    ).format(table)
    with database.connection() as connection:
        return {one: f"{_VERSION}:{model_id}:{key}" for one, key in connection.execute(query)}


def _known(database: Database) -> dict[UUID, tuple[str, bool]]:
    """Key and whether all its neighbours are still there, for each document that was searched."""
    query = """select s.document_id, s.vector_key, s.neighbours <= count(n.document_id)
               from link_states s left join link_neighbours n using (document_id)
               where s.vector_key <> '' group by s.document_id"""
    with database.connection() as connection:
        return {one: (key, whole) for one, key, whole in connection.execute(query)}


def _forget(database: Database, ids: list[UUID]) -> None:
    """Documents that have no vector now are nobody's neighbours."""
    if ids:
        with database.connection() as connection, connection.transaction():
            connection.execute(
                "delete from link_neighbours where document_id = any(%(ids)s) or neighbour_id = any(%(ids)s)",
                {"ids": ids},
            )
            connection.execute(
                "update link_states set vector_key = '', neighbours = 0 where document_id = any(%s)", (ids,)
            )


def _means(database: Database, table: sql.Identifier, keys: Mapping[UUID, str]) -> _Vectors:
    query = sql.SQL(
        "select c.document_id, avg(v.embedding) from chunks c join {0} v on v.chunk_id = c.id group by 1 order by 1"
    ).format(table)
    with database.connection() as connection:
        found = [row for row in connection.execute(query, binary=True) if row[0] in keys]
    matrix = np.array([mean.to_numpy() for _, mean in found], np.float32)
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
    return _Vectors([one for one, _ in found], matrix)


def _looking_at(database: Database, changed: set[UUID]) -> set[UUID]:
    """Documents that have one of these among their neighbours."""
    query = "select distinct document_id from link_neighbours where neighbour_id = any(%s)"
    with database.connection() as connection:
        return {one for (one,) in connection.execute(query, (list(changed),))}


def _approached(database: Database, vectors: _Vectors, changed: list[int], others: list[int]) -> set[UUID]:
    """Of the others, those to which a changed document is nearer than their last neighbour."""
    if not changed or not others:
        return set()
    query = """select document_id, min(cosine) from link_neighbours group by 1 having count(*) >= %s"""
    with database.connection() as connection:
        last = dict(connection.execute(query, (NEAREST,)))
    floor = np.array([last.get(vectors.ids[place], -1.0) for place in others], np.float32) - 1e-4
    near = np.zeros(len(others), bool)
    for start in range(0, len(changed), _BLOCK):
        near |= (vectors.block(changed[start : start + _BLOCK])[:, others] >= floor).any(axis=0)
    return {vectors.ids[place] for place, is_near in zip(others, near, strict=True) if is_near}


def _write(database: Database, vectors: _Vectors, rows: list[int], keys: Mapping[UUID, str]) -> None:
    """Search these documents' neighbours, and keep them in one transaction."""
    cosines = vectors.block(rows)
    most = min(NEAREST, len(vectors.ids) - 1)
    best = np.argpartition(-cosines, most, axis=1)[:, :most] if most else np.zeros((len(rows), 0), int)
    found = [
        (vectors.ids[row], vectors.ids[other], float(cosines[number, other]))
        for number, row in enumerate(rows)
        for other in best[number]
        if cosines[number, other] > -2
    ]
    ids = [vectors.ids[row] for row in rows]
    counts = Counter(owner for owner, _, _ in found)
    with database.connection() as connection, connection.transaction():
        connection.execute("delete from link_neighbours where document_id = any(%s)", (ids,))
        connection.execute(
            """insert into link_neighbours select n.a, n.b, n.cosine
               from unnest(%s::uuid[], %s::uuid[], %s::real[]) n (a, b, cosine)
               join documents one on one.id = n.a join documents other on other.id = n.b""",
            tuple(map(list, zip(*found, strict=True))) if found else ([], [], []),
        )
        connection.execute(
            """insert into link_states (document_id, vector_key, neighbours)
               select n.* from unnest(%s::uuid[], %s::text[], %s::int[]) n (id, key, count)
               join documents d on d.id = n.id
               on conflict (document_id) do update
               set (vector_key, neighbours) = (excluded.vector_key, excluded.neighbours)""",
            (ids, [keys[one] for one in ids], [counts[one] for one in ids]),
        )


_WANTED: Final = """
select n.document_id as a, n.neighbour_id as b, n.cosine
from link_neighbours n join link_neighbours back on back.document_id = n.neighbour_id
                                                and back.neighbour_id = n.document_id
where n.document_id < n.neighbour_id and n.cosine >= %(cut)s
  and not exists (select from links l where l.kind <> 'learnt'
                  and ((l.from_id = n.document_id and l.to_id = n.neighbour_id)
                    or (l.from_id = n.neighbour_id and l.to_id = n.document_id)))
"""
_DROP: Final = f"""
with wanted as materialized ({_WANTED})
delete from links l where l.kind = 'learnt'
  and (l.from_id = any(%(changed)s) or l.to_id = any(%(changed)s)
       or not exists (select from wanted w where w.a = l.from_id and w.b = l.to_id and w.cosine = l.weight))
"""  # noqa: S608 - made of constants
_MISSING: Final = f"""
select w.a, w.b, w.cosine from ({_WANTED}) w
where not exists (select from links l where l.kind = 'learnt' and l.from_id = w.a and l.to_id = w.b)
order by 1, 2
"""  # noqa: S608 - made of constants
_ADD: Final = sql.SQL("""
insert into links (from_id, to_id, kind, weight, reason)
select p.a, p.b, 'learnt', p.cosine,
       format('near by their sections %%s and %%s (cosine %%s)', left(coalesce(nullif(s.one, ''), one.title), 80),
              left(coalesce(nullif(s.other, ''), other.title), 80), round(s.cosine::numeric, 2))
from unnest(%(a)s::uuid[], %(b)s::uuid[], %(cosine)s::real[]) p (a, b, cosine)
join documents one on one.id = p.a join documents other on other.id = p.b
cross join lateral (
  select x.heading as one, y.heading as other, 1 - (x.embedding <=> y.embedding) as cosine
  from (select c.heading, v.embedding from chunks c join {table} v on v.chunk_id = c.id
        where c.document_id = p.a order by c.position limit %(chunks)s) x,
       (select c.heading, v.embedding from chunks c join {table} v on v.chunk_id = c.id
        where c.document_id = p.b order by c.position limit %(chunks)s) y
  order by x.embedding <=> y.embedding, 1, 2 limit 1) s
""")


def _link(database: Database, table: sql.Identifier, cut: float, changed: set[UUID]) -> None:
    """Make the learnt links those of mutual neighbours, each with the sections that match best."""
    with database.connection() as connection:
        connection.execute(_DROP, {"cut": cut, "changed": list(changed)})
        missing = connection.execute(_MISSING, {"cut": cut}).fetchall()
        for part in _batches(missing):
            a, b, cosine = map(list, zip(*part, strict=True))
            connection.execute(_ADD.format(table=table), {"a": a, "b": b, "cosine": cosine, "chunks": _CHUNKS})


def _batches(rows: list[tuple[UUID, UUID, float]]) -> Iterator[list[tuple[UUID, UUID, float]]]:
    for start in range(0, len(rows), _BATCH):
        yield rows[start : start + _BATCH]
