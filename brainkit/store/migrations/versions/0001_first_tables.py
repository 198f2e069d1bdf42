"""First tables: sources, documents, chunks, lexemes, embedding models, labels, query log."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None

TABLES = """
create table sources (
    name text primary key,
    root text not null unique
);
create table documents (
    id uuid primary key,
    source text not null references sources (name),
    path text not null,
    full_path text not null,
    title text not null,
    content text not null,
    content_hash text not null,
    format text not null,
    language text not null,
    project text not null default '',
    ref text not null default '',
    role text not null default '',
    ts timestamptz,
    tags text[] not null default '{}',
    links text[] not null default '{}',
    redactions jsonb not null default '{}',
    note text not null default '',
    scrub_version text not null,
    index_version text not null,
    size bigint not null,
    mtime_ns bigint not null,
    indexed_at timestamptz not null default now(),
    unique (source, path)
);
create table chunks (
    id bigint generated always as identity primary key,
    document_id uuid not null references documents (id) on delete cascade,
    position integer not null,
    heading text not null,
    content text not null,
    content_hash text not null,
    unique (document_id, position) deferrable initially deferred
);
create index chunks_content_hash on chunks (content_hash);
create table lexemes (
    chunk_id bigint primary key references chunks (id) on delete cascade,
    document_id uuid not null,
    language text not null,
    length integer not null,
    tsv tsvector not null
);
alter table lexemes alter column tsv set storage external;
create index lexemes_tsv on lexemes using gin (tsv);
create table lexeme_stats (
    language text not null,
    lexeme text not null,
    documents integer not null,
    primary key (language, lexeme)
);
create table lexicon (
    singleton boolean primary key default true check (singleton),
    chunks bigint not null,
    newest_chunk bigint not null,
    mean_length double precision not null
);
insert into lexicon values (true, 0, 0, 0);
create table embedding_models (
    id integer generated always as identity primary key,
    name text not null,
    dimensions integer not null,
    fingerprint text not null unique
);
create table embedding_failures (
    chunk_id bigint not null references chunks (id) on delete cascade,
    model_id integer not null references embedding_models (id) on delete cascade,
    error text not null,
    attempts integer not null default 1,
    primary key (chunk_id, model_id)
);
create table labels (
    id text primary key,
    label jsonb not null,
    stored_at timestamptz not null default now()
);
create table query_log (
    id bigint generated always as identity primary key,
    question text not null,
    settings text not null,
    best_cosine double precision,
    lexical_hits integer not null,
    chunk_hits integer not null,
    decision text not null,
    score double precision not null,
    gate text not null,
    sources text[] not null,
    latency_ms double precision not null,
    created_at timestamptz not null default now()
);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(TABLES)


def downgrade() -> None:
    """Drop the tables, the vectors with them."""
    op.execute(
        """
        do $$ declare t text; begin
          for t in select tablename from pg_tables where schemaname = 'public' and tablename ~ '^vectors_[0-9]+$' loop
            execute format('drop table %I', t);
          end loop;
        end $$;
        drop table query_log, labels, embedding_failures, embedding_models, lexicon, lexeme_stats, lexemes, chunks,
                   documents, sources;
        """
    )
