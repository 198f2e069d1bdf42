"""Postings of common lexemes, so that words which thousands of chunks hold are ranked fast."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables, and the triggers that say where postings are out of date; the next import fills them."""
    op.execute(
        """
        create table common_lexemes (
            language text not null,
            lexeme text not null,
            primary key (language, lexeme)
        );
        create table postings (
            language text not null,
            lexeme text not null,
            block integer not null,
            chunks bigint[] not null,
            primary key (language, lexeme, block)
        );
        alter table postings alter column chunks set storage external;
        create index postings_block on postings (block);
        create table unposted (block integer not null);
        insert into unposted select distinct chunk_id / 2048 from lexemes;
        create function note_unposted() returns trigger language plpgsql as $$
        begin
            insert into unposted select distinct chunk_id / 2048 from changed;
            return null;
        end $$;
        create trigger lexemes_inserted after insert on lexemes
            referencing new table as changed for each statement execute function note_unposted();
        create trigger lexemes_updated after update on lexemes
            referencing new table as changed for each statement execute function note_unposted();
        create trigger lexemes_deleted after delete on lexemes
            referencing old table as changed for each statement execute function note_unposted();
        """
    )


def downgrade() -> None:
    """Undo it."""
    op.execute(
        """
        drop trigger lexemes_inserted on lexemes;
        drop trigger lexemes_updated on lexemes;
        drop trigger lexemes_deleted on lexemes;
        drop function note_unposted;
        drop table unposted, postings, common_lexemes;
        """
    )
