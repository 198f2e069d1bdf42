"""Which embedding model serves, which one is being filled; aliases and links of documents with all they say."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns; a brain with one model goes on being served by it."""
    op.execute(
        """
        alter table documents add aliases text[] not null default '{}', add edges jsonb not null default '[]';
        alter table embedding_models add recipe jsonb not null default '{}', add serving boolean not null default false;
        create unique index embedding_models_serving on embedding_models (serving) where serving;
        update embedding_models set serving = true where id = (select max(id) from embedding_models);
        """
    )


def downgrade() -> None:
    """Drop the columns."""
    op.execute(
        """
        drop view if exists data_brain;
        alter table embedding_models drop recipe, drop serving;
        alter table documents drop aliases, drop edges;
        """
    )
