"""Labelled questions kept in the brain, so that a certificate can be made anew when the notes change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from brainkit.store.database import Database


class LabelStore:
    """Labels as JSON rows; the same id replaces."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, labels: Iterable[Mapping[str, Any]]) -> None:
        """Store labels; each is a mapping as in ``eval/questions.jsonl``."""
        rows = [(label["id"], json.dumps(dict(label), ensure_ascii=False)) for label in labels]
        with self._database.connection() as connection, connection.transaction():
            for row in rows:
                connection.execute(
                    """insert into labels (id, label) values (%s, %s)
                       on conflict (id) do update set label = excluded.label, stored_at = now()""",
                    row,
                )

    def all(self) -> list[dict[str, Any]]:
        """Every stored label, sorted by id."""
        with self._database.connection() as connection:
            return [row[0] for row in connection.execute("select label from labels order by id")]
