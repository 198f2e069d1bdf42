"""Links between documents: those their texts write, those made by hand, and those learnt from the vectors."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"

TABLES = """
create table links (
    id bigint generated always as identity primary key,
    from_id uuid not null references documents (id) on update cascade on delete cascade,
    to_id uuid references documents (id) on update cascade on delete set null,
    kind text not null,
    target text not null default '',
    heading text not null default '',
    weight real not null default 1,
    reason text not null default ''
);
create index links_from on links (from_id);
create index links_to on links (to_id);
create table link_states (
    document_id uuid primary key references documents (id) on update cascade on delete cascade,
    text_key text not null default '',
    vector_key text not null default '',
    neighbours integer not null default 0
);
create table link_neighbours (
    document_id uuid not null references documents (id) on update cascade on delete cascade,
    neighbour_id uuid not null references documents (id) on update cascade on delete cascade,
    cosine real not null,
    primary key (document_id, neighbour_id)
);
create index link_neighbours_back on link_neighbours (neighbour_id);
"""


def upgrade() -> None:
    """Make the tables; they are filled by the next import, or by ``brainkit links --refresh``."""
    op.execute(TABLES)


def downgrade() -> None:
    """Drop the tables; links made by hand go with them."""
    op.execute("drop table link_neighbours, link_states, links")
