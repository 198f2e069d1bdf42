"""The links of a brain: what a document is linked with, links made by hand, and keeping all of them up to date."""

from __future__ import annotations

from functools import cached_property
from uuid import UUID

from brainkit.brain.reviewing import Reviewing
from brainkit.errors import UsageError
from brainkit.ingestion.sync import Progress
from brainkit.memory.links import LinkRow, LinkStore, Related


class Linking(Reviewing):
    """What follows links."""

    def related(self, document: UUID | str, n: int = 10) -> tuple[Related, ...]:
        """Documents linked with one, best first: by its text or another's, by hand, or learnt; at most ``n``.

        Args:
            document: id, path or ``source:path``.
            n: most documents to give, at least 1.

        Raises:
            UsageError: it is not in the brain, several sources have that path, or n < 1.
        """
        return self._links.related(self._one(document), n)

    def link(self, one: UUID | str, other: UUID | str, reason: str = "") -> None:
        """Link two documents by hand; the reason is scrubbed.

        Raises:
            UsageError: one is not in the brain, or both are the same.
        """
        self._links.put(self._one(one), self._one(other), " ".join(self.scrubbed(reason).split())[:500])

    def unlink(self, one: UUID | str, other: UUID | str) -> bool:
        """Remove the link made by hand between two documents; whether there was one."""
        return self._links.remove(self._one(one), self._one(other))

    def links(self, kind: str | None = None, *, orphans: bool = False) -> list[LinkRow]:
        """All links, those of one kind, or only those whose target is not in the brain."""
        return [row for row in self._links.rows(kind) if not orphans or not row.to]

    def link_counts(self) -> dict[str, int]:
        """Number of links by kind, and of ``orphans``, whose target is not in the brain."""
        return self._links.counts()

    def refresh_links(self, *, full: bool = True, progress: Progress | None = None) -> dict[str, int]:
        """Bring links up to date, all of them anew or only those of what changed; returns ``link_counts``."""
        serving = self._models.serving
        return self._links.refresh(serving.vectors.model_id, serving.kind, full=full, progress=progress)

    # Inside

    @cached_property
    def _links(self) -> LinkStore:
        return LinkStore(self._database)

    def _one(self, document: UUID | str) -> UUID:
        keys = self.document_ids([document])
        if len(keys) > 1:
            raise UsageError(f"several sources have {str(document)!r}: name one of them as source:path")
        return keys[0]
