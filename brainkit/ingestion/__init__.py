"""Readers, scrub, chunking, embedding and store run as one: files on disk become what the brain knows."""

from __future__ import annotations

from brainkit.ingestion.backlog import EmbedReport, embed_pending
from brainkit.ingestion.report import FileOutcome, ImportReport
from brainkit.ingestion.sync import Importer

__all__ = ["EmbedReport", "FileOutcome", "ImportReport", "Importer", "embed_pending"]
