"""The log of questions and the labels kept in the brain."""

from brainkit.store import LabelStore, QueryLog
from brainkit.store.query_log import LoggedQuery


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
