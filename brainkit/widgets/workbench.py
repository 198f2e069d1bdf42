"""What the notebooks work on: an open brain with its labelled questions, the bundled ones or the reader's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from brainkit.brain import Brain
from brainkit.eval.config import EvalConfig, load_config
from brainkit.eval.run import eval_home, load_labels
from brainkit.gate import LabelledEvidence, gather
from brainkit.labels import Label, load, scrubbed
from brainkit.scrub import Scrubber
from brainkit.settings import Settings
from brainkit.store import Database, LabelStore

BUNDLED = Path("eval/settings.toml")
DEFAULT = Path("questions.jsonl")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Workbench:
    """A brain and labelled questions about its notes.

    Attributes:
        brain: open until ``close``.
        labels: those whose documents are all in the brain.
        file: where they came from, and new ones go.
        config: of the bundled evaluation; None for the reader's own notes.
        left_out: number of labels that name a document the brain does not hold.
        progress: told how far ``labelled`` has come.
    """

    brain: Brain
    labels: Sequence[Label]
    file: Path
    config: EvalConfig | None = None
    left_out: int = 0
    progress: Progress | None = field(default=None, repr=False)

    @cached_property
    def labelled(self) -> list[LabelledEvidence]:
        """Evidence for every label, answerable ones also with their documents hidden; asked for once."""
        self.corpus  # noqa: B018 - before anything is asked: what changes meanwhile makes a certificate stale
        return gather(self.labels, self.brain.evidence, self.progress)

    @cached_property
    def corpus(self) -> str:
        """State of the notes when the labels were asked."""
        return self.brain.corpus()

    def keep_labels(self) -> None:
        """Store the labels in the brain, scrubbed, so that it can refresh a certificate made from them."""
        scrubber = Scrubber(email=self.brain.settings.scrub_email, rules=self.brain.settings.scrub_rules)
        with Database(self.brain.settings) as database:
            LabelStore(database).put(scrubbed(label, scrubber) for label in self.labels)

    def close(self) -> None:
        """Close the brain."""
        self.brain.close()

    def __repr__(self) -> str:
        yes = sum(label.answerable for label in self.labels)
        counts = self.brain.counts()
        left = f"; {self.left_out} more name documents that are not in the brain" if self.left_out else ""
        return (
            f"{counts['documents']} documents, {len(self.labels)} labelled questions: "
            f"{yes} the notes answer, {len(self.labels) - yes} they do not{left}"
        )


def open_workbench(
    labels: Path | str | None = None, *, settings: Settings | None = None, progress: Progress | None = None
) -> Workbench:
    """Open the bundled notes where they are at hand (below a checkout), else the reader's brain and questions.jsonl.

    Args:
        labels: a labels file of the reader's own, which may not be there yet; opens the reader's brain.
        settings: the environment's if None.
        progress: told ("import" | "embed" | "calibrate", done, total).

    Raises:
        LabelsError: the labels file is wrong.
    """
    settings = settings or Settings()
    bundled = None if labels is not None else find_bundled(Path.cwd())
    if bundled is not None:
        config = load_config(bundled)
        brain = Brain.open(eval_home(settings, config))
        brain.import_paths([config.corpus], prune=True, progress=progress)
        return Workbench(brain, load_labels(settings, config), config.labels, config, progress=progress)
    file = Path(labels if labels is not None else DEFAULT).resolve()
    given = load(file) if file.exists() else []
    brain = Brain.open(settings)
    known = brain.document_names()
    usable = [label for label in given if all(item.doc in known for item in label.relevant)]
    return Workbench(brain, usable, file, left_out=len(given) - len(usable), progress=progress)


def find_bundled(start: Path) -> Path | None:
    """The bundled evaluation's settings, in a folder or one above it."""
    return next((folder / BUNDLED for folder in (start, *start.parents) if (folder / BUNDLED).is_file()), None)
