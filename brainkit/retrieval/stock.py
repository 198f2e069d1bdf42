"""LlamaIndex's own PGVectorStore over a brain, read-only: for programs and comparisons that want the stock classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import URL, NullPool

from brainkit.store import Database
from brainkit.store.view import VIEW

if TYPE_CHECKING:
    from llama_index.vector_stores.postgres import PGVectorStore


def stock_vector_store(database: Database, dimensions: int) -> PGVectorStore:
    """A PGVectorStore on the view ``data_brain``; queries in default, sparse and hybrid mode work, writing does not.

    Its nodes have the ids, texts and metadata of ours; its cosine similarities are those of our dense channel. Its
    sparse mode knows English only, and PostgreSQL's ts_rank instead of BM25.

    Args:
        database: an open brain.
        dimensions: length of the serving model's vectors.
    """
    from llama_index.vector_stores.postgres import PGVectorStore

    parts = dict(database.parameters)
    url = URL.create(
        "postgresql+psycopg",
        username=parts.pop("user", None),
        password=parts.pop("password", None),
        database=parts.pop("dbname", None),
        query={name: str(value) for name, value in parts.items()},
    )
    return PGVectorStore.from_params(
        connection_string=url,
        async_connection_string=url,
        table_name=VIEW,
        embed_dim=dimensions,
        hybrid_search=True,
        text_search_config="english",
        perform_setup=False,  # it would make a table
        use_halfvec=True,
        create_engine_kwargs={"poolclass": NullPool},  # nothing to close, whoever forgets it
    )
