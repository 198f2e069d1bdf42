"""Labelled questions kept in the brain, so that a certificate can be made anew when the notes change."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from brainkit.store.database import Database


class LabelStore:
    """Labels as JSON rows; the same id replaces. A label that is in review is not used until a person decided."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, labels: Iterable[Mapping[str, Any]], review: str = "") -> None:
        """Store labels; each is a mapping as in ``eval/questions.jsonl``.

        Args:
            labels: what to store.
            review: why they have to be looked at before they are used; "" to use them at once.
        """
        rows = [(label["id"], json.dumps(dict(label), ensure_ascii=False), review) for label in labels]
        with self._database.connection() as connection, connection.transaction():
            for row in rows:
                connection.execute(
                    """insert into labels (id, label, review) values (%s, %s, %s)
                       on conflict (id) do update
                       set label = excluded.label, review = excluded.review, stored_at = now()""",
                    row,
                )

    def all(self) -> list[dict[str, Any]]:
        """Every stored label, sorted by id."""
        with self._database.connection() as connection:
            return [row[0] for row in connection.execute("select label from labels order by id")]

    def reviews(self) -> dict[str, str]:
        """Why labels are in review, by their id, sorted."""
        with self._database.connection() as connection:
            return dict(connection.execute("select id, review from labels where review <> '' order by id").fetchall())

    def set_aside(self, reasons: Mapping[str, str]) -> None:
        """Put labels into review, all or none, each with a reason."""
        with self._database.connection() as connection, connection.transaction():
            for key, reason in sorted(reasons.items()):
                connection.execute("update labels set review = %s where id = %s", (reason, key))

    def remove(self, ids: Collection[str]) -> None:
        """Forget labels."""
        with self._database.connection() as connection:
            connection.execute("delete from labels where id = any(%s)", (list(ids),))
