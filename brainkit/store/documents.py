"""Documents, their chunks and lexemes: written one document a transaction, compared by hash, removed by path."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final, NamedTuple

from psycopg import sql
from psycopg.errors import ForeignKeyViolation, UniqueViolation
from psycopg.types.json import Jsonb

from brainkit.readers import Document, Link
from brainkit.store.database import Database
from brainkit.store.entry import Entry
from brainkit.store.sources import Source, all_sources, document_id, unused

_ATTEMPTS: Final = 5
_COLUMNS: Final = (
    "full_path", "title", "content", "content_hash", "format", "language", "project", "ref", "role", "ts", "tags",
    "aliases", "links", "edges", "redactions", "note", "scrub_version", "index_version", "size", "mtime_ns",
)  # fmt: skip
_MODELS: Final = "select id from embedding_models order by id"
_PUT: Final = sql.SQL(
    """
with doc as (
  insert into documents (id, source, path, {columns}) values (%(id)s, %(source)s, %(path)s, {values})
  on conflict (id) do update set ({columns}, indexed_at) = ({excluded}, now())
  returning id, xmax = 0 as is_new
), given as (
  select * from json_to_recordset(%(chunks)s)
                n (position int, heading text, content text, content_hash text, length int, tsv tsvector)
), gone as (
  delete from chunks where document_id = %(id)s
), made as (
  insert into chunks (document_id, position, heading, content, content_hash)
  select doc.id, position, heading, content, content_hash from given, doc order by position
  returning id, position, content_hash
), indexed as (
  insert into lexemes (chunk_id, document_id, language, length, tsv)
  select made.id, %(id)s, %(language)s, length, tsv from made join given using (position)
){vectors}
select is_new, set_config('synchronous_commit', 'off', true) from doc
"""
)
"""One statement, so one transaction. It need not wait for the disk: the files are still there if the machine dies."""
_KEEP_VECTORS: Final = sql.SQL(
    """, {name} as (
  insert into {table} (chunk_id, embedding)
  select made.id, known.embedding
  from made cross join lateral (select v.embedding from chunks old join {table} v on v.chunk_id = old.id
                                where old.content_hash = made.content_hash order by old.id + 0 limit 1) known
)"""
)
"""A text that was embedded before is not embedded again: the statement still sees the rows that it deletes.

One text at a time, since a plan made while the tables are small would go on reading them whole; ``+ 0`` keeps it from
going through all chunks in the order of their ids.
"""
_SHARE_VECTORS: Final = """
insert into {0} (chunk_id, embedding)
select distinct on (new.id) new.id, v.embedding
from chunks new join chunks old on old.content_hash = new.content_hash and old.id <> new.id
join {0} v on v.chunk_id = old.id
where not exists (select from {0} own where own.chunk_id = new.id)
order by new.id, old.id on conflict do nothing
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
    role: str


class DocumentStore:
    """Reads and writes documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def source_for(
        self, root: str, *, remember: bool = True, tags: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[str, str]:
        """Name of the source a folder belongs to, and the folder's place in it ('' or 'sub/folder').

        A folder inside a known root belongs to that source. A new root is named after its last part, made unique.

        Args:
            root: the folder's shown path.
            remember: keep a new name; without, nothing is written.
            tags: what tells the folder, and each of those above it, from others that are shown alike.
        """
        with self._database.connection() as connection, connection.transaction():
            if remember:
                connection.execute("lock table sources in share row exclusive mode")
            known = {(top, tag): name for name, top, tag in connection.execute("select name, root, tag from sources")}
            for parent in (PurePosixPath(root), *PurePosixPath(root).parents):
                name = known.get((str(parent), tags.get(str(parent), "")))
                if name is not None:
                    inside = PurePosixPath(root).relative_to(parent)
                    return name, "" if str(inside) == "." else str(inside)
            name = unused(PurePosixPath(root).name or "root", set(known.values()))
            if remember:
                connection.execute(
                    "insert into sources (name, root, tag) values (%s, %s, %s)", (name, root, tags.get(root, ""))
                )
            return name, ""

    def sources(self) -> list[Source]:
        """Every source, sorted by name."""
        return all_sources(self._database)

    def rows(self, source: str | None = None) -> dict[str, DocumentRow]:
        """The stored documents by path; of every source as ``source:path`` when none is given."""
        query = """select id, source, path, title, content_hash, index_version, size, mtime_ns, indexed_at, role
                   from documents where %(source)s::text is null or source = %(source)s order by source, path"""
        with self._database.connection() as connection:
            found = [DocumentRow(*row) for row in connection.execute(query, {"source": source})]
        return {row.path if source is not None else f"{row.source}:{row.path}": row for row in found}

    def text(self, source: str, path: str) -> tuple[str, str] | None:
        """Title and whole (scrubbed) text of one document; None if it is not there."""
        query = "select title, content from documents where source = %s and path = %s"
        with self._database.connection() as connection:
            found = connection.execute(query, (source, path)).fetchone()
        return None if found is None else (found[0], found[1])

    def contents(self, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
        """Whole (scrubbed) texts of documents by id; ids that are not there are left out."""
        with self._database.connection() as connection:
            return dict(connection.execute("select id, content from documents where id = any(%s)", (list(ids),)))

    def put(
        self,
        source: str,
        path: str,
        entry: Entry,
        *,
        index_version: str,
        size: int,
        mtime_ns: int,
        replaces: bool = True,
    ) -> Change:
        """Store a document and its chunks in one transaction; two writers of one document come one after the other.

        Args:
            source: name of its source.
            path: its path there.
            entry: what to store.
            index_version: what decided how it was indexed.
            size: bytes of its file.
            mtime_ns: time of its file.
            replaces: keep the vectors of the chunks that it had before; False costs less where it had none.
        """
        document = entry.document
        values = {
            "id": document_id(source, path),
            "source": source,
            "path": path,
            "full_path": document.full_path,
            "title": document.title,
            "content": document.content,
            "content_hash": document.content_hash,
            "format": document.format,
            "language": entry.language,
            "project": document.project,
            "ref": document.ref,
            "role": document.role,
            "ts": document.ts,
            "tags": list(document.tags),
            "aliases": list(document.aliases),
            "links": list(document.links),
            "edges": Jsonb([edge._asdict() for edge in document.edges]),
            "redactions": Jsonb(dict(document.redactions)),
            "note": document.note,
            "scrub_version": document.scrub_version,
            "index_version": index_version,
            "size": size,
            "mtime_ns": mtime_ns,
            "chunks": entry.chunks,
        }
        attempts = _ATTEMPTS
        while True:
            try:
                with self._database.connection() as connection:
                    models = connection.execute(_MODELS, prepare=True).fetchall() if replaces else []
                    row = connection.execute(_put_statement(tuple(models)), values, prepare=True).fetchone()
                    return Change.INDEXED if row and row[0] else Change.REINDEXED
            except UniqueViolation:  # somebody else stored this document at the same moment
                attempts -= 1
                if not attempts:
                    raise

    def share_vectors(self) -> None:
        """Give chunks without a vector that of an equal text: of a moved file, or of a second copy of it."""
        with self._database.connection() as connection:
            for (model,) in connection.execute(_MODELS).fetchall():
                share = sql.SQL(_SHARE_VECTORS).format(sql.Identifier(f"vectors_{model}"))
                for attempts in reversed(range(_ATTEMPTS)):
                    try:
                        connection.execute(share)
                        break
                    except ForeignKeyViolation:  # another import removed one of these chunks at the same moment
                        if not attempts:
                            raise

    def touch(self, key: uuid.UUID, document: Document, *, size: int, mtime_ns: int) -> None:
        """Note that a file was read again and says the same as before, perhaps at another time or place."""
        with self._database.connection() as connection:
            connection.execute(
                "update documents set size = %s, mtime_ns = %s, ts = %s, project = %s where id = %s",
                (size, mtime_ns, document.ts, document.project, key),
            )

    def remove(self, ids: Collection[uuid.UUID]) -> None:
        """Remove documents with their chunks, lexemes and vectors."""
        with self._database.connection() as connection:
            connection.execute("delete from documents where id = any(%s)", (list(ids),))

    def load(self, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Document]:
        """Documents as they were stored, by id; ids that are not there are left out."""
        query = """select id, path, full_path, title, content, content_hash, format, tags, ts, links, redactions,
                          scrub_version, note, project, ref, role, aliases, language, edges
                   from documents where id = any(%s)"""
        with self._database.connection() as connection:
            return {
                key: Document(path, full_path, title, content, content_hash, kind, tuple(tags), ts, tuple(links),
                              redactions, scrub_version, note, project, ref, role, tuple(aliases), language,
                              tuple(Link(**edge) for edge in edges))
                for (key, path, full_path, title, content, content_hash, kind, tags, ts, links, redactions,
                     scrub_version, note, project, ref, role, aliases, language,
                     edges) in connection.execute(query, (list(ids),))
            }  # fmt: skip

    def accept(self, key: uuid.UUID, document: Document, *, index_version: str) -> None:
        """Note that newer rules leave a document as it is."""
        with self._database.connection() as connection:
            connection.execute(
                "update documents set scrub_version = %s, content_hash = %s, index_version = %s where id = %s",
                (document.scrub_version, document.content_hash, index_version, key),
            )

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


@functools.lru_cache(maxsize=16)
def _put_statement(models: tuple[tuple[int], ...]) -> bytes:
    """The statement that stores a document in a brain with these models."""
    names = sql.SQL(", ").join(map(sql.Identifier, _COLUMNS))
    return _PUT.format(
        columns=names,
        values=sql.SQL(", ").join(map(sql.Placeholder, _COLUMNS)),
        excluded=sql.SQL(", ").join(sql.SQL("excluded.{}").format(sql.Identifier(name)) for name in _COLUMNS),
        vectors=sql.SQL("").join(
            _KEEP_VECTORS.format(name=sql.Identifier(f"kept_{model}"), table=sql.Identifier(f"vectors_{model}"))
            for (model,) in models
        ),
    ).as_bytes()
