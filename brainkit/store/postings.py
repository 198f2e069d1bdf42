"""Postings: for each common lexeme the chunks that hold it, how often, and how long they are, in blocks of chunks.

PostgreSQL's index over tsvectors tells only which chunks hold a lexeme; to weigh it each of them has to be read, which
costs several microseconds. That is nothing for a rare word. Of a common one (``COMMON`` chunks or more) the same facts
lie here, packed, at a twentieth of the cost (inverted index: Zobel and Moffat 2006).

A posting is a number: the chunk's id, 8 bits for how often the lexeme stands in it, 16 for the chunk's length in terms.
Triggers note in ``unposted`` which blocks changed; these are searched as if there were no postings, until ``post`` has
made theirs anew. So a search sees every chunk at any moment, whatever was killed.
"""

from __future__ import annotations

from typing import Final

from psycopg import IsolationLevel

from brainkit.store.database import Connection, Database

COMMON: Final = 400
"""Chunks with a lexeme from which on it has postings."""
BLOCK: Final = 2048
"""Chunk ids in a block; the migration's triggers and the search statement say the same."""
_TOGETHER: Final = 8
"""Blocks made in one transaction, so that little is lost when it is cut off."""


def post(database: Database) -> int:
    """Make postings where they are missing or out of date; returns the number of blocks made."""
    with database.connection() as connection:
        # Not inside the transactions: they have to see what the one before has done.
        connection.execute("select pg_advisory_lock(hashtextextended('brainkit postings', 0))")
        try:
            with connection.transaction():
                _choose(connection)
            stale = [row[0] for row in connection.execute("select distinct block from unposted order by block")]
            for first in range(0, len(stale), _TOGETHER):
                _make(connection, stale[first : first + _TOGETHER])
        finally:
            if not connection.closed:
                connection.execute("select pg_advisory_unlock(hashtextextended('brainkit postings', 0))")
    return len(stale)


def _choose(connection: Connection) -> None:
    """Choose the common lexemes anew, and all postings with them, once many or very common ones have none."""
    connection.execute(
        """with gone as (delete from common_lexemes c where not exists (
             select from lexeme_stats s where s.language = c.language and s.lexeme = c.lexeme)
             returning language, lexeme)
           delete from postings p using gone g where p.language = g.language and p.lexeme = g.lexeme"""
    )
    # Counted over all languages: PostgreSQL's index over tsvectors knows none.
    row = connection.execute(
        """select count(*), coalesce(max(held), 0), (select count(*) from common_lexemes)
           from (select language, lexeme, sum(documents) over (partition by lexeme) as held from lexeme_stats) s
           where held >= %s and not exists (
             select from common_lexemes c where c.language = s.language and c.lexeme = s.lexeme)""",
        (COMMON,),
    ).fetchone()
    missing, most, known = row or (0, 0, 0)
    if missing > known / 10 or most >= 4 * COMMON:
        connection.execute("delete from common_lexemes")
        connection.execute(
            """insert into common_lexemes select language, lexeme
               from (select language, lexeme, sum(documents) over (partition by lexeme) as held from lexeme_stats) s
               where held >= %s""",
            (COMMON,),
        )
        connection.execute("insert into unposted select distinct chunk_id / %s from lexemes", (BLOCK,))


def _make(connection: Connection, blocks: list[int]) -> None:
    connection.isolation_level = IsolationLevel.REPEATABLE_READ  # what is read and what is struck off belong together
    try:
        with connection.transaction():
            connection.execute("delete from unposted where block = any(%s)", (blocks,))
            connection.execute("delete from postings where block = any(%s)", (blocks,))
            if connection.execute("select from common_lexemes limit 1").fetchone() is None:
                return
            for block in blocks:
                connection.execute(
                    """insert into postings
                       select l.language, u.lexeme, %(block)s::int, array_agg(
                         (l.chunk_id << 24) | (least(cardinality(u.positions), 255)::bigint << 16)
                         | least(l.length, 65535) order by l.chunk_id)
                       from lexemes l cross join unnest(l.tsv) u
                       join common_lexemes c on c.language = l.language and c.lexeme = u.lexeme
                       where l.chunk_id >= %(first)s and l.chunk_id < %(end)s
                       group by l.language, u.lexeme""",
                    {"block": block, "first": block * BLOCK, "end": (block + 1) * BLOCK},
                )
    finally:
        connection.isolation_level = None
