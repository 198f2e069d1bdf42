"""Labels that somebody has to look at again, and what people said about replies."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns; every label there is stays in use."""
    op.execute(
        """
        alter table labels add review text not null default '';
        alter table query_log add reply text not null default '', add feedback text not null default '';
        create index query_log_reply on query_log (reply) where reply <> '';
        """
    )


def downgrade() -> None:
    """Drop the columns; labels that were set aside go with their reasons."""
    op.execute(
        """
        delete from labels where review <> '';
        alter table labels drop review;
        alter table query_log drop reply, drop feedback;
        """
    )
