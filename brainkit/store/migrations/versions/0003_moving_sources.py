"""Sources whose roots look alike are told apart; a document can move to another source with all that hangs on it."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"

_REFERENCES = (
    ("documents", "documents_source_fkey", "foreign key (source) references sources (name)"),
    ("chunks", "chunks_document_id_fkey", "foreign key (document_id) references documents (id) on delete cascade"),
)


def upgrade() -> None:
    """Add the column, and let references follow a new id."""
    op.execute(
        """
        alter table sources add tag text not null default '', drop constraint sources_root_key, add unique (root, tag);
        """
    )
    for table, name, definition in _REFERENCES:
        op.execute(f"alter table {table} drop constraint {name}, add constraint {name} {definition} on update cascade")


def downgrade() -> None:
    """Undo it; of roots that look alike the first keeps its name, the others get their tag as an ending."""
    for table, name, definition in _REFERENCES:
        op.execute(f"alter table {table} drop constraint {name}, add constraint {name} {definition}")
    op.execute(
        """
        update sources s set root = root || '#' || tag
        where exists (select from sources o where o.root = s.root and o.name < s.name);
        alter table sources drop constraint sources_root_tag_key, drop tag, add unique (root);
        """
    )
