"""Recalls of a small brain: every document, both channels, an embedder that is down, questions of any kind."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brainkit import Brain, Settings
from brainkit.embedding import ModelIdentity, TokenVectors
from brainkit.errors import DimensionMismatchError, EmbedderUnavailableError, EmbeddingError, UsageError
from brainkit.retrieval import RetrievalSettings, Searcher, searcher
from brainkit.retrieval.searcher import clean_question
from brainkit.store import DocumentStore, VectorStore

NOTES = {
    "ups.md": "# UPS\n\nThe UPS battery in the rack was swapped in March 2026.\n",
    "dns.md": "# DNS\n\nThe resolver on eule answers at 10.40.0.53.\n",
    "invoice.md": "# Invoices\n\nINV/2026/00037 paid the roof.\n",
    "heizung.md": "# Heizung\n\nDie Wärmepumpe wurde im Mai gewartet, und der Filter ist neu.\n",
    "nginx.yaml": "server:\n  conf: /etc/nginx/nginx.conf\n  host: k3s-node-02\n",
    "long.md": "# Long\n\n" + "\n\n".join(f"## Part {n}\n\nThe tank pool of part {n} is full. " * 8 for n in range(12)),
}
STRINGS = ["hybrid", "hybrid(fusion=rrf)", "dense(30)", "lexical(30)", "lexical(30,rank=ts_rank_cd)"]


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recall") / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def brain(new_database, notes):
    """Filled once: the tests that use it only ask."""
    with (
        new_database() as url,
        Brain.open(Settings(home=notes.parent, database_url=url, embedder="wordllama")) as brain,
    ):
        brain.import_paths([notes])
        yield brain


@pytest.fixture
def own_brain(open_brain, notes):
    """One to be changed."""
    brain = open_brain()
    brain.import_paths([notes])
    return brain


class Broken:
    """An embedder whose server answers with an error; the vectors it made before are in the brain."""

    def __init__(self, brain, error):
        self.identity, self.name, self.error = brain._models.serving.embedder.identity, "broken", error

    def embed_query(self, text):
        raise self.error

    def token_vectors(self, texts):
        return None


def with_embedder(brain, embedder):
    return Searcher(brain._database, embedder, brain._models.serving.vectors, brain._documents)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("When was the battery of the UPS swapped?", "ups.md"),
        ("10.40.0.53", "dns.md"),
        ("INV/2026/00037", "invoice.md"),
        ("Wann wurden die Wärmepumpen gewartet?", "heizung.md"),
        ("nginx.conf", "nginx.yaml"),
        ("k3s-node-02", "nginx.yaml"),
    ],
)
def test_the_right_document_comes_first(brain, question, path):
    for string in ("hybrid", "hybrid(fusion=rrf)", "lexical(30)"):
        recall = brain.recall(question, retrieval=string)
        assert recall.documents[0].path == recall.chunks[0].document_path == path
        assert recall.documents[0].content == NOTES[path]
        assert recall.degraded == ""
        assert recall.settings == str(RetrievalSettings.parse(string))


def test_cosines_are_those_of_the_embedder(brain):
    question = "When was the battery swapped?"
    asked = brain._models.serving.embedder.embed_query(question)
    for chunk in brain.recall(question, k=50).chunks:
        lead = f"{chunk.title}\n" if chunk.title and chunk.title not in chunk.heading + chunk.text else ""
        lead += f"{chunk.heading}\n" if chunk.heading and chunk.heading not in chunk.text else ""
        (vector,) = brain._models.serving.embedder.embed_documents([lead + chunk.text]).vectors
        assert chunk.cosine == pytest.approx(float(vector @ asked), abs=1e-3)


@pytest.mark.parametrize("string", ["hybrid", "hybrid(docs=1)", "dense(30,docs=1)", "hybrid(fusion=rrf,docs=1)"])
def test_documents_are_complete_whatever_k_and_docs_say(brain, string):
    for k in (1, 3, 100):
        recall = brain.recall("the pool of the server", k=k, retrieval=string)
        assert len(recall.chunks) == min(k, brain.counts()["chunks"])
        assert {document.path for document in recall.documents} == set(NOTES)
        scores = [document.score for document in recall.documents]
        assert scores == sorted(scores, reverse=True)
    chunks = recall.chunks
    for document in recall.documents:
        assert document.score == max(chunk.score for chunk in chunks if chunk.document_id == document.id)


def test_recalls_repeat_exactly(brain):
    for string in STRINGS:
        one, two = (brain.recall("the pool of part 3", k=20, retrieval=string) for _ in range(2))
        assert one == two


def test_excluded_documents_never_appear_and_others_move_up(brain):
    question = "the tank pool of part 3"
    for string in STRINGS:
        all_ = brain.recall(question, k=100, retrieval=string)
        first = all_.documents[0]
        left = brain.recall(question, k=100, retrieval=string, exclude_documents=[first.id])
        assert first.id not in {d.id for d in left.documents} | {c.document_id for c in left.chunks}
        if string != "lexical(30)" and "ts_rank" not in string:
            assert {d.path for d in left.documents} == set(NOTES) - {first.path}
    named = brain.recall(question, exclude_documents=["long.md", "notes:ups.md"])
    assert not {"long.md", "ups.md"} & {document.path for document in named.documents}
    everything = brain.recall(question, exclude_documents=list(NOTES))
    assert (everything.chunks, everything.documents) == ((), ())
    with pytest.raises(UsageError, match=r"no document 'none\.md'"):
        brain.recall(question, exclude_documents=["none.md"])


def test_chunks_without_a_vector_are_found_by_words(open_brain, notes):
    brain = open_brain()
    brain.import_paths([notes], embed=False)
    recall = brain.recall("UPS battery")
    assert recall.chunks[0].document_path == "ups.md"
    assert {(chunk.cosine, chunk.dense_rank, chunk.channel) for chunk in recall.chunks} == {(None, None, "lexical")}
    assert recall.evidence.best_cosine == -1.0
    assert recall.degraded == ""
    brain.embed()
    assert brain.recall("UPS battery").chunks[0].channel == "both"


@pytest.mark.parametrize(
    "error", [EmbedderUnavailableError("broken does not answer"), EmbeddingError("no vector for this")]
)
@pytest.mark.parametrize("string", [*STRINGS[:4], "hybrid+maxsim(5)+mmr(0.5)"])
def test_with_the_embedder_down_words_still_find_and_the_recall_says_so(brain, error, string, caplog):
    found = with_embedder(brain, Broken(brain, error)).recall("UPS battery", RetrievalSettings.parse(string), k=5)
    assert found.chunks[0].document_path == "ups.md"
    assert {chunk.channel for chunk in found.chunks} == {"lexical"}
    assert found.degraded == f"searched by words only: {error}"
    assert found.evidence.best_cosine == -1.0
    assert found.degraded in caplog.text
    nothing = with_embedder(brain, Broken(brain, error)).recall("zeppelin", RetrievalSettings.parse(string), k=5)
    assert (nothing.chunks, nothing.documents, nothing.evidence.unknown_terms) == ((), (), 1)


def test_a_model_that_was_exchanged_is_not_passed_over(brain):
    broken = with_embedder(brain, Broken(brain, DimensionMismatchError("3, not 256")))
    with pytest.raises(DimensionMismatchError):
        broken.recall("UPS", RetrievalSettings(), k=5)


def test_a_brain_without_a_document(open_brain):
    brain = open_brain()
    for string in STRINGS:
        recall = brain.recall("Where is the backup of the pool?", retrieval=string)
        assert (recall.chunks, recall.documents) == ((), ())
        assert (recall.evidence.terms, recall.evidence.unknown_terms) == (2, 2)
        assert recall.evidence.best_cosine == -1.0
        assert recall.evidence.best_score == -0.5
        # Of no chunks at all every word weighs ln(1 + 0.5 / 0.5).
        assert list(recall.weights.values()) == pytest.approx([np.log(2)] * 2)


def test_a_brain_with_one_document(open_brain, tmp_path):
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "a.md").write_text("pool")
    brain = open_brain()
    brain.import_paths([tmp_path / "n"])
    for string in STRINGS:
        recall = brain.recall("pool", retrieval=string)
        assert [document.content for document in recall.documents] == ["pool"]
        assert np.isfinite([recall.chunks[0].score, recall.evidence.best_score]).all()
    assert brain.recall("pool", exclude_documents=["a.md"]).documents == ()


@pytest.mark.parametrize("question", ["Where is it?", "Wo ist es?", "", " \n", "???"])
def test_a_question_of_stop_words_only_has_no_words_to_search_by(brain, question):
    for string in STRINGS:
        recall = brain.recall(question, retrieval=string)
        assert (recall.evidence.terms, recall.evidence.lexical_hits, recall.evidence.coverage) == (0, 0, 0.0)
        assert {chunk.lexical_rank for chunk in recall.chunks} <= {None}
        assert dict(recall.weights) == {}


HOSTILE = [
    "' or 1=1; drop table documents; --",
    "a & b | !c <-> d:*",
    "'''\"\"\"\\\\\\",
    "NUL\0 in the pool",
    "lone \ud800 surrogate \udfff pool",
    "\U0001f600\U0001f469\u200d\U0001f680 pool \u202e right to left",
    "%s %(x)s {0} {table} $1 :name",
    "pool " * 10_000,
    " ".join(f"word{n}" for n in range(10_000)),
    "x" * 100_000,
    "\ufeff\u00ad\u200b",
    "e\u0301" * 500,
    "(((((((((((((((",
    "👍🏽" * 200,
]


@pytest.mark.parametrize("question", HOSTILE)
def test_no_question_raises(brain, question):
    for string in STRINGS:
        recall = brain.recall(question, retrieval=string)
        assert recall.question == question
        if "pool" in question and "lexical" in string:
            assert recall.documents[0].path == "long.md"
    assert set(NOTES) == {name.removeprefix("notes:") for name in brain.list_documents()}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(), max_size=200))
def test_no_text_at_all_raises(brain, question):
    for string in ("hybrid", "lexical(30,rank=ts_rank)"):
        recall = brain.recall(question, retrieval=string)
        evidence = [getattr(recall.evidence, name) for name in recall.evidence.__dataclass_fields__]
        assert np.isfinite(evidence).all()
        assert 0 <= recall.evidence.best_lexical <= 1
        assert 0 <= recall.evidence.chunk_coverage <= recall.evidence.coverage <= 1 + 1e-12


def test_questions_are_cleaned():
    assert clean_question("  a\0b\tc\u202e\ud800\n") == "a b c ?"
    assert clean_question("Größe\u00a0x") == "Größe x"


def test_the_embedding_of_a_question_is_kept_for_a_while(brain, monkeypatch):
    monkeypatch.setattr(searcher, "REMEMBERED", 3)
    asked = []

    class Counting:
        identity, name = brain._models.serving.embedder.identity, "counting"

        def embed_query(self, text):
            asked.append(text)
            return brain._models.serving.embedder.embed_query(text)

        def token_vectors(self, texts):
            return None

    search = with_embedder(brain, Counting())
    for question in ("one", "two", "one", " one ", "three", "four", "five", "one", "five"):
        search.recall(question, RetrievalSettings(), k=1)
    assert asked == ["one", "two", "three", "four", "five", "one"]
    search.recall("other", RetrievalSettings(), k=1, vector=brain._models.serving.embedder.embed_query("pool"))
    assert "other" not in asked


def test_weights_of_the_questions_words(brain):
    recall = brain.recall("pool of the zeppelin on eule")
    count = brain.counts()["chunks"]
    holding = sum("pool" in chunk.text for chunk in brain.recall("pool", k=100, retrieval="lexical(100)").chunks)
    assert recall.weights["zeppelin"] == pytest.approx(np.log(1 + (count + 0.5) / 0.5))
    assert recall.weights["eule"] == pytest.approx(np.log(1 + (count - 1 + 0.5) / 1.5))
    assert recall.weights["pool"] == pytest.approx(np.log(1 + (count - holding + 0.5) / (holding + 0.5)))
    assert recall.evidence.unknown_terms == 1


def test_a_document_removed_since_has_no_text_left(own_brain):
    (document, *_) = own_brain.recall("UPS battery").documents
    DocumentStore(own_brain._database).remove([document.id])
    assert document.content == ""


def test_another_models_vectors_are_another_table(own_brain):
    brain = own_brain
    other = VectorStore(brain._database, ModelIdentity("other", 3, "other"))

    class Other:
        identity, name = other.identity, "other"

        def embed_query(self, text):
            return np.array([1.0, 0, 0])

        def token_vectors(self, texts):
            return None

    search = Searcher(brain._database, Other(), other, brain._documents)
    assert search.recall("zeppelin", RetrievalSettings.parse("dense(5)"), k=5).chunks == ()
    other.put(other.pending(2), np.eye(3)[:2], {})
    found = search.recall("zeppelin", RetrievalSettings.parse("dense(5)"), k=5)
    assert [chunk.cosine for chunk in found.chunks] == pytest.approx([1.0, 0.0])


def test_k_below_one_is_refused(brain):
    with pytest.raises(UsageError, match="k = 0"):
        brain.recall("pool", k=0)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("resovler", "dns.md"),  # two letters exchanged
        ("Invoiices", "invoice.md"),  # one too many
        ("Pumpe", "heizung.md"),  # a part of Wärmepumpe
        ("Pumpen", "heizung.md"),
        ("Filterwärmepumpen", "heizung.md"),  # no chunk holds the compound, one holds its parts
    ],
)
def test_a_word_no_chunk_holds_finds_what_is_meant(brain, question, path):
    recall = brain.recall(question, retrieval="lexical(30)")
    assert [document.path for document in recall.documents] == [path]
    assert 0 < recall.evidence.best_lexical <= 1
    assert (recall.evidence.unknown_terms, recall.evidence.coverage) == (1, 1.0)
    assert brain.recall(question, retrieval="dense(30)").evidence.lexical_hits == 0  # words are not asked for there


LATE = ("passage_cosine", "passage_match", "word_match", "name_match")


def late_of(recall):
    return [getattr(recall.evidence, name) for name in LATE]


def test_late_evidence_is_measured_whatever_the_retrieval_string(open_brain, notes):
    brain = open_brain(embedder="minilm")
    brain.import_paths([notes])
    question = "When was the battery of the UPS swapped?"
    reranked, plain, dense = (brain.recall(question, k=3, retrieval=r) for r in ("hybrid+maxsim(2)", "hybrid", "dense"))
    assert [chunk.late is None for chunk in reranked.chunks] == [False, False, True]
    assert {chunk.late for chunk in plain.chunks} == {None}
    for recall in (reranked, plain, dense):
        assert all(0 < value <= 1 for value in late_of(recall))
    assert plain.evidence.best_score == reranked.evidence.best_score
    assert late_of(plain) == pytest.approx(late_of(reranked), abs=1e-3)  # of the same two chunks, in whatever order
    missing = brain.recall("When was the zeppelin of the harbour sold?")
    assert missing.evidence.word_match < plain.evidence.word_match


def test_late_evidence_looks_at_the_first_two_chunks_and_only_when_asked(brain, monkeypatch):
    asked = []

    class Counting:
        identity, name = brain._models.serving.embedder.identity, "counting"

        def embed_query(self, text):
            return brain._models.serving.embedder.embed_query(text)

        def token_vectors(self, texts):
            asked.append(len(texts))
            return [TokenVectors(["battery"], np.eye(3, dtype=np.float32)[:1]) for _ in texts]

    recall = with_embedder(brain, Counting()).recall("battery", RetrievalSettings(), k=5)
    assert len(recall.chunks) > 2
    assert asked == []
    assert late_of(recall) == pytest.approx([1.0] * 4)
    assert asked == [1, 2]
    assert recall.evidence.word_match == pytest.approx(1.0)
    assert asked == [1, 2]


def test_without_vectors_of_tokens_or_of_the_question_there_is_no_late_evidence(brain):
    assert late_of(brain.recall("UPS battery")) == [0.0] * 4  # wordllama
    found = with_embedder(brain, Broken(brain, EmbeddingError("down"))).recall("battery", RetrievalSettings(), k=1)
    assert late_of(found) == [0.0] * 4
    assert 0 < found.evidence.lead <= 1
