"""Postings say of every common lexeme what the chunks themselves say, whatever came, went or broke off."""

import random
from collections import Counter, defaultdict

import pytest

from brainkit.chunking import Chunk
from brainkit.store import DocumentStore, document_terms, make_entry, postings
from brainkit.store.lexicon import refresh_lexicon

WORDS = ["pool", "tank", "disk", "backup", "resolver", "router", "battery", "mirror"]


@pytest.fixture
def store(database, monkeypatch):
    monkeypatch.setattr(postings, "COMMON", 12)
    with database.connection() as connection:
        connection.execute("alter table chunks alter id restart with 2030")  # the first block ends soon
    store = DocumentStore(database)
    store.source_for("/notes")
    return store


@pytest.fixture
def put(store, make_document):
    rng = random.Random(4)

    def stored(number, text=None):
        parts = [text or " ".join(rng.choices(WORDS, range(1, 9), k=rng.randint(1, 30))) for _ in range(2)]
        document = make_document("\n".join(parts), path=f"{number}.md")
        entry = make_entry(document, [Chunk(n, "", part) for n, part in enumerate(parts)])
        store.put("notes", document.path, entry, index_version="1", size=1, mtime_ns=1)

    return stored


def kept(database):
    """{lexeme: {chunk: (how often, length of the chunk)}} as the postings have it; only English was put in."""
    found = defaultdict(dict)
    with database.connection() as connection:
        for lexeme, block, chunks in connection.execute("select lexeme, block, chunks from postings").fetchall():
            for chunk in chunks:
                assert (chunk >> 24) // 2048 == block
                found[lexeme][chunk >> 24] = (chunk >> 16 & 255, chunk & 65535)
    return dict(found)


def counted(database):
    """The same by counting words in the texts."""
    found = defaultdict(dict)
    with database.connection() as connection:
        rows = connection.execute("select c.id, c.content from chunks c").fetchall()
        common = {row[0] for row in connection.execute("select lexeme from common_lexemes").fetchall()}
    for chunk, content in rows:
        terms = document_terms(content, "english")
        for term, times in Counter(terms).items():
            if term in common:
                found[term][chunk] = (times, len(terms))
    return dict(found)


def unposted(database):
    with database.connection() as connection:
        return {row[0] for row in connection.execute("select block from unposted").fetchall()}


def test_postings_are_what_the_texts_hold(database, store, put):
    for number in range(30):
        put(number)
    assert unposted(database) == {0, 1}
    assert refresh_lexicon(database)
    assert len(kept(database)) >= 6
    assert kept(database) == counted(database)
    assert unposted(database) == set()


def test_changed_and_removed_documents(database, store, put):
    for number in range(30):
        put(number)
    refresh_lexicon(database)
    put(29)  # another text, other chunks
    assert unposted(database) == {1}
    refresh_lexicon(database)
    assert kept(database) == counted(database)
    rows = store.rows()
    store.remove([row.id for row in list(rows.values())[:20]])
    refresh_lexicon(database)
    assert kept(database) == counted(database)
    store.remove([row.id for row in store.rows().values()])
    refresh_lexicon(database)
    with database.connection() as connection:
        for table in ("postings", "common_lexemes", "unposted"):
            assert connection.execute(f"select count(*) from {table}").fetchone() == (0,)


def test_rare_lexemes_have_none_and_a_handful_more_common_ones_changes_nothing(database, store, put, monkeypatch):
    for number in range(30):
        put(number)
    put(30, "zeppelin")
    refresh_lexicon(database)
    assert "zeppelin" not in kept(database)
    common = set(kept(database))
    monkeypatch.setattr(postings, "COMMON", 3)
    put(31, "zeppelin")  # now in four chunks, and one more than a tenth of what is common
    refresh_lexicon(database)
    assert set(kept(database)) > common
    assert "zeppelin" in kept(database)
    assert kept(database) == counted(database)


def test_more_than_two_bytes_count_is_kept_as_the_most(database, store, put):
    put(0, "tank " * 600)
    for number in range(1, 10):
        put(number, "tank")
    refresh_lexicon(database)
    first = min(kept(database)["tank"])
    assert kept(database)["tank"][first] == (255, 600)  # PostgreSQL keeps 255 positions of a lexeme


def test_broken_off_at_any_block_the_rest_is_done_by_the_next(database, store, put, monkeypatch):
    monkeypatch.setattr(postings, "_TOGETHER", 1)
    for number in range(30):
        put(number)
    make, done = postings._make, []

    def breaking(connection, blocks):
        if done:
            raise KeyboardInterrupt
        done.append(blocks)
        make(connection, blocks)

    monkeypatch.setattr(postings, "_make", breaking)
    with pytest.raises(KeyboardInterrupt):
        refresh_lexicon(database)
    assert unposted(database) == {1}
    assert set().union(*map(set, kept(database).values())) == {
        c for w in counted(database).values() for c in w if c < 2048
    }
    monkeypatch.setattr(postings, "_make", make)
    assert not refresh_lexicon(database)  # the counts were made already
    assert kept(database) == counted(database)


def test_chunk_ids_beyond_32_bits(database, store, put):
    with database.connection() as connection:
        connection.execute("alter table chunks alter id restart with 5000000000")
    for number in range(30):
        put(number)
    refresh_lexicon(database)
    assert len(kept(database)) >= 6
    assert kept(database) == counted(database)
