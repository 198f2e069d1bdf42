"""Readers, scrub, chunking, embedding and store run as one: files on disk become what the brain knows."""

from __future__ import annotations

from brainkit.ingestion.backlog import EmbedReport, embed_pending
from brainkit.ingestion.models import Model, Models, list_models, open_models
from brainkit.ingestion.prepare import Preparer
from brainkit.ingestion.preview import preview
from brainkit.ingestion.report import FileOutcome, ImportReport
from brainkit.ingestion.rescrub import RescrubReport, rescrub
from brainkit.ingestion.sync import Importer

__all__ = [
    "EmbedReport",
    "FileOutcome",
    "ImportReport",
    "Importer",
    "Model",
    "Models",
    "Preparer",
    "RescrubReport",
    "embed_pending",
    "list_models",
    "open_models",
    "preview",
    "rescrub",
]
