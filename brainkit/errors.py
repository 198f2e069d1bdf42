"""Every error brainkit raises on purpose, as one tree.

::

    BrainkitError                       exit code
     ├── SettingsError                  2  a BOR_* variable or keyword has a wrong value
     ├── UsageError                     2  a call or command was given something it cannot use
     │    ├── RetrievalSettingsError    2  a retrieval string does not parse
     │    ├── LabelsError               2  a labels file is wrong: id, document, quote or form
     │    └── BaselineError             4  an earlier evaluation cannot be compared with
     ├── DatabaseError                  1  PostgreSQL cannot be used
     │    ├── ServerStartError          1  the embedded server does not start
     │    ├── ServerTooOldError         2  PostgreSQL or pgvector is below what brainkit needs
     │    └── SchemaError               2  the tables were made by a newer brainkit
     ├── EmbeddingError                 1  text could not be turned into vectors
     │    ├── EmbedderUnavailableError  1  the embedder does not answer or its model is not there
     │    └── DimensionMismatchError    2  the model's dimension is not BOR_EMBEDDING_DIM
     ├── LLMUnavailableError            1  the language model does not answer or is not there
     └── CertificateError               1  a certificate does not fit this brain, or cannot be read

A message says what failed, with which value, and what to run or change; the command line prints it without a traceback.
"""

from __future__ import annotations


class BrainkitError(Exception):
    """Base of all brainkit errors; ``exit_code`` is what the command line leaves with."""

    exit_code = 1


class SettingsError(BrainkitError):
    """A BOR_* variable or a keyword of Settings has a value that is not allowed."""

    exit_code = 2


class UsageError(BrainkitError):
    """A call or a command was given something it cannot use."""

    exit_code = 2


class RetrievalSettingsError(UsageError):
    """A retrieval string does not parse."""


class LabelsError(UsageError):
    """A labels file is wrong: an id, a document, a quote or the form."""


class BaselineError(UsageError):
    """An earlier evaluation cannot be compared with: other questions, notes, model or metrics."""

    exit_code = 4


class DatabaseError(BrainkitError):
    """PostgreSQL cannot be used."""


class ServerStartError(DatabaseError):
    """The embedded server does not start, or does not answer."""


class ServerTooOldError(DatabaseError):
    """PostgreSQL or pgvector is older than brainkit needs."""

    exit_code = 2


class SchemaError(DatabaseError):
    """The tables were made by a newer brainkit than this one."""

    exit_code = 2


class EmbeddingError(BrainkitError):
    """Text could not be turned into vectors."""


class EmbedderUnavailableError(EmbeddingError):
    """The embedder does not answer, or does not have the model."""


class DimensionMismatchError(EmbeddingError):
    """The model's vectors have another dimension than BOR_EMBEDDING_DIM or the brain's table."""

    exit_code = 2


class LLMUnavailableError(BrainkitError):
    """The language model does not answer, refuses, or is not there."""


class CertificateError(BrainkitError):
    """A certificate does not fit this brain, or cannot be read."""
