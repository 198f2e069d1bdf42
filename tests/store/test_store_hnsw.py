"""The approximate index: when it is built, what it finds, and that searches use it."""

import numpy as np
import pytest
from psycopg import sql

from brainkit.embedding import ModelIdentity
from brainkit.retrieval import Filters, RetrievalSettings
from brainkit.retrieval.hybrid import search
from brainkit.store import VectorStore, hnsw
from brainkit.store.hnsw import ENOUGH, IndexState, build_index, index_state, measure_recall, use_index

COUNT, DIMENSIONS = 3000, 16


@pytest.fixture(scope="module")
def filled(new_database):
    """A table of vectors, filled once, and those vectors."""
    from brainkit import Settings
    from brainkit.store import Database

    rng = np.random.default_rng(0)
    points = rng.normal(size=(COUNT, DIMENSIONS))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    with new_database() as url, Database(Settings(database_url=url)) as database:
        vectors = VectorStore(database, ModelIdentity("points", DIMENSIONS, "points"))
        with database.connection() as connection:
            connection.execute("insert into sources values ('notes', '/notes')")
            connection.execute(
                """insert into documents (id, source, path, full_path, title, content, content_hash, format, language,
                                          scrub_version, index_version, size, mtime_ns)
                   select gen_random_uuid(), 'notes', 'half-' || n || '.md', '', '', '', '', 'markdown', 'english', '1',
                          '1', 0, 0 from generate_series(0, 1) n"""
            )
            connection.execute(
                """insert into chunks (document_id, position, heading, content, content_hash)
                   select d.id, n, '', '', '' from documents d, generate_series(1, %s) n order by d.path, n""",
                (COUNT // 2,),
            )
            ids = [row[0] for row in connection.execute("select id from chunks order by id")]
            rows = [(key, str(list(map(float, point)))) for key, point in zip(ids, points, strict=True)]
            with connection.cursor() as cursor:
                insert = sql.SQL("insert into {} values (%s, %s::halfvec)").format(vectors.table)
                cursor.executemany(insert, rows)
        yield database, vectors, dict(zip(ids, points, strict=True))


def first(filled, query, count=30, **more):
    database, vectors, _ = filled
    settings = RetrievalSettings(mode="dense", dense=count)
    return search(database, [], query, vectors.table, settings, **more).chunks


def test_built_above_a_size_measured_and_kept(filled):
    database, vectors, points = filled
    assert index_state(database, vectors) == IndexState(False, 0, 1.0)
    assert build_index(database, vectors, above=COUNT) == IndexState()
    rng = np.random.default_rng(1)
    queries = rng.normal(size=(8, DIMENSIONS))
    exact = [[chunk.chunk_id for chunk in first(filled, query)] for query in queries]
    told = []
    state = build_index(database, vectors, above=COUNT - 1, progress=lambda *given: told.append(given))
    assert (told[0], told[-1]) == (("index", 0, COUNT), ("index", COUNT, COUNT))
    assert state.built
    assert state.recall >= ENOUGH
    stored = index_state(database, vectors)
    assert (stored.built, stored.width, stored.recall) == (True, state.width, pytest.approx(state.recall, abs=1e-4))
    assert build_index(database, vectors, above=0) == stored
    found = [[chunk.chunk_id for chunk in first(filled, query, width=state.width)] for query in queries]
    hits = [len(set(one) & set(other)) / 30 for one, other in zip(exact, found, strict=True)]
    assert np.mean(hits) >= 0.95
    for query, ids in zip(queries, exact, strict=True):
        cosines = {key: point @ query / np.linalg.norm(query) for key, point in points.items()}
        best = sorted(cosines, key=lambda key: -cosines[key])[:30]
        assert len(set(ids) & set(best)) >= 29  # half precision may exchange the last ones


def test_the_planner_takes_the_index_and_it_gives_as_many_as_asked_for(filled):
    database, vectors, _ = filled
    state = build_index(database, vectors, above=0)
    with database.connection() as connection:
        connection.execute("set enable_seqscan = off")  # a table of 3,000 is read faster than an index
        use_index(connection, 40)
        query = sql.SQL(
            "select chunk_id from {} where chunk_id <> all(%s) order by embedding <=> %s::halfvec, chunk_id limit {}"
        )
        vector = str([1.0] * DIMENSIONS)
        for limit in (30, 500):
            statement = query.format(vectors.table, sql.Literal(limit))
            plan = connection.execute(sql.SQL("explain {}").format(statement), ([1], vector)).fetchall()
            assert "vectors_1_hnsw" in str(plan)
            assert len(connection.execute(statement, ([1], vector)).fetchall()) == limit
        connection.execute("reset enable_seqscan")
    assert state.width >= 40
    assert measure_recall(database, vectors, 400, sample=20) >= measure_recall(database, vectors, 40, sample=20) - 0.02


def test_filters_stay_exact(filled):
    _, _, points = filled
    query = np.random.default_rng(2).normal(size=DIMENSIONS)
    found = first(filled, query, 40, width=40, filters=Filters(path="half-1.md"))
    cosines = {key: points[key] @ query for key in sorted(points)[COUNT // 2 :]}
    best = sorted(cosines, key=lambda key: -cosines[key])[:40]
    assert {chunk.document_path for chunk in found} == {"half-1.md"}
    assert len({chunk.chunk_id for chunk in found} & set(best)) >= 38


def test_an_index_that_was_not_measured_is_measured(filled):
    database, vectors, _ = filled
    build_index(database, vectors, above=0)
    with database.connection() as connection:
        connection.execute("comment on index vectors_1_hnsw is null")
    assert index_state(database, vectors) == IndexState(True, 1000, 0.0)
    assert build_index(database, vectors, above=0).recall >= ENOUGH


def test_a_server_without_room_for_it_searches_all_vectors(database, monkeypatch, caplog):
    vectors = VectorStore(database, ModelIdentity("none", 3, "none"))
    failing = "do $$ begin raise exception 'no room for {index} on {table}, {m}, {ef_construction}' using errcode = "
    monkeypatch.setattr(hnsw, "_BUILD", failing + "'53100'; end $$")
    assert build_index(database, vectors, above=-1) == IndexState()
    assert "no room for" in caplog.text
    assert index_state(database, vectors) == IndexState()


def test_an_empty_table(database):
    vectors = VectorStore(database, ModelIdentity("none", 3, "none"))
    assert build_index(database, vectors) == IndexState()
    state = build_index(database, vectors, above=-1)
    assert (state.built, state.recall) == (True, 1.0)
