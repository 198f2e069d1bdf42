"""The brain: puts the rooms together; everything a program or the command line does goes through here."""

from __future__ import annotations

import contextlib
from typing import Self

from brainkit.answering import make_llm
from brainkit.brain.answering import Answering
from brainkit.brain.knowing import Knowing
from brainkit.brain.parts import configured_gate
from brainkit.brain.remembering import Remembering
from brainkit.embedding import make_embedder
from brainkit.errors import EmbedderUnavailableError, RetrievalSettingsError
from brainkit.retrieval import RetrievalSettings
from brainkit.scrub import Scrubber
from brainkit.settings import Settings
from brainkit.store import Database


class Brain(Remembering, Answering, Knowing):
    """An open brain; made by ``Brain.open``, closed by ``close`` or a ``with`` statement.

    Example::

        with Brain.open(Settings(home="~/.my-brain")) as brain:
            brain.import_paths(["~/notes"])
            print(brain.ask("When is the next UPS battery due?").text)
    """

    @classmethod
    def open(cls, settings: Settings | None = None) -> Brain:
        """Open a brain: start or attach to its database, load its embedder.

        Args:
            settings: where it lives and how it works; the environment's if None.

        Raises:
            SettingsError: a setting is wrong.
            DatabaseError: the database cannot be used.
            EmbeddingError: the embedder cannot be used, or has another dimension than BOR_EMBEDDING_DIM.
        """
        settings = settings or Settings()
        try:
            RetrievalSettings.parse(settings.retrieval)
        except RetrievalSettingsError as error:
            raise RetrievalSettingsError(f"BOR_RETRIEVAL = {settings.retrieval!r} is not allowed: {error}") from None
        configured_gate(settings.gate, settings.embedder, settings)
        make_llm(settings)
        scrubber = Scrubber(email=settings.scrub_email, rules=settings.scrub_rules)
        embedder = make_embedder(settings)
        with contextlib.suppress(EmbedderUnavailableError):  # without it, notes are found by words
            embedder.identity  # noqa: B018 - a wrong dimension has to fail before the database is touched
        database = Database(settings)
        try:
            return cls(settings, database, embedder, scrubber)
        except BaseException:
            database.close()
            raise

    def close(self) -> None:
        """Give back the database; the embedded server stops with its last user."""
        self._configured.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
