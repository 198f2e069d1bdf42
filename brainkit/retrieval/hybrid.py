"""The hybrid search: both channels, score completion, fusion and ranks in one SQL statement.

Lexical scores are BM25 (Robertson & Zaragoza 2009, k1 and b below; idf as in Lucene). PostgreSQL has no term frequency
to offer, but ``ts_rank`` of a single lexeme is (1 + 1/4 + ... + 1/tf^2) / (pi^2/6), a known function of it, and is
inverted here: exactly up to 255, the most positions PostgreSQL keeps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

import numpy as np
from pgvector import HalfVector
from psycopg import sql

from brainkit.retrieval.filters import Filters
from brainkit.retrieval.recall import RecalledChunk
from brainkit.retrieval.settings import RetrievalSettings
from brainkit.store import Database, Term
from brainkit.store.hnsw import use_index
from brainkit.store.lexicon import quoted
from brainkit.store.nearby import Form
from brainkit.store.terms import LANGUAGES

RANKING_VERSION: Final = 2
"""Goes up when the same candidates would get other scores; thresholds are then to be calibrated anew."""
K1: Final = 0.9
B: Final = 0.4
"""As in Lin et al. 2021 (Pyserini): chunks are about equally long, and holding a word says more than repeating it."""
MOST_TERMS: Final = 64
"""Terms of a question beyond this many are not looked up: a pasted page is not a question."""
MOST_ROWS: Final = 20_000
"""Terms are looked up from the rarest on, at least two, until they match so many chunks; all count in the scores."""
MOST_COMPLETED: Final = 1_000
"""Chunks, the best by the terms looked up, whose scores are completed by the others."""


class Candidates(NamedTuple):
    """All fused candidates, best first; the idf of the question's terms by number, and the terms no chunk holds."""

    chunks: list[RecalledChunk]
    idf: dict[int, float]
    unknown: frozenset[int]


_GAIN: Final = """a.most * l.tf / (l.tf + n.base + n.slope * l.length)"""
_TF: Final = """
  round(1 / (1.6449340668482264 * (1.0000001 - ts_rank(array[1, 1, 1, 1]::float4[], tsv, a.query)::float8)) - 0.5)
"""
# "offset 0" keeps the planner from turning a look-up for each term or chunk into a join over the whole table.
_STATEMENT: Final = """
with hidden as materialized (
  select c.id, l.language, l.length, l.tsv from chunks c join lexemes l on l.chunk_id = c.id
  where c.document_id = any(%(exclude)s::uuid[])
), counts as materialized (
  select greatest(n.chunks - h.chunks, 0) as chunks, %(k1)s * (1 - %(b)s) as base, %(k1)s * %(b)s / greatest(
           (n.mean_length * n.chunks - h.length) / greatest(n.chunks - h.chunks, 1), 1) as slope,
         n.newest_chunk < (select coalesce(max(chunk_id), 0) from lexemes) as stale,
         array(select distinct block from unposted) as unposted
  from lexicon n, (select count(*) as chunks, coalesce(sum(length), 0) as length from hidden) h
), terms as materialized (
  select t.ord, t.language, t.lexeme, t.query, c.lexeme is not null as posted, greatest(coalesce(s.documents, 0) - (
           select count(*) from hidden h where h.language = t.language and h.tsv @@ t.query), 0) as df
  from unnest(%(ords)s::int[], %(languages)s::text[], %(lexemes)s::text[], %(queries)s::text[]::tsquery[])
       t (ord, language, lexeme, query)
  left join lexeme_stats s on s.language = t.language and s.lexeme = t.lexeme
  left join common_lexemes c on c.language = t.language and c.lexeme = t.lexeme
), weights as materialized (
  select ord, df, ln(1 + (greatest(l.chunks - df, 0) + 0.5) / (df + 0.5)) as idf,
         sum(df) over (order by df, ord) <= %(rows)s or row_number() over (order by df = 0, df, ord) <= 2 as wanted
  from (select ord, sum(df) as df from terms group by ord) t, counts l
), mass as materialized (
  select coalesce(sum(idf), 0) * %(k1p)s as most from weights
), asked as materialized (
  select t.ord, t.language, t.lexeme, t.query, t.posted, w.idf * %(k1p)s as most, w.wanted
  from terms t join weights w using (ord), counts n
  where t.df > 0 or n.stale
){allowed}, dense as materialized (
  {dense}
), matches as materialized (
  select l.chunk_id, sum({gain}) as bm25
  from asked a cross join counts n cross join lateral (
    (select chunk_id, length, {tf} as tf from lexemes
     where tsv @@ a.query and language = a.language
       and (not a.posted or cardinality(n.unposted) > 0)
       and (not a.posted or chunk_id / 2048 = any(n.unposted)) offset 0)
    union all
    (select p.chunk >> 24, (p.chunk & 65535)::int, ((p.chunk >> 16) & 255)::float8
     from (select unnest(chunks) as chunk from postings
           where language = a.language and lexeme = a.lexeme and block <> all(n.unposted)) p
     where a.posted offset 0)
  ) l
  where a.wanted and %(lexical)s > 0 and l.chunk_id not in (select id from hidden){only} group by l.chunk_id
  order by bm25 desc, l.chunk_id limit {first}
), enough as materialized (
  select {enough} as bm25
), weighed as materialized (
  select m.chunk_id, m.bm25 + case when exists (select from asked where not wanted) then (
           select coalesce(sum({gain}), 0)
           from (select language, length, tsv from lexemes where chunk_id = m.chunk_id offset 0) e
           join asked a on a.language = e.language and e.tsv @@ a.query cross join counts n
           cross join lateral (select e.length, {tf} as tf) l where not a.wanted) else 0 end as bm25
  from matches m where m.bm25 >= (select bm25 from enough)
), lexical as materialized (
  select chunk_id, row_number() over (order by rank desc, chunk_id) as rank
  from (select w.chunk_id, {rank} as rank from weighed w order by rank desc, w.chunk_id limit %(lexical)s) x
), fused as materialized (
  select coalesce(d.chunk_id, x.chunk_id) as chunk_id, d.rank as dense_rank, x.rank as lexical_rank
  from dense d full join lexical x on x.chunk_id = d.chunk_id
), scored as materialized (
  select f.*, {cosine} as cosine, case when m.most > 0 then least(t.bm25 / m.most, 1) else 0 end as share, t.matched
  from fused f cross join mass m cross join lateral (
    select coalesce(sum({gain}), 0) as bm25, coalesce(array_agg(a.ord order by a.ord), array[]::int[]) as matched
    from (select language, length, tsv from lexemes where chunk_id = f.chunk_id offset 0) e
    join asked a on a.language = e.language and e.tsv @@ a.query cross join counts n
    cross join lateral (select e.length, {tf} as tf) l
  ) t
)
select s.chunk_id, c.document_id, c.source, c.path, c.title, c.heading, c.content, s.cosine, s.dense_rank,
       s.lexical_rank, s.share, {score} as score, s.matched, w.weights, c.ts
from (select array_agg(array[ord, idf, df] order by ord) as weights from weights) w
left join scored s on true
left join lateral (
  select c.document_id, d.source, d.path, d.title, c.heading, c.content, d.ts
  from chunks c join documents d on d.id = c.document_id where c.id = s.chunk_id offset 0
) c on true
order by score desc, s.chunk_id
"""
_DENSE: Final = """
  select chunk_id, row_number() over (order by distance, chunk_id) as rank
  from (select v.chunk_id, (v.embedding <=> %(vector)s){exact} as distance from {table} v
        where v.chunk_id not in (select id from hidden){only} order by distance, v.chunk_id limit {dense}) x
"""
_ALLOWED: Final = """, allowed as materialized (
  select c.id from chunks c join documents d on d.id = c.document_id where {condition}
)"""
_ONLY: Final = " and {of}.chunk_id in (select id from allowed)"
_EMPTY: Final = "select null::bigint as chunk_id, null::bigint as rank where false"
_RANKS: Final = {
    "bm25": "w.bm25",
    "ts_rank": "(select ts_rank(l.tsv, {any}) from lexemes l where l.chunk_id = w.chunk_id)",
    "ts_rank_cd": "(select ts_rank_cd(l.tsv, {any}) from lexemes l where l.chunk_id = w.chunk_id)",
}
_ANY: Final = "(select string_agg(distinct query::text, ' | ')::tsquery from asked)"
_FIRST: Final = """
  (select case when exists (select from asked where not wanted) then greatest(%(completed)s, %(lexical)s)
               else %(lexical)s end)"""
# What the terms not looked up can add to a chunk is bounded: one that falls behind by more cannot be among the first.
_ENOUGH: Final = """
  coalesce((select bm25 from matches order by bm25 desc limit 1 offset greatest(%(lexical)s - 1, 0)), 0)
  - (select coalesce(sum(idf), 0) * %(k1p)s from weights where not wanted)"""
_RRF: Final = """(coalesce(%(dense_weight)s / (%(k)s + s.dense_rank), 0)
                + coalesce(%(lexical_weight)s / (%(k)s + s.lexical_rank), 0))"""
_CONVEX: Final = "(%(alpha)s * coalesce(s.cosine, 0) + (1 - %(alpha)s) * s.share)"


def search(
    database: Database,
    terms: list[Term],
    vector: np.ndarray | None,
    table: sql.Identifier,
    settings: RetrievalSettings,
    exclude: Collection[UUID] = (),
    filters: Filters | None = None,
    others: Mapping[int, Sequence[Form]] = {},
    width: int = 0,
) -> Candidates:
    """Candidates of both channels with exact scores from both, ranked.

    Args:
        database: the brain's database.
        terms: the question's terms.
        vector: the question's embedding [d]; None leaves the dense channel out.
        table: the vector table of the embedding's model.
        settings: pools, fusion and its parameters.
        exclude: documents that are treated as absent: in the counts that weigh the terms, too.
        filters: the only documents to look at; the counts stay those of all.
        others: further lexemes that stand for a term, by its number.
        width: how wide to search the table's approximate index; 0 if it has none.
    """
    terms = terms[:MOST_TERMS]
    dense = vector is not None and settings.mode != "lexical"
    lexical = settings.mode != "dense" or vector is None
    score = _RRF if settings.fusion == "rrf" else _CONVEX
    if settings.mode == "dense" and vector is not None:
        score = "coalesce(s.cosine, -1)"
    elif settings.mode == "lexical" or vector is None:
        score = "s.share" if settings.rank == "bm25" else "1::float8 / (1 + s.lexical_rank)"
    known = vector is not None
    part = sql.SQL
    cosine = (
        "(select 1 - (v.embedding <=> %(vector)s) from {table} v where v.chunk_id = f.chunk_id)"
        if known
        else "null::float8"
    )
    condition, filtering = filters.condition() if filters else ("", {})
    only = {name: part(_ONLY if filters else "").format(of=sql.Identifier(name)) for name in ("l", "v")}
    statement = part(_STATEMENT).format(
        allowed=part(_ALLOWED).format(condition=part(condition)) if filters else part(""),
        only=only["l"],
        first=part(_FIRST if settings.rank == "bm25" else "all"),
        enough=part(_ENOUGH if settings.rank == "bm25" else "0::float8"),
        dense=part(_DENSE).format(
            table=table,
            only=only["v"],
            exact=part(" + 0" if filters else ""),  # no index is for this: the few that fit are all looked at
            dense=sql.Literal(settings.dense),  # of a parameter PostgreSQL would expect a tenth of the table
        )
        if dense
        else part(_EMPTY),
        gain=part(_GAIN),
        tf=part(_TF),
        rank=part(_RANKS[settings.rank]).format(any=part(_ANY)),
        cosine=part(cosine).format(table=table),
        score=part(score),
    )
    flat = [(ord_, language, getattr(term, language)) for ord_, term in enumerate(terms) for language in LANGUAGES]
    flat += [(ord_, *form) for ord_, forms in others.items() for form in forms]
    values: dict[str, Any] = {
        "ords": [row[0] for row in flat],
        "languages": [row[1] for row in flat],
        "lexemes": [row[2] for row in flat],
        "queries": [quoted(row[2]) for row in flat],
        "k1": K1,
        "b": B,
        "k1p": K1 + 1,
        "rows": MOST_ROWS,
        "completed": MOST_COMPLETED,
        "exclude": list(exclude),
        "lexical": settings.lexical if lexical else 0,
        "k": settings.k,
        "alpha": settings.alpha,
        "dense_weight": settings.dense_weight,
        "lexical_weight": settings.lexical_weight,
        "vector": HalfVector(vector) if vector is not None else None,
        **filtering,
    }
    with database.connection() as connection:
        if width and dense:
            use_index(connection, max(width, settings.dense))
        rows = connection.execute(statement, values, prepare=True).fetchall()
    chunks = [RecalledChunk(*(*row[:12], frozenset(row[12]), row[14])) for row in rows if row[0] is not None]
    weights = [(int(ord_), float(idf), df) for ord_, idf, df in rows[0][13] or []]
    seen = frozenset[int]().union(*(chunk.matched for chunk in chunks))  # more than the counts know, if they are stale
    unknown = frozenset(ord_ for ord_, _, df in weights if df == 0) - seen
    return Candidates(chunks, {ord_: idf for ord_, idf, _ in weights}, unknown)
