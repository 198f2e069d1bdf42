"""The view ``data_brain``: chunks in the shape that LlamaIndex's own PGVectorStore reads."""

from __future__ import annotations

from psycopg import sql

from brainkit.store.database import Connection

VIEW = "brain"
"""What PGVectorStore calls the table; it puts ``data_`` before it."""
_VIEW = sql.SQL(
    """
drop view if exists data_brain;
create view data_brain as
select c.id, c.content as text, c.id::text as node_id, v.embedding, l.tsv as text_search_tsv,
       json_build_object(
         'document_id', d.id, 'ref_doc_id', d.id, 'source', d.source, 'document_path', d.path, 'title', d.title,
         'heading', c.heading, 'position', c.position, 'format', d.format, 'project', d.project, 'role', d.role,
         'ref', d.ref, 'ts', d.ts, 'tags', d.tags
       ) as metadata_
from chunks c join documents d on d.id = c.document_id join lexemes l on l.chunk_id = c.id
join {vectors} v on v.chunk_id = c.id
"""
)


def make_view(connection: Connection, vectors: sql.Identifier) -> None:
    """Make the view over the vectors of the model that serves."""
    connection.execute(_VIEW.format(vectors=vectors))
