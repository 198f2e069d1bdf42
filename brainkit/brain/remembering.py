"""What a brain is told to remember, and what of an agent's proposals a person keeps."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from brainkit.brain.filling import Filling
from brainkit.ingestion import RescrubReport
from brainkit.ingestion.sync import Progress
from brainkit.memory.remembered import Engram, Memory, State


class Remembering(Filling):
    """What is remembered beside the notes."""

    def remember(
        self,
        text: str,
        source: str = "user",
        tags: Iterable[str] = (),
        session_id: str | None = None,
        agent_id: str | None = None,
    ) -> Engram:
        """Remember a text; secrets are taken out first. What is kept is found by ``recall`` when this returns.

        What an agent says waits until a person confirms it. The same text is remembered once: a second time gives the
        engram that is there, in whatever state.

        Args:
            text: Markdown, at most 20,000 characters.
            source: who says it: user, agent or web.
            tags: kept with it.
            session_id: of the conversation it comes from.
            agent_id: of the agent.

        Raises:
            UsageError: the text is empty or too long, or there is no such source.
        """
        engram = self._memory.add(text, source, tuple(tags), session_id or "", agent_id or "")
        if engram.state == "kept":
            self._take_in()
        return engram

    def engrams(self, state: State | None = None) -> list[Engram]:
        """What was remembered: all of it, or what is kept, proposed or rejected; oldest first within each."""
        return list(self._memory.all(state))

    def confirm(self, engram_id: str) -> Engram:
        """Keep what an agent proposed; ``recall`` finds it from now on.

        Raises:
            UsageError: there is no such proposal.
        """
        engram = self._memory.settle(engram_id, "kept")
        self._take_in()
        return engram

    def reject(self, engram_id: str) -> Engram:
        """Turn down what an agent proposed; the same text is not proposed again.

        Raises:
            UsageError: there is no such proposal.
        """
        return self._memory.settle(engram_id, "rejected")

    def rescrub(self, *, progress: Progress | None = None) -> RescrubReport:
        """Apply today's rules to all that is stored and remembered (see ``Filling.rescrub``)."""
        self._memory.scrub_again()
        return super().rescrub(progress=progress)

    # Inside

    @cached_property
    def _memory(self) -> Memory:
        return Memory(self.settings.home, self.scrubbed)

    def _take_in(self) -> None:
        """Import what is kept, also what a killed process left; the certificate is refreshed by the next import."""
        self.import_paths([self._memory.folder], refresh=False)
