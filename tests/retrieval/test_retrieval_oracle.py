"""Scores, ranks and fusion of the one statement against textbook formulas, worked out here in numpy."""

from typing import NamedTuple

import numpy as np
import pytest

from brainkit import Settings
from brainkit.chunking import Chunk
from brainkit.embedding import ModelIdentity
from brainkit.retrieval import RetrievalSettings, hybrid
from brainkit.retrieval.hybrid import search
from brainkit.store import (
    Database,
    DocumentStore,
    VectorStore,
    detect_language,
    document_terms,
    make_entry,
    postings,
    question_terms,
)
from brainkit.store.documents import document_id
from brainkit.store.lexicon import quoted, refresh_lexicon
from brainkit.store.vectors import embedding_text

DIMENSIONS = 24
MOST_ROWS = hybrid.MOST_ROWS
ENGLISH = [
    "pool",
    "tank",
    "disk",
    "backup",
    "restore",
    "resolver",
    "router",
    "battery",
    "heat",
    "pump",
    "filter",
    "mirror",
    "serial",
    "port",
]
GERMAN = [
    "Sicherung",
    "Platte",
    "Wärmepumpe",
    "Zähler",
    "Rechnung",
    "Straße",
    "Häuser",
    "Heizung",
    "Dachboden",
    "Filter",
    "Router",
]
NAMES = [
    "INV/2026/00037",
    "10.0.0.7",
    "/etc/nginx/nginx.conf",
    "k3s-node-02",
    "maxRows",
    "backup_dir",
    "http://10.0.0.7/",
]
QUESTIONS = [
    "Where is the backup of pool tank?",
    "Wo ist die Sicherung der Platte im Dachboden?",
    "INV/2026/00037",
    "nginx.conf on 10.0.0.7",
    "router router routers Router",
    "heat pump filter of the unheard-of zeppelin",
    "zeppelin",
    " ".join(ENGLISH + GERMAN + NAMES),
]


class World(NamedTuple):
    """A filled database and, beside it, what the oracle needs to know of each chunk."""

    database: object
    vectors: VectorStore
    ids: np.ndarray
    documents: list
    tokens: list
    languages: list
    embeddings: np.ndarray


def random_text(rng):
    words = ENGLISH + NAMES[:4] if rng.random() < 0.6 else GERMAN + NAMES[3:]
    filler = "the is of and" if words[0] == "pool" else "die ist und der"
    size = int(rng.integers(1, 60))
    weights = 1 / np.arange(1, len(words) + 1)
    chosen = rng.choice(words, size=size, p=weights / weights.sum())
    return " ".join(word for pair in zip(chosen, rng.choice(filler.split(), size=size), strict=True) for word in pair)


def fill(database, make_document, documents=220, seed=0, embedded=0.9):
    rng = np.random.default_rng(seed)
    store = DocumentStore(database)
    store.source_for("/notes")
    vectors = VectorStore(database, ModelIdentity("oracle", DIMENSIONS, "oracle"))
    owners, tokens, languages, texts = [], [], [], []
    for number in range(documents):
        parts = [random_text(rng) for _ in range(int(rng.integers(1, 4)))]
        if number % 10 == 9:
            parts = texts[-1]  # a copy of the document before: its scores tie
        texts.append(parts)
        content, title = "\n".join(parts), ["", "Router", "Heizung"][number % 3] if number % 10 < 8 else ""
        path = f"{number:04}.md"
        document = make_document(content, path=path, title=title)
        chunks = [Chunk(n, "", part) for n, part in enumerate(parts)]
        store.put("notes", path, make_entry(document, chunks), index_version="1", size=1, mtime_ns=1)
        language = detect_language(content)
        for part in parts:
            owners.append(document_id("notes", path))
            tokens.append(document_terms(embedding_text(title, "", part), language))
            languages.append(language)
    refresh_lexicon(database)
    with database.connection() as connection:
        found = connection.execute("select id from chunks order by id").fetchall()
    ids = np.array([row[0] for row in found])
    embeddings = np.full((len(ids), DIMENSIONS), np.nan)
    after = 0
    while batch := vectors.pending(100, after=after):
        after = batch[-1].chunk_ids[0]
        keep = [chunk for chunk in batch if rng.random() < embedded]
        given = rng.normal(size=(len(keep), DIMENSIONS))
        given /= np.linalg.norm(given, axis=1, keepdims=True)
        vectors.put(keep, given, {})
        for chunk, vector in zip(keep, given, strict=True):
            embeddings[np.searchsorted(ids, chunk.chunk_ids)] = vector
    return World(database, vectors, ids, owners, tokens, languages, embeddings)


@pytest.fixture(scope="module", params=["no postings", "postings", "postings of some blocks"])
def world(request, new_database, make_document):
    """Filled once: the tests that use it only ask. Chunks lie in two blocks of postings."""
    with new_database() as url, Database(Settings(database_url=url)) as database, pytest.MonkeyPatch.context() as patch:
        with database.connection() as connection:
            connection.execute("alter table chunks alter id restart with 1900")
        patch.setattr(postings, "COMMON", 10**6 if request.param == "no postings" else 40)
        filled = fill(database, make_document)
        assert {int(key) // postings.BLOCK for key in filled.ids} == {0, 1}
        with database.connection() as connection:
            found = connection.execute("select count(distinct lexeme), count(distinct block) from postings").fetchone()
            assert found == (0, 0) if request.param == "no postings" else found[0] > 10 and found[1] == 2
            if request.param.endswith("blocks"):
                connection.execute("insert into unposted values (1)")
        yield filled


class Bm25(NamedTuple):
    scores: np.ndarray
    shares: np.ndarray
    idf: np.ndarray
    tf: np.ndarray


def bm25(world, terms, present=None, k1=0.9, b=0.4):
    """Robertson & Zaragoza 2009, equation 3.15, with Lucene's idf, over the chunks that are ``present``."""
    present = np.ones(len(world.ids), bool) if present is None else present
    lengths = np.array([len(tokens) for tokens in world.tokens], float)
    mean = lengths[present].mean() if present.any() else 1.0
    tf = np.array(
        [
            [tokens.count(getattr(term, language)) for term in terms]
            for tokens, language in zip(world.tokens, world.languages, strict=True)
        ],
        float,
    ).reshape(len(world.ids), len(terms))
    df = (tf[present] > 0).sum(axis=0)
    idf = np.log(1 + (present.sum() - df + 0.5) / (df + 0.5))
    weight = tf * (k1 + 1) / (tf + k1 * (1 - b + b * lengths[:, None] / mean))
    scores = (weight * idf).sum(axis=1)
    return Bm25(scores, scores / ((k1 + 1) * idf.sum()) if len(terms) else scores, idf, tf)


def unit(seed):
    vector = np.random.default_rng(seed).normal(size=DIMENSIONS)
    return vector / np.linalg.norm(vector)


def ask(world, question, string, *, vector=None, exclude=()):
    found = search(
        world.database, question_terms(question), vector, world.vectors.table, RetrievalSettings.parse(string), exclude
    )
    position = {int(key): n for n, key in enumerate(world.ids)}
    return found, [position[chunk.chunk_id] for chunk in found.chunks]


def expected_order(scores, eligible, ids, count):
    """Best first, ties by id, to nine digits: sums in another order differ in the last ones."""
    order = [n for n in np.lexsort((ids, -np.round(scores, 9))) if eligible[n]]
    return order[:count]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("rows", [MOST_ROWS, 40, 0])
def test_bm25(world, question, rows, monkeypatch):
    monkeypatch.setattr(hybrid, "MOST_ROWS", rows)
    terms = question_terms(question)
    oracle = bm25(world, terms)
    found, positions = ask(world, question, "lexical(50)")
    assert [found.idf[n] for n in range(len(terms))] == pytest.approx(list(oracle.idf), abs=1e-9)
    assert len(found.unknown) == int((oracle.tf.sum(axis=0) == 0).sum())
    for chunk, position in zip(found.chunks, positions, strict=True):
        assert chunk.lexical_share == pytest.approx(oracle.shares[position], abs=1e-6)
        assert chunk.score == chunk.lexical_share
        assert chunk.document_id == world.documents[position]
        assert chunk.matched == frozenset(np.flatnonzero(oracle.tf[position]))
    assert [chunk.lexical_rank for chunk in found.chunks] == list(range(1, len(positions) + 1))
    matching = oracle.scores > 0
    if rows == MOST_ROWS:
        assert positions == expected_order(oracle.scores, matching, world.ids, 50)
    else:  # fewer chunks are looked at, but those with the rarest of the known terms always are
        df = (oracle.tf > 0).sum(axis=0)
        rarest = int(np.argmin(np.where(df > 0, df, 10**9)))
        assert len(positions) >= min(50, df[rarest])
        looked_at = np.isin(np.arange(len(world.ids)), positions)
        assert positions == expected_order(oracle.scores, looked_at, world.ids, 50)


def test_dense_ranks_and_cosines(world):
    for seed in range(3):
        vector = unit(seed)
        found, positions = ask(world, "", "dense(40)", vector=vector)
        cosines = world.embeddings @ vector
        embedded = ~np.isnan(cosines)
        assert [chunk.cosine for chunk in found.chunks] == pytest.approx(list(cosines[positions]), abs=1e-3)
        assert [chunk.score for chunk in found.chunks] == [chunk.cosine for chunk in found.chunks]
        best = sorted(cosines[embedded], reverse=True)[:40]
        assert list(cosines[positions]) == pytest.approx(best, abs=2e-3)
        assert [chunk.dense_rank for chunk in found.chunks] == list(range(1, 41))
        assert all(chunk.lexical_rank is None and chunk.channel == "dense" for chunk in found.chunks)


FUSIONS = [
    ("hybrid(dense=20,lexical=25,fusion=convex,alpha=0.5)", {"alpha": 0.5}),
    ("hybrid(dense=20,lexical=25,fusion=convex,alpha=0)", {"alpha": 0}),
    ("hybrid(dense=20,lexical=25,fusion=convex,alpha=1)", {"alpha": 1}),
    ("hybrid(dense=20,lexical=25,fusion=rrf,k=60)", {"k": 60, "wd": 1, "wl": 1}),
    ("hybrid(dense=20,lexical=25,fusion=rrf,k=7,wd=2,wl=0.5)", {"k": 7, "wd": 2, "wl": 0.5}),
    ("hybrid(dense=20,lexical=25,fusion=rrf,k=60,rank=ts_rank)", {"k": 60, "wd": 1, "wl": 1}),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_fusion_by_hand(world, question):
    vector = unit(7)
    oracle = bm25(world, question_terms(question))
    cosines = world.embeddings @ vector
    for string, p in FUSIONS:
        found, positions = ask(world, question, string, vector=vector)
        for chunk, position in zip(found.chunks, positions, strict=True):
            # Every candidate has its exact score from both channels, whichever brought it.
            assert chunk.lexical_share == pytest.approx(oracle.shares[position], abs=1e-6)
            if np.isnan(cosines[position]):
                assert chunk.cosine is None
            else:
                assert chunk.cosine == pytest.approx(cosines[position], abs=1e-3)
            if "alpha" in p:
                score = p["alpha"] * (chunk.cosine or 0) + (1 - p["alpha"]) * chunk.lexical_share
            else:
                ranks = ((chunk.dense_rank, p["wd"]), (chunk.lexical_rank, p["wl"]))
                score = sum(weight / (p["k"] + rank) for rank, weight in ranks if rank is not None)
            assert chunk.score == pytest.approx(score, abs=1e-12)
            both = chunk.dense_rank is not None and chunk.lexical_rank is not None
            assert chunk.channel == ("both" if both else "lexical" if chunk.dense_rank is None else "dense")
        keys = [(-chunk.score, chunk.chunk_id) for chunk in found.chunks]
        assert keys == sorted(keys)
        dense = sorted(chunk.dense_rank for chunk in found.chunks if chunk.dense_rank)
        lexical = sorted(chunk.lexical_rank for chunk in found.chunks if chunk.lexical_rank)
        assert dense == list(range(1, 21))
        assert lexical == list(range(1, min(25, int((oracle.scores > 0).sum())) + 1))
        assert len({chunk.chunk_id for chunk in found.chunks}) == len(found.chunks)


@pytest.mark.parametrize("function", ["ts_rank", "ts_rank_cd"])
def test_postgresqls_own_ranks(world, function):
    question = "backup of the pool on 10.0.0.7 im Dachboden"
    terms = question_terms(question)
    found, _ = ask(world, question, f"lexical(30,rank={function})")
    words = {quoted(getattr(term, lang)) for term in terms for lang in ("english", "german", "simple")}
    with world.database.connection() as connection:
        known = {row[0] for row in connection.execute("select lexeme from lexeme_stats").fetchall()}
        query = " | ".join(word for word in words if word.strip("'") in known)
        rows = connection.execute(
            f"select chunk_id, {function}(tsv, %s::tsquery) from lexemes order by 2 desc, 1", (query,)
        ).fetchall()
    matching = bm25(world, terms).scores > 0
    wanted = [key for key, _ in rows if matching[np.searchsorted(world.ids, key)]][:30]
    assert [chunk.chunk_id for chunk in found.chunks] == wanted
    assert [chunk.score for chunk in found.chunks] == pytest.approx([1 / (1 + n) for n in range(1, 31)])


@pytest.mark.parametrize("string", ["hybrid", "hybrid(fusion=rrf)", "dense(30)", "lexical(30)"])
def test_excluded_documents_are_as_if_they_were_not_there(database, make_document, string):
    world = fill(database, make_document, documents=120)
    vector = unit(3)
    question = "backup of INV/2026/00037 in pool tank"
    first, _ = ask(world, question, string, vector=vector)
    hidden = list(dict.fromkeys(chunk.document_id for chunk in first.chunks))[:4]
    found, positions = ask(world, question, string, vector=vector, exclude=hidden)
    assert not {chunk.document_id for chunk in found.chunks} & set(hidden)
    present = np.array([document not in hidden for document in world.documents])
    oracle = bm25(world, question_terms(question), present)
    for chunk, position in zip(found.chunks, positions, strict=True):
        assert chunk.lexical_share == pytest.approx(oracle.shares[position], abs=1e-6)
    assert [found.idf[n] for n in range(len(oracle.idf))] == pytest.approx(list(oracle.idf), abs=1e-9)
    DocumentStore(world.database).remove(hidden)
    refresh_lexicon(world.database)
    removed, _ = ask(world, question, string, vector=vector)
    assert [chunk.chunk_id for chunk in removed.chunks] == [chunk.chunk_id for chunk in found.chunks]
    for one, other in zip(found.chunks, removed.chunks, strict=True):
        assert (one.dense_rank, one.lexical_rank) == (other.dense_rank, other.lexical_rank)
        assert one.score == pytest.approx(other.score, abs=1e-12)
    assert found.unknown == removed.unknown


def test_everything_excluded(world):
    found, _ = ask(world, "backup", "hybrid", vector=unit(1), exclude=set(world.documents))
    assert found.chunks == []
    assert len(found.unknown) == 1


def test_words_that_no_count_knows_yet_are_found(database, make_document):
    """A killed import leaves the counts behind; what it stored is found all the same."""
    world = fill(database, make_document, documents=30)
    store = DocumentStore(database)
    text = "The zeppelin landed on the pool."
    entry = make_entry(make_document(text, path="new.md"), [Chunk(0, "", text)])
    store.put("notes", "new.md", entry, index_version="1", size=1, mtime_ns=1)
    found = search(database, question_terms("zeppelin"), None, world.vectors.table, RetrievalSettings.parse("lexical"))
    assert [chunk.document_path for chunk in found.chunks] == ["new.md"]
    assert found.chunks[0].lexical_share > 0
    assert found.unknown == frozenset()
    refresh_lexicon(database)
    counted = search(
        database, question_terms("zeppelin"), None, world.vectors.table, RetrievalSettings.parse("lexical")
    )
    assert [chunk.document_path for chunk in counted.chunks] == ["new.md"]


def test_words_are_found_when_nothing_was_ever_counted(database, make_document):
    store = DocumentStore(database)
    store.source_for("/notes")
    vectors = VectorStore(database, ModelIdentity("oracle", DIMENSIONS, "oracle"))
    for name, text in (("a.md", "pool tank"), ("b.md", "pool"), ("c.md", "disk")):
        entry = make_entry(make_document(text, path=name), [Chunk(0, "", text)])
        store.put("notes", name, entry, index_version="1", size=1, mtime_ns=1)
    found = search(
        database, question_terms("pool tank zeppelin"), None, vectors.table, RetrievalSettings.parse("lexical")
    )
    assert [chunk.document_path for chunk in found.chunks] == ["a.md", "b.md"]
    assert len(found.unknown) == 1
