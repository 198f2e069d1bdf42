"""The names of documents that labels, citations and excludes use: ``path``, ``source:path``, or an id."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from brainkit.errors import UsageError
from brainkit.store.documents import DocumentStore


def document_names(documents: DocumentStore) -> dict[str, tuple[UUID, ...]]:
    """Every name with the ids it stands for; a path that several sources have stands for several."""
    names: dict[str, tuple[UUID, ...]] = {}
    for full, row in documents.rows().items():
        names[full] = (row.id,)
        names[row.path] = (*names.get(row.path, ()), row.id)
    return names


def document_ids(documents: DocumentStore, names: Collection[UUID | str]) -> list[UUID]:
    """Ids of documents given by id, path or ``source:path``.

    Raises:
        UsageError: a name is not in the brain.
    """
    if not names:
        return []
    known = document_names(documents)
    known |= {str(key): (key,) for keys in known.values() for key in keys if str(key) not in known}
    if missing := [str(name) for name in names if str(name) not in known]:
        raise UsageError(f"no document {missing[0]!r} in the brain; `brainkit status --documents` lists them")
    return [key for name in names for key in known[str(name)]]


def document_texts(documents: DocumentStore) -> dict[str, str]:
    """Whole text of every document by each of its names."""
    names = document_names(documents)
    texts = documents.contents([key for keys in names.values() for key in keys])
    return {name: "\n".join(texts.get(key, "") for key in keys) for name, keys in names.items()}


def twins(documents: DocumentStore, keys: Collection[UUID]) -> list[UUID]:
    """The documents and those with the same text, which have to be hidden with them."""
    rows = documents.rows().values()
    hashes = {row.content_hash for row in rows if row.id in keys}
    return [row.id for row in rows if row.content_hash in hashes]
