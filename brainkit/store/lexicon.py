"""The counts BM25 needs: how many chunks hold a lexeme, how many chunks there are, how long they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from psycopg import sql

from brainkit.store.database import Database
from brainkit.store.postings import post
from brainkit.store.terms import LANGUAGES

_TABLES = ("lexemes", "lexeme_stats", "chunks", "postings")
_POSITIONS = [str(position) for position in range(1, 16_384)]  # PostgreSQL's limit; of one lexeme it keeps 255


def tsvector_literal(terms: Sequence[str]) -> str:
    """Terms in order -> the text form of a tsvector, with positions.

    Example:
        >>> tsvector_literal(["pool", "tank", "pool"])
        "'pool':1,3 'tank':2"
    """
    positions: defaultdict[str, list[str]] = defaultdict(list)
    for position, term in zip(_POSITIONS, terms, strict=False):
        positions[term].append(position)
    return " ".join([f"{quoted(term)}:{','.join(found)}" for term, found in positions.items()])


def quoted(term: str) -> str:
    """A lexeme as tsvector and tsquery literals want it.

    Example:
        >>> quoted("o'brien")
        "'o''brien'"
    """
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def refresh_lexicon(database: Database) -> bool:
    """Count anew, and make postings, if chunks came or went since the last time; returns whether it counted.

    A killed import leaves old counts behind, which weigh terms a little off until the next run; none is missed for it.
    """
    counted = _count(database)
    made = post(database)
    with database.connection() as connection:
        for table in _TABLES if counted else _TABLES[-1:] if made else ():
            connection.execute(sql.SQL("analyze {}").format(sql.Identifier(table)))
    return counted


def _count(database: Database) -> bool:
    with database.connection() as connection, connection.transaction():
        connection.execute("select pg_advisory_xact_lock(hashtextextended('brainkit lexicon', 0))")
        now = connection.execute("select count(*), coalesce(max(chunk_id), 0) from lexemes").fetchone()
        if now == connection.execute("select chunks, newest_chunk from lexicon").fetchone():
            return False
        connection.execute("delete from lexeme_stats")
        for language in LANGUAGES:
            connection.execute(
                """insert into lexeme_stats (language, lexeme, documents)
                   select %(language)s, word, ndoc
                   from ts_stat(format('select tsv from lexemes where language = %%L', %(language)s::text))""",
                {"language": language},
            )
        connection.execute(
            """update lexicon set (chunks, newest_chunk, mean_length) =
               (select count(*), coalesce(max(chunk_id), 0), coalesce(avg(length), 0) from lexemes)"""
        )
    return True
