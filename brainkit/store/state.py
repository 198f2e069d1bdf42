"""Which state the notes are in: a short text that changes whenever a document or its vectors do."""

from __future__ import annotations

from psycopg import sql

from brainkit.store.database import Database
from brainkit.store.vectors import VectorStore


def corpus_state(database: Database, vectors: VectorStore) -> str:
    """Number of documents, newest chunk, newest vector: three look-ups that take no time.

    A document that is stored anew gets new chunks, and an id never comes twice; one that is removed shows in the
    number. A file that was merely read again, or stands in another place, changes nothing.
    """
    newest = sql.SQL("select coalesce(max(chunk_id), 0) from {}").format(vectors.table)
    query = sql.SQL(
        "select (select count(*) from documents), (select coalesce(max(id), 0) from chunks), ({vector})"
    ).format(vector=newest if vectors.model_id else sql.SQL("0"))
    with database.connection() as connection:
        documents, chunk, vector = connection.execute(query).fetchone() or (0, 0, 0)
    return f"{documents} documents, chunk {chunk}, vector {vector}"


def newest_chunk(state: str) -> int:
    """The newest chunk of a state; chunks with greater ids came later. 0 for what is no state.

    Example:
        >>> newest_chunk("3 documents, chunk 17, vector 16"), newest_chunk("")
        (17, 0)
    """
    words = state.replace(",", "").split()
    return int(words[3]) if len(words) == 6 and words[3].isdigit() else 0
