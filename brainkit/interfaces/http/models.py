"""What comes in and goes out as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Turn(BaseModel):
    """Something that was said before."""

    model_config = ConfigDict(extra="forbid", strict=True)
    role: Literal["user", "assistant"]
    text: str = Field(max_length=20_000)


class Question(BaseModel):
    """A question, perhaps a follow-up."""

    model_config = ConfigDict(extra="forbid", strict=True)
    question: str = Field(min_length=1, max_length=4_000)
    history: list[Turn] = Field(default_factory=list, max_length=40, description="What was said before, oldest first.")
    details: bool = Field(False, description="Also give `reply` in `done`: checked text, remarks, id.")


class Steered(BaseModel):
    """The owner's own words to the model."""

    model_config = ConfigDict(extra="forbid", strict=True)
    text: str = Field(max_length=100_000, description='"" removes it.')


class Steering(BaseModel):
    """The owner's own words to the model, as they are kept."""

    text: str
    budget: int = Field(description="Characters of it that reach a prompt (BOR_STEERING_MAX_CHARS).")
    cut: bool


class Health(BaseModel):
    """That the server and its database are there."""

    status: Literal["ok"] = "ok"
    version: str
    database: str = Field(description="Version of PostgreSQL.")
    documents: int
    model: str = Field(description='The language model that answers; "" where notes are quoted.')


class Suggestions(BaseModel):
    """Questions the notes can answer."""

    suggestions: list[str]


class SourceRow(BaseModel):
    """A folder that was imported."""

    source: str
    documents: int
    chunks: int
    indexed_at: datetime


class DocumentRow(BaseModel):
    """A document without its text."""

    source: str
    path: str
    title: str
    chunks: int
    indexed_at: datetime


class Catalogue(BaseModel):
    """What the brain holds."""

    sources: list[SourceRow]
    documents: list[DocumentRow] = Field(description="Sorted by source and path, from `offset` on, at most `limit`.")


class Document(BaseModel):
    """A document with its whole text, without the secrets that were in it."""

    source: str
    path: str
    title: str
    content: str


class Problem(BaseModel):
    """What is wrong, and what to do."""

    detail: str
