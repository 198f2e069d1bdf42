"""What the brain keeps, in PostgreSQL: documents, chunks, lexemes, vectors, labels and the query log."""

from __future__ import annotations

from brainkit.store.database import Database
from brainkit.store.documents import Change, DocumentRow, DocumentStore
from brainkit.store.entry import Entry, make_entry
from brainkit.store.labels import LabelStore
from brainkit.store.models import StoredModel, serve_with, stored_models
from brainkit.store.query_log import QueryLog
from brainkit.store.terms import Language, Term, detect_language, document_terms, question_terms
from brainkit.store.vectors import PendingChunk, VectorStore

__all__ = [
    "Change",
    "Database",
    "DocumentRow",
    "DocumentStore",
    "Entry",
    "LabelStore",
    "Language",
    "PendingChunk",
    "QueryLog",
    "StoredModel",
    "Term",
    "VectorStore",
    "detect_language",
    "document_terms",
    "make_entry",
    "question_terms",
    "serve_with",
    "stored_models",
]
