"""Vectors: a table for each model, what is pending, what failed."""

import concurrent.futures

import numpy as np
import pytest

from brainkit.chunking import Chunk
from brainkit.embedding import ModelIdentity
from brainkit.errors import DimensionMismatchError
from brainkit.store import DocumentStore, VectorStore, make_entry


@pytest.fixture
def put(database, make_document):
    store = DocumentStore(database)
    store.source_for("/notes")

    def stored(path, *texts):
        chunks = [Chunk(n, "", text) for n, text in enumerate(texts)]
        document = make_document("\n".join(texts), path=path)
        store.put("notes", path, make_entry(document, chunks), index_version="1", size=1, mtime_ns=1)

    return stored


@pytest.fixture
def vectors(database):
    return VectorStore(database, ModelIdentity("small", 3, "small-1"))


def rows(database, query):
    with database.connection() as connection:
        return connection.execute(query).fetchall()


def texts(pending):
    return [chunk.text for chunk in pending]


def test_one_table_for_each_model(database, put):
    put("a.md", "one")
    small, large = (VectorStore(database, ModelIdentity(f"m{n}", n, f"f{n}")) for n in (3, 384))
    again = VectorStore(database, ModelIdentity("renamed", 3, "f3"))
    assert small.table != large.table
    assert again.table == small.table
    assert rows(database, "select id, name, dimensions, fingerprint from embedding_models order by 1") == [
        (1, "m3", 3, "f3"),
        (2, "m384", 384, "f384"),
    ]
    small.put(small.pending(9), np.ones((1, 3)), {})
    assert (small.pending_count(), large.pending_count()) == (0, 1)
    assert (small.count(), large.count(), again.count()) == (1, 0, 1)


def test_many_processes_that_meet_a_new_model_make_one_table(database):
    identity = ModelIdentity("m", 5, "f5")
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: VectorStore(database, identity), range(6)))
    assert len({store.model_id for store in stores}) == 1
    assert rows(database, "select count(*) from pg_tables where tablename like 'vectors%'") == [(1,)]


def test_a_model_that_changed_its_dimension_is_refused(database, vectors):
    with pytest.raises(DimensionMismatchError, match="small gives 4 dimensions, this brain holds 3"):
        VectorStore(database, ModelIdentity("small", 4, "small-1"))


@pytest.mark.parametrize("dimensions", [1, 256, 384, 1024, 4000, 4096, 8192])
def test_vectors_of_any_usual_dimension_fit(database, put, dimensions):
    put("a.md", "one")
    store = VectorStore(database, ModelIdentity("m", dimensions, str(dimensions)))
    vector = np.random.default_rng(0).normal(size=dimensions)
    store.put(store.pending(1), vector[None], {})
    ((read,),) = rows(database, f"select embedding from vectors_{store.model_id}")
    assert np.asarray(read.to_list()) == pytest.approx(vector, rel=1e-3, abs=1e-3)


def test_pending_gives_each_text_once_with_all_its_chunks(database, put, vectors):
    put("a.md", "one", "two", "one")
    put("b.md", "two", "three")
    found = vectors.pending(10)
    assert texts(found) == ["one", "two", "three"]
    ids = dict(rows(database, "select array_agg(id order by id)::text, content from chunks group by content"))
    assert {
        str(chunk.chunk_ids).replace(" ", "").replace("[", "{").replace("]", "}"): chunk.text for chunk in found
    } == ids
    assert vectors.pending_count() == 5
    vectors.put(found, np.eye(3), {})
    assert vectors.pending(10) == []
    assert vectors.count() == 5


def test_pending_in_batches_never_gives_a_text_twice(put, vectors):
    put("a.md", "one", "two", "three", "one", "two", "four", "one")
    seen, after = [], 0
    while batch := vectors.pending(2, after=after):
        seen += texts(batch)
        after = batch[-1].chunk_ids[0]
    assert seen == ["one", "two", "three", "four"]


def test_title_and_headings_make_texts_different(database, put, vectors, make_document):
    store = DocumentStore(database)
    for path, title in (("a.md", "UPS"), ("b.md", "UPS"), ("c.md", "NAS")):
        entry = make_entry(make_document("x", title=title), [Chunk(0, "", "new")])
        store.put("notes", path, entry, index_version="1", size=1, mtime_ns=1)
    assert [(chunk.text, len(chunk.chunk_ids)) for chunk in vectors.pending(9)] == [("UPS\nnew", 2), ("NAS\nnew", 1)]


def test_failures_are_counted_kept_back_and_tried_again_on_request(database, put, vectors):
    put("a.md", "good", "bad", "bad")
    for attempt in (1, 2, 3):
        pending = vectors.pending(10)
        index = texts(pending).index("bad")
        vectors.put(pending, np.full((len(pending), 3), 0.5), {index: f"reason {attempt}"})
        assert rows(database, "select distinct attempts, error from embedding_failures") == [
            (attempt, f"reason {attempt}")
        ]
    assert rows(database, "select count(*) from embedding_failures") == [(2,)]
    assert vectors.pending(10) == []
    assert vectors.pending_count() == 2
    again = vectors.pending(10, retry=True)
    assert [(chunk.text, len(chunk.chunk_ids)) for chunk in again] == [("bad", 2)]
    vectors.put(again, np.ones((1, 3)), {})
    assert rows(database, "select count(*) from embedding_failures") == [(0,)]
    assert vectors.pending_count() == 0


def test_failures_of_one_model_do_not_hold_back_another(database, put, vectors):
    put("a.md", "bad")
    for _ in range(3):
        vectors.put(vectors.pending(1), np.full((1, 3), np.nan), {0: "no"})
    other = VectorStore(database, ModelIdentity("other", 2, "other"))
    assert texts(other.pending(1)) == ["bad"]


def test_what_a_server_says_may_hold_anything(database, put, vectors):
    put("a.md", "bad")
    vectors.put(vectors.pending(1), np.full((1, 3), np.nan), {0: "no\0 \ud800" + "x" * 9000})
    ((error,),) = rows(database, "select error from embedding_failures")
    assert error.startswith("no ?x")
    assert len(error) == 500


def test_chunks_removed_while_they_were_embedded_are_passed_over(database, put, vectors):
    put("a.md", "goes", "bad goes")
    put("b.md", "stays", "goes")
    pending = vectors.pending(10)
    DocumentStore(database).remove([DocumentStore(database).rows("notes")["a.md"].id])
    vectors.put(pending, np.eye(3), {texts(pending).index("bad goes"): "no"})
    assert rows(database, "select c.content from vectors_1 v join chunks c on c.id = v.chunk_id order by 1") == [
        ("goes",),
        ("stays",),
    ]
    assert rows(database, "select count(*) from embedding_failures") == [(0,)]


def test_vectors_stored_twice_stay_the_first(database, put, vectors):
    put("a.md", "one")
    pending = vectors.pending(1)
    vectors.put(pending, np.array([[1.0, 0, 0]]), {})
    vectors.put(pending, np.array([[0, 1.0, 0]]), {})
    assert rows(database, "select embedding::text from vectors_1") == [("[1,0,0]",)]


def test_nothing_to_store(vectors):
    vectors.put([], np.empty((0, 3)), {})
    assert vectors.count() == 0
    assert vectors.pending(5) == []
