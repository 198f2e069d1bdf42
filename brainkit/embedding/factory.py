"""From settings to the embedder they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainkit.embedding.cache import cache_file
from brainkit.embedding.embedder import Embedder

if TYPE_CHECKING:
    from brainkit.settings import Settings


def make_embedder(settings: Settings) -> Embedder:
    """The embedder of BOR_EMBEDDER; it loads its model, or calls its server, at first use.

    Raises:
        SettingsError: a setting that the embedder needs is missing or no address.
        DimensionMismatchError: BOR_EMBEDDING_DIM is not the dimension of a packaged model (a server's: at first use).

    Example:
        >>> from brainkit.settings import Settings
        >>> make_embedder(Settings(embedder="wordllama")).identity.dimensions
        256
    """
    # Imported where chosen: each brings a library that the others do not need.
    if settings.embedder == "ollama":
        from brainkit.embedding.remote import ollama_embedder

        return ollama_embedder(settings)
    if settings.embedder == "openai":
        from brainkit.embedding.remote import openai_embedder

        return openai_embedder(settings)
    if settings.embedder == "wordllama":
        from brainkit.embedding import wordllama

        return Embedder(
            wordllama.WordLlamaEmbedding(embed_batch_size=settings.embedding_batch),
            name=wordllama.NAME,
            recipe=wordllama.RECIPE,
            dimensions=wordllama.DIMENSIONS,
            expected=settings.embedding_dim,
            batch=settings.embedding_batch,
            cache=cache_file(settings),
        )
    from brainkit.embedding import minilm

    return Embedder(
        minilm.MiniLMEmbedding(threads=settings.threads, embed_batch_size=settings.embedding_batch),
        name=minilm.NAME,
        recipe=minilm.RECIPE,
        dimensions=minilm.DIMENSIONS,
        expected=settings.embedding_dim,
        batch=settings.embedding_batch,
        cache=cache_file(settings),
    )
