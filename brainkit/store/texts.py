"""The texts that are stored beside documents: logged questions, labels, links, what embedders said about failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from psycopg.types.json import Jsonb

from brainkit.store.database import Connection, Database


def change_texts(database: Database, change: Callable[[str], str]) -> int:
    """Put every text through a function; returns the number of rows that differ.

    Args:
        database: an open brain.
        change: a text's new form.
    """
    with database.connection() as connection, connection.transaction():
        changed = _labels_and_questions(connection, change, {})
        for (error,) in connection.execute("select distinct error from embedding_failures").fetchall():
            if change(error) != error:
                connection.execute("update embedding_failures set error = %s where error = %s", (change(error), error))
                changed += 1
        _links(connection, change)
    return changed


def _links(connection: Connection, change: Callable[[str], str]) -> None:
    """Of links, which are read from the documents again anyway: no older text may stay until then."""
    for key, *texts in connection.execute("select id, target, heading, reason from links").fetchall():
        new = [change(text) for text in texts]
        if new != texts:
            connection.execute("update links set (target, heading, reason) = (%s, %s, %s) where id = %s", (*new, key))


def rename_documents(connection: Connection, renamed: Mapping[str, str]) -> None:
    """Let labels and logged questions speak of documents by their new names."""
    if renamed:
        _labels_and_questions(connection, lambda text: text, renamed)


def _labels_and_questions(connection: Connection, change: Callable[[str], str], renamed: Mapping[str, str]) -> int:
    def deep(value: Any) -> Any:
        if isinstance(value, str):
            return renamed[value] if value in renamed else change(value)
        if isinstance(value, list):
            return [deep(item) for item in value]
        if isinstance(value, dict):
            return {key: deep(item) for key, item in value.items()}
        return value

    changed = 0
    for key, label, review in connection.execute("select id, label, review from labels").fetchall():
        new_label = {**deep(label), "id": label.get("id", key)}
        if new_label != label or change(review) != review:
            connection.execute(
                "update labels set (label, review) = (%s, %s) where id = %s", (Jsonb(new_label), change(review), key)
            )
            changed += 1
    for key, question, sources in connection.execute("select id, question, sources from query_log").fetchall():
        new = [change(question), deep(sources)]
        if new != [question, sources]:
            connection.execute("update query_log set (question, sources) = (%s, %s) where id = %s", (*new, key))
            changed += 1
    return changed
