"""Which model answers questions, and which one is being filled after the setting changed."""

from __future__ import annotations

import contextlib
import logging
from typing import Any, NamedTuple

from brainkit.embedding import Embedder, make_embedder
from brainkit.errors import EmbedderUnavailableError, EmbeddingError, SettingsError
from brainkit.settings import Settings
from brainkit.store import Database, StoredModel, VectorStore, serve_with, stored_models

log = logging.getLogger(__name__)


class Model(NamedTuple):
    """An embedder with the table of its vectors; ``kind`` is its BOR_EMBEDDER."""

    kind: str
    embedder: Embedder
    vectors: VectorStore


class Models(NamedTuple):
    """The model that answers questions, and the one of the settings; the same but for a change that is not done."""

    serving: Model
    configured: Model


def open_models(database: Database, settings: Settings, embedder: Embedder, *, patient: bool = False) -> Models:
    """Decide which model answers.

    The one that did so before goes on until the one of the settings has a vector for every chunk that can have one; it
    is set aside at once if it cannot be used any more. An embedder whose server is down is taken for the model that
    these settings meant when it was last seen.

    Args:
        database: an open brain.
        settings: BOR_EMBEDDER and the like.
        embedder: the one the settings ask for.
        patient: wait for a server that may have to load its model first.
    """
    if patient:
        with contextlib.suppress(EmbedderUnavailableError):
            embedder.identify()
    stored = stored_models(database)
    configured = Model(settings.embedder, embedder, _vectors_of(database, settings, embedder, stored))
    serving = next((model for model in stored if model.serving), None)
    mine = configured.vectors
    if serving is None or serving.identity == mine.identity:
        return Models(configured, configured)
    if (mine.identity is None or mine.pending(1)) and (former := _former(database, settings, serving)):
        return Models(former, configured)
    if mine.identity is not None:
        serve_with(database, mine.model_id)
    return Models(configured, configured)


def _vectors_of(database: Database, settings: Settings, embedder: Embedder, stored: list[StoredModel]) -> VectorStore:
    recipe = recipe_of(settings)
    try:
        return VectorStore(database, embedder.identity, recipe)
    except EmbedderUnavailableError as error:
        log.warning("%s", error)
        seen = [model for model in stored if model.recipe == recipe]
        if seen:
            embedder.assume(seen[-1].identity)
        return VectorStore(database, seen[-1].identity if seen else None)


def _former(database: Database, settings: Settings, model: StoredModel) -> Model | None:
    """The model that served before, if it can still be used."""
    kind = str(model.recipe.get("embedder"))
    changes = {"embedder": kind, "embedding_model": model.recipe.get("model"), "embedding_dim": None}
    try:
        embedder = make_embedder(settings.model_copy(update=changes))
        same = embedder.identity.fingerprint == model.identity.fingerprint
    except (EmbeddingError, SettingsError):
        return None
    return Model(kind, embedder, VectorStore(database, model.identity)) if same else None


def recipe_of(settings: Settings) -> dict[str, Any]:
    """The settings that make an embedder again; no address, which may hold a password."""
    return {"embedder": settings.embedder, "model": settings.embedding_model}


def list_models(database: Database, models: Models) -> list[dict[str, Any]]:
    """Every model with a table, as plain data: its size, whether it serves, whether the settings name it."""
    return [
        {
            "name": stored.identity.name,
            "dimensions": stored.identity.dimensions,
            "vectors": stored.vectors,
            "serving": stored.serving,
            "configured": stored.identity == models.configured.vectors.identity,
        }
        for stored in stored_models(database)
    ]
