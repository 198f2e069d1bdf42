"""Documents and their chunks: what storing, storing again and removing leave in the tables."""

import datetime as dt
import threading
import uuid

import numpy as np
import psycopg
import pytest

from brainkit.chunking import Chunk
from brainkit.embedding import ModelIdentity
from brainkit.errors import DatabaseError
from brainkit.store import Change, Database, DocumentStore, VectorStore, make_entry
from brainkit.store.documents import document_id
from brainkit.store.vectors import embedding_text


@pytest.fixture
def store(database):
    made = DocumentStore(database)
    made.source_for("/notes")
    return made


def chunks(*texts):
    return [Chunk(n, "", text) for n, text in enumerate(texts)]


def put(store, document, *texts, path="a.md", version="1", source="notes", size=10, mtime_ns=20):
    return store.put(
        source, path, make_entry(document, chunks(*texts)), index_version=version, size=size, mtime_ns=mtime_ns
    )


def rows(database, query, *values):
    with database.connection() as connection:
        return connection.execute(query, values).fetchall()


def test_a_document_comes_back_as_it_was_stored(database, store, make_document):
    when = dt.datetime(2026, 3, 4, 5, 6, tzinfo=dt.UTC)
    document = make_document(
        "# UPS\n\nBattery äöü 日本 \\ ' \" {} %s $1",
        title="UPS",
        tags=("strom", "a,b"),
        links=("Akku.md",),
        ts=when,
        redactions={"password": 2},
        note="decoded as windows-1252",
        full_path="/notes/a.md",
    )
    assert put(store, document, document.content) is Change.INDEXED
    key = document_id("notes", "a.md")
    assert store.contents([key, uuid.uuid4()]) == {key: document.content}
    stored = rows(
        database,
        "select source, path, full_path, title, content_hash, format, language, ts, tags, links, redactions, note,"
        " size, mtime_ns from documents",
    )
    assert stored == [
        ("notes", "a.md", "/notes/a.md", "UPS", document.content_hash, "markdown", "english", when, ["strom", "a,b"],
         ["Akku.md"], {"password": 2}, "decoded as windows-1252", 10, 20)
    ]  # fmt: skip
    assert rows(database, "select position, heading, content from chunks") == [(0, "", document.content)]
    assert store.counts() == {"documents": 1, "chunks": 1, "redactions": 2}


def test_ids_depend_on_source_and_path_alone(store, make_document):
    namespace = uuid.UUID("6f0a4f6e-3f2b-5c59-9d0a-0c7a7d2c5b11")
    assert document_id("notes", "a/b.md") == uuid.uuid5(namespace, "notes\na/b.md")
    assert document_id("notes", "a.md") == document_id("notes", "a.md")
    assert len({document_id(s, p) for s in ("notes", "n") for p in ("a.md", "b.md", "otes\na.md")}) == 6
    put(store, make_document("one"), "one")
    put(store, make_document("two"), "two")
    assert [row.id for row in store.rows().values()] == [document_id("notes", "a.md")]


def test_a_touch_changes_nothing_but_size_time_and_place(database, store, make_document):
    put(store, make_document("pool"), "pool")
    before = rows(database, "select id, indexed_at from documents"), rows(database, "select * from chunks")
    store.touch(document_id("notes", "a.md"), make_document("pool", project="homelab"), size=11, mtime_ns=21)
    assert rows(database, "select project from documents") == [("homelab",)]
    assert before == (rows(database, "select id, indexed_at from documents"), rows(database, "select * from chunks"))
    row = store.rows("notes")["a.md"]
    assert (row.size, row.mtime_ns) == (11, 21)


@pytest.mark.parametrize(("content", "version"), [("other", "1"), ("pool", "2")])
def test_another_text_or_other_rules_replace_all_chunks(database, store, make_document, content, version):
    put(store, make_document("pool"), "one", "two", "three")
    assert put(store, make_document(content), "four", version=version) is Change.REINDEXED
    assert rows(database, "select position, content from chunks") == [(0, "four")]
    assert rows(database, "select count(*) from lexemes") == [(1,)]
    assert store.rows("notes")["a.md"].index_version == version


def test_a_document_without_chunks(database, store, make_document):
    assert put(store, make_document("pool")) is Change.INDEXED
    assert put(store, make_document("tank"), "tank") is Change.REINDEXED
    assert put(store, make_document("none")) is Change.REINDEXED
    assert rows(database, "select count(*) from chunks") == rows(database, "select count(*) from lexemes") == [(0,)]


def test_vectors_of_unchanged_chunks_are_kept_and_of_equal_texts_shared(database, store, make_document):
    vectors = VectorStore(database, ModelIdentity("m", 2, "m"))
    other = VectorStore(database, ModelIdentity("other", 3, "other"))
    put(store, make_document("1"), "stays", "goes")
    vectors.put(vectors.pending(10), np.array([[1, 0], [0, 1]]), {})
    other.put(other.pending(1), np.array([[0, 0, 1]]), {})
    put(store, make_document("2"), "comes", "stays")
    assert [chunk.text for chunk in vectors.pending(10)] == ["comes"]
    assert [chunk.text for chunk in other.pending(10)] == ["comes"]
    assert rows(database, "select embedding::text from vectors_1") == [("[1,0]",)]
    put(store, make_document("3"), "stays", "stays", path="b.md")
    assert vectors.count() == 3
    assert vectors.pending_count() == 1
    held = rows(database, "select c.content from vectors_1 v join chunks c on c.id = v.chunk_id")
    assert held == [("stays",)] * 3


def test_removing_takes_everything_with_it(database, store, make_document):
    vectors = VectorStore(database, ModelIdentity("m", 2, "m"))
    put(store, make_document("1"), "one")
    put(store, make_document("2"), "two", path="b.md")
    vectors.put(vectors.pending(10), np.eye(2), {1: "no"})
    store.remove([document_id("notes", "b.md"), uuid.uuid4()])
    assert rows(database, "select content from chunks") == [("one",)]
    for table in ("lexemes", "vectors_1", "chunks"):
        assert rows(database, f"select count(*) from {table}") == [(1,)]
    store.remove([document_id("notes", "a.md")])
    for table in ("documents", "chunks", "lexemes", "vectors_1", "embedding_failures"):
        assert rows(database, f"select count(*) from {table}") == [(0,)]
    store.remove([])


def test_a_text_that_cannot_be_stored_leaves_the_old_document_whole(database, store, make_document):
    put(store, make_document("old"), "old")
    with pytest.raises(psycopg.DataError, match="NUL"):
        put(store, make_document("new\0"), "new")
    with pytest.raises(UnicodeEncodeError):
        put(store, make_document("new"), "new \ud800")
    assert rows(database, "select d.content, c.content from documents d join chunks c on true") == [("old", "old")]
    assert put(store, make_document("new"), "new") is Change.REINDEXED


def test_two_writers_of_one_document_take_turns(database, database_url, store, make_document):
    from brainkit import Settings

    with Database(Settings(database_url=database_url)) as second:
        stores, errors = [store, DocumentStore(second)], []

        def write(number):
            try:
                for turn in range(8):
                    put(stores[number], make_document(f"{number}.{turn}"), f"{number}.{turn}", f"second {number}")
            except Exception as error:  # shown by the assertion below
                errors.append(error)

        threads = [threading.Thread(target=write, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not errors
    ((content,),) = rows(database, "select content from documents")
    assert rows(database, "select content from chunks order by position") == [(content,), (f"second {content[0]}",)]
    assert rows(database, "select count(*) from lexemes") == [(2,)]


def test_sources_are_named_after_their_folder_and_told_apart(store):
    assert store.source_for("/notes") == ("notes", "")
    assert store.source_for("/notes/deep/er") == ("notes", "deep/er")
    assert store.source_for("/other/notes") == ("notes-2", "")
    assert store.source_for("/third/notes") == ("notes-3", "")
    assert store.source_for("/other/notes") == ("notes-2", "")
    assert store.source_for("/other/notes/x") == ("notes-2", "x")
    assert store.source_for("/notes-2") == ("notes-2-2", "")
    assert store.source_for("/notesdeep") == ("notesdeep", "")
    assert store.source_for("/") == ("root", "")
    assert store.source_for("/elsewhere") == ("root", "elsewhere")


def test_a_folder_around_a_known_one_is_a_source_of_its_own(store):
    assert store.source_for("/a/b") == ("b", "")
    assert store.source_for("/a") == ("a", "")
    assert store.source_for("/a/b/c") == ("b", "c")
    assert store.source_for("/a/d") == ("a", "d")


def test_rows_of_one_source_by_path_and_of_all_by_full_name(store, make_document):
    store.source_for("/more")
    put(store, make_document("1"), path="b.md")
    put(store, make_document("2"), path="a.md")
    put(store, make_document("3"), path="a.md", source="more")
    assert list(store.rows("notes")) == ["a.md", "b.md"]
    assert list(store.rows()) == ["more:a.md", "notes:a.md", "notes:b.md"]
    assert store.rows("none") == {}


def test_holding_finds_a_string_wherever_it_stands(store, make_document):
    fields = {"title": "T-31", "full_path": "/x/P-31", "tags": ("G-31",), "links": ("L-31",)}
    put(store, make_document("C-31 %_", **fields), "K-31", path="N-31.md")
    for text in ("T-31", "P-31", "G-31", "L-31", "C-31", "K-31", "N-31", "C-31 %_"):
        assert store.holding(text) == 1
    for text in ("c-31", "%31", "_-31", "absent"):
        assert store.holding(text) == 0


def test_what_of_a_chunk_is_embedded():
    assert embedding_text("UPS", "Battery", "It is new.") == "UPS\nBattery\nIt is new."
    assert embedding_text("UPS", "UPS > Battery", "It is new.") == "UPS > Battery\nIt is new."
    assert embedding_text("UPS", "UPS", "# UPS\nnew") == "# UPS\nnew"
    assert embedding_text("", "", "new") == "new"


def test_a_database_that_goes_away_is_a_database_error(database, store, make_document):
    def cut():
        with database.connection() as connection:
            connection.execute("select pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(DatabaseError):
        cut()
    assert put(store, make_document("new"), "new") is Change.INDEXED
