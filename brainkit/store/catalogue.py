"""What a brain holds, counted: its sources, and its documents without their texts."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from brainkit.store.database import Database


class SourceCount(NamedTuple):
    """A source with its numbers of documents and chunks, and when the last of them was indexed."""

    source: str
    documents: int
    chunks: int
    indexed_at: datetime


class CatalogueRow(NamedTuple):
    """A document without its text."""

    source: str
    path: str
    title: str
    chunks: int
    indexed_at: datetime


def source_counts(database: Database) -> list[SourceCount]:
    """Every source that has documents, sorted by name."""
    query = """select source, count(*), coalesce(sum(n.chunks), 0)::bigint, max(indexed_at)
               from documents left join (select document_id, count(*) as chunks from chunks group by 1) n
                                     on n.document_id = id
               group by source order by source"""
    with database.connection() as connection:
        return [SourceCount(*row) for row in connection.execute(query)]


def catalogue(database: Database, limit: int, offset: int = 0) -> list[CatalogueRow]:
    """Documents sorted by source and path: at most ``limit`` of them, after the first ``offset``."""
    query = """select source, path, title, (select count(*) from chunks where document_id = d.id), indexed_at
               from documents d order by source, path limit %s offset %s"""
    with database.connection() as connection:
        return [CatalogueRow(*row) for row in connection.execute(query, (limit, offset))]
