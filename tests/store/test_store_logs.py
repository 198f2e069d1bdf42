"""The log of questions and the labels kept in the brain."""

from brainkit.store import LabelStore, QueryLog
from brainkit.store.query_log import LoggedQuery
from brainkit.store.texts import change_texts


def entry(**values):
    given = {
        "question": "Where is „tank“?",
        "settings": "hybrid()",
        "best_cosine": 0.5,
        "lexical_hits": 3,
        "chunk_hits": 6,
        "decision": "answer",
        "score": 0.25,
        "gate": "score",
        "sources": ["notes:a.md", "notes:b, c.md"],
        "latency_ms": 12.5,
        "reply": "",
    }
    return LoggedQuery(**{**given, **values})


def test_questions_are_kept_as_they_were_logged(database):
    log = QueryLog(database)
    assert log.counts() == {}
    log.write(entry())
    log.write(entry(decision="deflect", best_cosine=None, sources=()))
    log.write(entry(decision="deflect"))
    assert log.counts() == {"answer": 1, "deflect": 2}
    with database.connection() as connection:
        columns = ", ".join(LoggedQuery._fields)
        rows = connection.execute(f"select {columns} from query_log order by id").fetchall()
        assert connection.execute("select bool_and(created_at <= now()) from query_log").fetchone() == (True,)
    assert [LoggedQuery(*row) for row in rows[:2]] == [
        entry(),
        entry(decision="deflect", best_cosine=None, sources=[]),
    ]


def test_labels_of_the_same_id_replace_and_come_back_sorted(database):
    store = LabelStore(database)
    assert store.all() == []
    store.put([{"id": "b", "question": "Wo?"}, {"id": "a", "question": "Where?", "tags": ["ü", {"x": None}]}])
    store.put([])
    store.put({"id": i, "question": "new"} for i in ("b", "c"))
    assert store.all() == [
        {"id": "a", "question": "Where?", "tags": ["ü", {"x": None}]},
        {"id": "b", "question": "new"},
        {"id": "c", "question": "new"},
    ]


def test_labels_in_review_have_a_reason_and_lose_it_when_they_are_stored_again(database):
    store = LabelStore(database)
    store.put([{"id": "a"}, {"id": "b"}])
    store.put([{"id": "c"}], review="look")
    assert store.reviews() == {"c": "look"}
    store.set_aside({"a": "gone", "no such": "x"})
    assert store.reviews() == {"a": "gone", "c": "look"}
    store.put([{"id": "a", "question": "new"}])
    store.remove(["c", "no such"])
    assert store.reviews() == {}
    assert store.all() == [{"id": "a", "question": "new"}, {"id": "b"}]


def test_texts_that_are_changed_include_the_reasons_of_reviews(database):
    store = LabelStore(database)
    store.put([{"id": "a", "question": "?"}], review="see notes:Quark.md")
    assert change_texts(database, lambda text: text.replace("Quark", "[gone]")) == 1
    assert store.reviews() == {"a": "see notes:[gone].md"}


def test_feedback_goes_to_the_reply_it_is_about(database):
    log = QueryLog(database)
    log.write(entry())
    log.write(entry(reply="0a", question="Wo?", decision="deflect", sources=()))
    assert log.put_feedback("0a", "missed") == ("Wo?", "deflect", [])
    assert log.put_feedback("0b", "right") is None
    assert log.put_feedback("", "right") is None  # entries from before replies had ids
    with database.connection() as connection:
        assert connection.execute("select reply, feedback from query_log order by id").fetchall() == [
            ("", ""),
            ("0a", "missed"),
        ]


def test_scores_are_the_newest_under_one_gate_and_retrieval_string(database):
    log = QueryLog(database)
    for number in range(5):
        log.write(entry(score=float(number)))
    log.write(entry(score=9.0, gate="cosine"))
    log.write(entry(score=9.0, settings="dense(30)"))
    assert log.scores("score", "hybrid()", "2020-01-01T00:00:00+00:00", 3) == [4.0, 3.0, 2.0]
    assert log.scores("score", "hybrid()", "2200-01-01T00:00:00+00:00", 3) == []
