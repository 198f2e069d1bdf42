"""Documents, their chunks and lexemes: written one document a transaction, compared by hash, removed by path."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from psycopg import sql
from psycopg.types.json import Json

from brainkit.chunking import Chunk
from brainkit.readers import Document
from brainkit.store.database import Database
from brainkit.store.lexicon import tsvector_literal
from brainkit.store.terms import Language, detect_language, document_terms
from brainkit.store.vectors import embedding_text, text_hash

_NAMESPACE: Final = uuid.UUID("6f0a4f6e-3f2b-5c59-9d0a-0c7a7d2c5b11")
_PROSE: Final = frozenset({"markdown", "text", "html", "rst", "org"})


_BEGIN: Final = """
select set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(hashtextextended(%s, 0))
"""
"""The files are still there if the machine dies within a commit; the run ends with a synchronous one."""
_OLD: Final = """
select d.content_hash, d.index_version,
       (select coalesce(max(id), 0) from chunks where document_id = %(id)s),
       array(select id from embedding_models order by id)
from (values (1)) v left join documents d on d.id = %(id)s
"""
_PUT_DOCUMENT: Final = """
insert into documents (id, source, path, full_path, title, content, content_hash, format, language, ts, tags, links,
                       redactions, note, scrub_version, index_version, size, mtime_ns)
values (%(id)s, %(source)s, %(path)s, %(full_path)s, %(title)s, %(content)s, %(content_hash)s, %(format)s, %(language)s,
        %(ts)s, %(tags)s, %(links)s, %(redactions)s, %(note)s, %(scrub_version)s, %(index_version)s, %(size)s,
        %(mtime_ns)s)
on conflict (id) do update set
  (full_path, title, content, content_hash, format, language, ts, tags, links, redactions, note, scrub_version,
   index_version, size, mtime_ns, indexed_at) =
  (excluded.full_path, excluded.title, excluded.content, excluded.content_hash, excluded.format, excluded.language,
   excluded.ts, excluded.tags, excluded.links, excluded.redactions, excluded.note, excluded.scrub_version,
   excluded.index_version, excluded.size, excluded.mtime_ns, now())
"""
_PUT_CHUNKS: Final = """
with given as (
  select * from json_to_recordset(%(chunks)s)
                n (position int, heading text, content text, content_hash text, length int, tsv tsvector)
), made as (
  insert into chunks (document_id, position, heading, content, content_hash)
  select %(id)s, position, heading, content, content_hash from given order by position returning id, position
)
insert into lexemes (chunk_id, document_id, language, length, tsv)
select made.id, %(id)s, %(language)s, length, tsv from made join given using (position)
"""
_KEEP_VECTORS: Final = """
insert into {0} (chunk_id, embedding)
select distinct on (new.id) new.id, v.embedding
from chunks new join chunks old on old.content_hash = new.content_hash and old.id <> new.id
join {0} v on v.chunk_id = old.id
where new.document_id = %(id)s and new.id > %(newest)s order by new.id, old.id on conflict do nothing
"""


class Change(StrEnum):
    """What storing a document did."""

    INDEXED = "indexed"
    REINDEXED = "reindexed"
    UNCHANGED = "unchanged"


class DocumentRow(NamedTuple):
    """What the store knows of a document without its text."""

    id: uuid.UUID
    source: str
    path: str
    title: str
    content_hash: str
    index_version: str
    size: int
    mtime_ns: int
    indexed_at: datetime


def document_id(source: str, path: str) -> uuid.UUID:
    """The id of a document: the same for the same source and path, in every brain."""
    return uuid.uuid5(_NAMESPACE, f"{source}\n{path}")


class DocumentStore:
    """Reads and writes documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def source_for(self, root: str) -> tuple[str, str]:
        """Name of the source a folder belongs to, and the folder's place in it ('' or 'sub/folder').

        A folder inside a known root belongs to that source. A new root is named after its last part, made unique.
        """
        with self._database.connection() as connection, connection.transaction():
            connection.execute("lock table sources in share row exclusive mode")
            known = dict(connection.execute("select root, name from sources").fetchall())
            for parent in (PurePosixPath(root), *PurePosixPath(root).parents):
                if str(parent) in known:
                    inside = PurePosixPath(root).relative_to(parent)
                    return known[str(parent)], "" if str(inside) == "." else str(inside)
            stem = PurePosixPath(root).name or "root"
            names, name, number = set(known.values()), stem, 1
            while name in names:
                number += 1
                name = f"{stem}-{number}"
            connection.execute("insert into sources (name, root) values (%s, %s)", (name, root))
            return name, ""

    def rows(self, source: str | None = None) -> dict[str, DocumentRow]:
        """The stored documents by path; of every source as ``source:path`` when none is given."""
        query = """select id, source, path, title, content_hash, index_version, size, mtime_ns, indexed_at
                   from documents where %(source)s::text is null or source = %(source)s order by source, path"""
        with self._database.connection() as connection:
            found = [DocumentRow(*row) for row in connection.execute(query, {"source": source})]
        return {row.path if source is not None else f"{row.source}:{row.path}": row for row in found}

    def contents(self, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
        """Whole (scrubbed) texts of documents by id; ids that are not there are left out."""
        with self._database.connection() as connection:
            return dict(connection.execute("select id, content from documents where id = any(%s)", (list(ids),)))

    def put(
        self,
        source: str,
        path: str,
        document: Document,
        chunks: Iterable[Chunk],
        *,
        index_version: str,
        size: int,
        mtime_ns: int,
    ) -> Change:
        """Store a document and its chunks in one transaction; vectors of chunks that stay the same are kept.

        ``chunks`` are only taken when there is something to do.
        """
        key = document_id(source, path)
        with self._database.connection() as connection, connection.pipeline(), connection.transaction():
            connection.execute(_BEGIN, (f"{source}\x1f{path}",))
            *old, newest, models = connection.execute(_OLD, {"id": key}).fetchone() or (None, None, 0, [])
            if old == [document.content_hash, index_version]:
                connection.execute(
                    "update documents set size = %s, mtime_ns = %s, ts = %s where id = %s",
                    (size, mtime_ns, document.ts, key),
                )
                return Change.UNCHANGED
            language = detect_language(document.content, prose=document.format in _PROSE)
            values = {
                "id": key,
                "source": source,
                "path": path,
                "full_path": document.full_path,
                "title": document.title,
                "content": document.content,
                "content_hash": document.content_hash,
                "format": document.format,
                "language": language,
                "ts": document.ts,
                "tags": list(document.tags),
                "links": list(document.links),
                "redactions": Json(dict(document.redactions)),
                "note": document.note,
                "scrub_version": document.scrub_version,
                "index_version": index_version,
                "size": size,
                "mtime_ns": mtime_ns,
            }
            connection.execute(_PUT_DOCUMENT, values)
            rows = list(_chunk_rows(document.title, chunks, language))
            connection.execute(_PUT_CHUNKS, {"id": key, "language": language, "chunks": Json(rows, _json)})
            for model in models:
                # A text that was embedded before, here or in another document, is not embedded again.
                table = sql.Identifier(f"vectors_{model}")
                connection.execute(sql.SQL(_KEEP_VECTORS).format(table), {"id": key, "newest": newest})
            if newest:
                connection.execute("delete from chunks where document_id = %s and id <= %s", (key, newest))
            return Change.INDEXED if old == [None, None] else Change.REINDEXED

    def remove(self, ids: Collection[uuid.UUID]) -> None:
        """Remove documents with their chunks, lexemes and vectors."""
        with self._database.connection() as connection:
            connection.execute("delete from documents where id = any(%s)", (list(ids),))

    def counts(self) -> dict[str, int]:
        """Numbers of documents, chunks and redactions in the brain."""
        query = """select (select count(*) from documents), (select count(*) from chunks),
                          (select coalesce(sum(value::int), 0) from documents, jsonb_each_text(redactions))"""
        with self._database.connection() as connection:
            row = connection.execute(query).fetchone() or (0, 0, 0)
        return {"documents": int(row[0]), "chunks": int(row[1]), "redactions": int(row[2])}

    def holding(self, text: str) -> int:
        """Number of documents and chunks whose text, title, heading or path holds a string as it stands."""
        query = """
            select (select count(*) from documents
                    where position(%(text)s in concat_ws(E'\\n', path, full_path, title, content,
                                                         array_to_string(tags || links, E'\\n'))) > 0)
                 + (select count(*) from chunks
                    where position(%(text)s in concat_ws(E'\\n', heading, content)) > 0)"""
        with self._database.connection() as connection:
            row = connection.execute(query, {"text": text}).fetchone()
            return int(row[0]) if row else 0


def _chunk_rows(title: str, chunks: Iterable[Chunk], language: Language) -> Iterator[dict[str, object]]:
    """Title and headings count for a chunk's words, as they do for its vector."""
    for chunk in chunks:
        text = embedding_text(title, chunk.heading, chunk.content)
        terms = document_terms(text, language)
        yield {
            "position": chunk.position,
            "heading": chunk.heading,
            "content": chunk.content,
            "content_hash": text_hash(text),
            "length": len(terms),
            "tsv": tsvector_literal(terms),
        }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
