"""Embed the chunks that have no vector yet; stopped at any moment, it goes on where it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from brainkit.embedding import Embedder
from brainkit.errors import EmbeddingError
from brainkit.store import VectorStore

BATCH = 128
"""Texts stored at once: what a kill costs at most."""


@dataclass
class EmbedReport:
    """What embedding did.

    Attributes:
        embedded: chunks that got their vector.
        failed: chunks whose text could not be embedded.
        pending: chunks still without a vector.
        error: why it stopped early; empty if it did not.
    """

    embedded: int = 0
    failed: int = 0
    pending: int = 0
    error: str = ""


def embed_pending(
    embedder: Embedder,
    vectors: VectorStore,
    *,
    retry: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> EmbedReport:
    """Embed every pending chunk, each distinct text once.

    Args:
        embedder: gives the vectors.
        vectors: where they go.
        retry: try chunks again that failed several times.
        progress: told about every stored batch.
    """
    report, after, total = EmbedReport(), 0, vectors.pending_count()
    done = 0
    if vectors.identity is None:  # its server was not to be reached: let it say why
        report.error, report.pending = _reason(embedder), total
        return report
    while batch := vectors.pending(BATCH, after=after, retry=retry):
        try:
            result = embedder.embed_documents([chunk.text for chunk in batch])
        except EmbeddingError as error:
            report.error = str(error)
            break
        vectors.put(batch, result.vectors, result.failures)
        sizes = [len(chunk.chunk_ids) for chunk in batch]
        failed = sum(sizes[i] for i in result.failures)
        report.embedded += sum(sizes) - failed
        report.failed += failed
        done += sum(sizes)
        after = batch[-1].chunk_ids[0]
        if progress:
            progress("embed", min(done, total), total)
    report.pending = vectors.pending_count()
    return report


def _reason(embedder: Embedder) -> str:
    try:
        embedder.identify()
    except EmbeddingError as error:
        return str(error)
    return f"{embedder.name} was not to be reached a moment ago: run `brainkit embed`"
