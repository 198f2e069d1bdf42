"""What an import into a brain that is not there yet would do; nothing is made for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import cast

from brainkit.ingestion.report import ImportReport
from brainkit.ingestion.sync import Importer
from brainkit.scrub import Scrubber
from brainkit.settings import Settings
from brainkit.store import Database, DocumentRow, DocumentStore
from brainkit.store.sources import Source


class _NoDocuments:
    """The documents of no brain."""

    def source_for(self, root: str, *, remember: bool, tags: object) -> tuple[str, str]:  # noqa: ARG002 - as there
        return PurePosixPath(root).name or "root", ""

    def sources(self) -> list[Source]:
        return []

    def rows(self, source: str | None = None) -> dict[str, DocumentRow]:  # noqa: ARG002 - as there
        return {}

    def counts(self) -> dict[str, int]:
        return {"documents": 0, "chunks": 0, "redactions": 0}


def preview(
    paths: Iterable[Path | str],
    settings: Settings,
    *,
    git_log: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> ImportReport:
    """The report of a first import, without a database."""
    scrubber = Scrubber(email=settings.scrub_email, rules=settings.scrub_rules)
    importer = Importer(cast("Database", None), cast("DocumentStore", _NoDocuments()), scrubber, settings)
    return importer.run(paths, git_log=git_log, dry_run=True, progress=progress)
