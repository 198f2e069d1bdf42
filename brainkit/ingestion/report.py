"""What an import did, file by file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple


class FileOutcome(NamedTuple):
    """One file that was skipped or failed; ``path`` is ``source:path``, scrubbed."""

    path: str
    reason: str


@dataclass
class ImportReport:
    """Every file of an import, in exactly one of the lists.

    Attributes:
        indexed: new documents, as ``source:path``.
        unchanged: documents that were there already.
        reindexed: documents whose text or whose rules changed.
        removed: documents that are gone from disk (only with ``prune``).
        skipped: files that were not taken, with the reason.
        failed: files that should have been taken and were not, with the reason.
        notes: what had to be said of a document that was taken ("invalid YAML: chunked as text").
        redactions: number of secrets that were kept out, by kind, in the documents read in this run.
        redacted_files: the same for each document that had any.
        chunks: chunks in the brain now.
        pending: chunks that still wait for their vector.
        embedded: chunks embedded in this run.
        embedding_error: why embedding stopped ("" if it did not).
        seconds: wall time.
        dry_run: whether this only says what would have been done.
    """

    indexed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    reindexed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    skipped: list[FileOutcome] = field(default_factory=list)
    failed: list[FileOutcome] = field(default_factory=list)
    notes: list[FileOutcome] = field(default_factory=list)
    redactions: dict[str, int] = field(default_factory=dict)
    redacted_files: dict[str, dict[str, int]] = field(default_factory=dict)
    chunks: int = 0
    pending: int = 0
    embedded: int = 0
    embedding_error: str = ""
    seconds: float = 0.0
    dry_run: bool = False

    def count_redactions(self, document: str, found: Mapping[str, int]) -> None:
        """Add what was kept out of a document, by kind."""
        if found:
            self.redacted_files[document] = dict(sorted(found.items()))
            self.redactions = count_kinds(self.redactions, found)

    @property
    def changed(self) -> int:
        """Number of documents this import added, changed or removed."""
        return len(self.indexed) + len(self.reindexed) + len(self.removed)

    @property
    def complete(self) -> bool:
        """Whether every file that should be in the brain is, with its vectors."""
        return not self.failed and not self.embedding_error and not self.pending

    def __str__(self) -> str:
        parts = [
            f"{len(getattr(self, name))} {name}"
            for name in ("indexed", "reindexed", "removed", "unchanged", "skipped", "failed")
            if getattr(self, name)
        ]
        secrets = sum(self.redactions.values())
        return (
            ("nothing was written; would be: " if self.dry_run else "")
            + (", ".join(parts) or "no files")
            + (f"; {secrets} secrets kept out" if secrets else "")
            + f"; {self.chunks} chunks in the brain"
            + (f", {self.pending} without a vector yet" if self.pending else "")
            + f" ({self.seconds:.1f} s)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        data = asdict(self)
        for name in ("skipped", "failed", "notes"):
            data[name] = [outcome._asdict() for outcome in getattr(self, name)]
        return data


def count_kinds(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Redactions by kind of both, sorted by kind."""
    return dict(sorted((Counter(one) + Counter(other)).items()))
