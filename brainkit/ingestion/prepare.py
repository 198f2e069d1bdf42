"""All of an import that needs no database: read a file, scrub it, cut it into chunks, find their terms."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from brainkit.chunking import chunk
from brainkit.readers import Document, FoundFile, Skipped, read_all
from brainkit.scrub import Scrubber
from brainkit.settings import Settings
from brainkit.store import Entry, make_entry

log = logging.getLogger(__name__)


class Task(NamedTuple):
    """A file to prepare, and the hashes of those of its texts that need no indexing."""

    file: FoundFile
    indexed: frozenset[str] = frozenset()


class Failed(NamedTuple):
    """Why a file could not be prepared; scrubbed."""

    reason: str


Prepared = list[Entry | Document] | Skipped | Failed
"""What became of a file: an Entry for each text to be indexed, the bare Document where it is indexed already."""


class Preparer:
    """Prepares files by the rules of some settings."""

    def __init__(self, settings: Settings, scrubber: Scrubber) -> None:
        self.settings = settings
        self._scrubber = scrubber

    def prepare(self, task: Task) -> Prepared:
        """Read a file and make it ready for the store; never raises, whatever the file holds."""
        try:
            found = read_all(task.file, scrubber=self._scrubber)
            return found if isinstance(found, Skipped) else [self.entry(doc, task.indexed) for doc in found]
        except Exception as error:  # one bad file must never stop the others; the report names it
            log.debug("a file could not be prepared", exc_info=True)
            return Failed(said(error, self._scrubber))

    def entry(self, document: Document, indexed: Collection[str] = ()) -> Entry | Document:
        """A document's Entry, or the document itself if its hash is among those that are ``indexed``."""
        document = replace(document, redactions=dict(document.redactions))  # a read-only view cannot be sent
        if document.content_hash in indexed:
            return document
        target, overlap = self.settings.chunk_target_chars, self.settings.chunk_overlap_chars
        return make_entry(document, chunk(document.content, document.format, target=target, overlap=overlap))


def said(error: Exception, scrubber: Scrubber) -> str:
    """What an error says, without secrets and what cannot be stored."""
    text = f"{type(error).__name__}: {error}".encode("utf-8", "replace").decode()
    return scrubber.scrub(text).text[:300]
