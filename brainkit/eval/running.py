"""A run with its files: planned, asked, written; what the command line and Python programs share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from brainkit.brain import Brain
from brainkit.errors import UsageError
from brainkit.eval.config import EvalConfig
from brainkit.eval.executing import Stop
from brainkit.eval.files import write_files
from brainkit.eval.journal import Journal
from brainkit.eval.outcome import Outcome
from brainkit.eval.records import read_record, save_baseline
from brainkit.eval.run import DRAFT, Progress, chosen_labels, eval_home, load_labels, run
from brainkit.gate.sufficiency import SUFFICIENCY
from brainkit.labels import Problem, check
from brainkit.settings import Settings


class Options(NamedTuple):
    """How to run: where to write, whether to go on with an unfinished run, which labels, how many at a time."""

    out: Path
    resume: bool = False
    only: str = ""
    jobs: int = 1
    executor: str = ""
    update_baseline: Path | None = None


@dataclass(frozen=True)
class Plan:
    """What a run would ask; ``recalls`` counts each question under each setting, ``judgements`` a language model's."""

    corpus: str
    labels: str
    questions: int
    drafts: int
    settings: dict[str, str]
    gates: tuple[str, ...]
    recalls: int
    judgements: int
    baseline: str

    def to_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


@dataclass(frozen=True)
class LabelsFound:
    """How many labels there are, how many of them are drafts, and what is wrong with them."""

    labels: int
    drafts: int
    problems: tuple[Problem, ...]

    def to_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "labels": self.labels,
            "drafts": self.drafts,
            "problems": [problem._asdict() for problem in self.problems],
        }


def plan(settings: Settings, config: EvalConfig, only: str = "") -> Plan:
    """What a run would ask; the notes are not looked at.

    Raises:
        LabelsError: the labels are wrong, or none is left to ask.
        UsageError: the baseline cannot be read.
    """
    labels, drafts = chosen_labels(load_labels(settings, config), only, str(config.labels))
    if config.baseline:
        read_record(config.baseline)
    answerable = sum(label.answerable for label in labels)
    judged = len(labels) + (answerable if config.gate == SUFFICIENCY else 0)
    return Plan(
        corpus=str(config.corpus),
        labels=str(config.labels),
        questions=len(labels),
        drafts=drafts,
        settings={name: str(one) for name, one in config.settings.items()},
        gates=config.gates,
        recalls=answerable * len(config.settings) + len(labels) + answerable,
        judgements=judged if SUFFICIENCY in config.gates else 0,
        baseline=str(config.baseline or ""),
    )


def run_and_write(
    settings: Settings,
    config: EvalConfig,
    options: Options,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[Outcome, Path]:
    """Run, write every file, and only then let anything be decided; returns the outcome and the run's folder.

    Raises:
        BrainkitError: as ``run``; nothing can be written below ``out``.
    """
    journal = Journal(options.out, resume=options.resume)
    with Stop(say).listening() as stop:
        outcome = run(
            settings, config, progress, journal=journal, only=options.only, jobs=options.jobs,
            executor=options.executor, stop=stop,
        )  # fmt: skip
    if options.resume:
        say(f"{journal.resumed} questions had been asked before" if journal.resumed else "nothing to resume")
    try:
        journal.end(complete=not outcome.interrupted)
        folder = write_files(outcome, outcome.questions, options.out, journal.folder)
    except OSError as error:
        raise UsageError(f"the report cannot be written below {options.out}: {error}") from error
    if options.update_baseline and outcome.complete and not outcome.interrupted:
        save_baseline(options.update_baseline, outcome.record())
        say(f"baseline: {options.update_baseline}")
    return outcome, folder


def check_labels(settings: Settings, config: EvalConfig, progress: Progress | None = None) -> LabelsFound:
    """Check the labels against the notes, which are imported for it.

    Raises:
        LabelsError: the file cannot be read.
        UsageError: the corpus is not there.
    """
    labels = load_labels(settings, config)
    with Brain.open(eval_home(settings, config)) as brain:
        brain.import_paths([config.corpus], prune=True, progress=progress)
        problems = check(labels, brain.document_texts())
    return LabelsFound(len(labels), sum(DRAFT in label.tags for label in labels), tuple(problems))


def only_main(config: EvalConfig) -> EvalConfig:
    """The same with nothing but the main setting and the gate in use."""
    return replace(config, settings={config.main: config.settings[config.main]}, gates=(config.gate,))
