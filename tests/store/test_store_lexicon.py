"""The counts behind BM25: document frequencies, lengths, and how often a term stands in a chunk."""

from collections import Counter

import pytest

from brainkit.retrieval import hybrid
from brainkit.store import DocumentStore, document_terms, make_entry
from brainkit.store.lexicon import refresh_lexicon, tsvector_literal


@pytest.fixture
def put(database, make_document):
    from brainkit.chunking import Chunk

    def stored(path, *texts):
        chunks = [Chunk(n, "", text) for n, text in enumerate(texts)]
        document = make_document("\n".join(texts), path=path)
        return DocumentStore(database).put(
            "notes", path, make_entry(document, chunks), index_version="1", size=1, mtime_ns=1
        )

    DocumentStore(database).source_for("/notes")
    return stored


def counted(database):
    with database.connection() as connection:
        return (
            connection.execute("select chunks, mean_length from lexicon").fetchone(),
            {tuple(row[:2]): row[2] for row in connection.execute("select * from lexeme_stats").fetchall()},
        )


def test_term_frequencies_are_read_back_exactly_from_ts_rank(database):
    expression = hybrid._TF.replace("a.query", "query")
    with database.connection() as connection:
        rows = connection.execute(
            f"select n, {expression} from (select n, l::tsvector as tsv, 'it'::tsquery as query "
            "from unnest(%s::int[], %s::text[]) x (n, l)) y",
            (list(range(1, 256)), [tsvector_literal(["other", *["it"] * n, "last"]) for n in range(1, 256)]),
        ).fetchall()
    assert rows == [(n, float(n)) for n in range(1, 256)]


def test_more_than_postgresql_counts_is_taken_as_its_most(database):
    with database.connection() as connection:
        expression = hybrid._TF.replace("a.query", "'it'::tsquery")
        row = connection.execute(
            f"select {expression} from (select %s::tsvector as tsv) x", (tsvector_literal(["it"] * 600),)
        ).fetchone()
    assert row[0] in {255, 256}


def test_counts_by_hand(database, put):
    put("a.md", "the pool tank holds pool data", "a resolver")
    put("b.md", "Der Pool ist die Sicherung und nicht mehr", "resolver tank")
    assert refresh_lexicon(database)
    (chunks, mean), stats = counted(database)
    english = [["pool", "tank", "hold", "pool", "data"], ["resolv"]]
    german = [["pool", "sicher", "mehr"], ["resolv", "tank"]]
    assert chunks == 4
    assert mean == pytest.approx(sum(map(len, english + german)) / 4)
    for language, texts in (("english", english), ("german", german)):
        expected = Counter(term for text in texts for term in set(text))
        assert {term: n for (lang, term), n in stats.items() if lang == language} == expected


def test_nothing_is_counted_twice_over(database, put):
    assert not refresh_lexicon(database)
    put("a.md", "one pool")
    assert refresh_lexicon(database)
    assert not refresh_lexicon(database)
    put("a.md", "two pools")  # as many chunks as before, but others
    assert refresh_lexicon(database)
    assert counted(database)[1] == {("english", "two"): 1, ("english", "pool"): 1}
    DocumentStore(database).remove([row.id for row in DocumentStore(database).rows().values()])
    assert refresh_lexicon(database)
    assert counted(database) == ((0, 0), {})


@pytest.mark.parametrize(("language", "lexeme"), [("", "backup"), ("german", "backups"), ("simple", "backups")])
def test_a_note_that_names_its_language_is_indexed_in_it(make_document, language, lexeme):
    from brainkit.chunking import Chunk

    document = make_document("The backups of the pool and of the disk", language=language)
    entry = make_entry(document, [Chunk(0, "", document.content)])
    assert entry.language == (language or "english")
    assert f"'{lexeme}'" in entry.chunks


def test_lexemes_are_the_terms_of_title_heading_and_text(database, make_document):
    from brainkit.chunking import Chunk

    DocumentStore(database).source_for("/notes")
    document = make_document("Restart k3s-node-02 twice", title="Cluster nest")
    chunks = [Chunk(0, "Nodes > Restarts", "Restart k3s-node-02 twice")]
    DocumentStore(database).put("notes", "a.md", make_entry(document, chunks), index_version="1", size=1, mtime_ns=1)
    text = "Cluster nest\nNodes > Restarts\nRestart k3s-node-02 twice"
    with database.connection() as connection:
        found = connection.execute("select length, tsvector_to_array(tsv) from lexemes").fetchall()
    ((length, lexemes),) = found
    assert length == len(document_terms(text, "english")) == 10
    assert set(lexemes) == {"cluster", "nest", "node", "restart", "k3s-node-02", "k3s", "02", "twice"}
