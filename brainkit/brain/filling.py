"""Filling a brain: import, embed, rescrub."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from brainkit.brain.linking import Linking
from brainkit.ingestion import EmbedReport, Importer, ImportReport, Preparer, RescrubReport, embed_pending, rescrub
from brainkit.ingestion.sync import Progress
from brainkit.store.hnsw import build_index


class Filling(Linking):
    """What brings notes in and keeps them up to date."""

    def import_paths(
        self,
        paths: Iterable[Path | str],
        prune: bool = False,
        *,
        embed: bool = True,
        git_log: bool = False,
        dry_run: bool = False,
        refresh: bool = True,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Bring the brain up to date with files and folders, embed what is new, refresh links and the certificate.

        Args:
            paths: files or folders; a folder is one source, named after it.
            prune: remove documents whose file is gone, only under folders that were really read.
            embed: also compute vectors; without, new chunks are found by words only.
            git_log: also import the commit messages of folders that are Git repositories.
            dry_run: write nothing, and report what would be done.
            refresh: after a change, also make the certificate anew from the stored labels (two recalls for each), once
                everything has its vector; without, it is called stale until ``refresh`` is called.
            progress: told ("import" | "history" | "embed" | "links" | "calibrate", done, total).

        Raises:
            UsageError: a path does not exist.
            DatabaseError: the database went away; nothing stored is lost, run it again.
        """
        importer = Importer(self._database, self._documents, self._scrubber, self.settings)
        report = importer.run(paths, prune=prune, git_log=git_log, dry_run=dry_run, progress=progress)
        if embed and not dry_run:
            outcome = self.embed(refresh=refresh, progress=progress)
            report.embedded, report.pending, report.embedding_error = outcome.embedded, outcome.pending, outcome.error
        else:
            report.pending = self._models.configured.vectors.pending_count()
            if not dry_run:
                self._links.refresh(progress=progress)  # those the texts write: there may be no vectors yet
        return report

    def embed(self, *, retry: bool = False, refresh: bool = True, progress: Progress | None = None) -> EmbedReport:
        """Compute the vectors that are missing; with ``retry`` also those that failed before.

        After a change of the model, questions are answered with the former one until this has come to its end. With
        ``refresh`` a certificate from before the notes changed is then made anew.
        """
        self._choose_model(patient=True)
        _, embedder, vectors = self._models.configured
        report = embed_pending(embedder, vectors, retry=retry, progress=progress)
        build_index(self._database, vectors, progress=progress)
        self._choose_model()
        self.refresh_links(full=False, progress=progress)
        if refresh:
            self._follow_notes(progress)
        return report

    def rescrub(self, *, progress: Progress | None = None) -> RescrubReport:
        """Apply today's rules to all that is stored, and rewrite the tables so that nothing older stays on disk.

        Raises:
            DatabaseError: the database went away; run it again.
        """
        report = rescrub(
            self._database, self._documents, Preparer(self.settings, self._scrubber), self._scrubber, progress=progress
        )
        self._configured.forget()
        if report.changed:
            self._links.refresh(progress=progress)
        return report
