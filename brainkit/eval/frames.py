"""An evaluation from Python: the same run as the command's, its values as pandas DataFrames, one value a row."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainkit.errors import UsageError
from brainkit.eval.config import load_config, overridden
from brainkit.eval.grid import expand
from brainkit.eval.outcome import Outcome
from brainkit.eval.run import Progress, run
from brainkit.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

_WORDS = {"import": "reading notes", "embed": "embedding chunks", "ask": "asking questions"}


@dataclass(frozen=True)
class Evaluation:
    """An evaluation as data frames; ``outcome`` has all of it."""

    outcome: Outcome

    @cached_property
    def values(self) -> pd.DataFrame:
        """Columns question, setting, metric, value: each answerable question under each setting."""
        rows = [
            (row.label, row.setting, metric, value)
            for row in self.outcome.ranked
            for metric, value in row.metrics.items()
        ]
        return _frame(rows, "question setting metric value")

    @cached_property
    def settings(self) -> pd.DataFrame:
        """Columns setting, retrieval, metric, mean, questions, milliseconds."""
        rows = [
            (one.name, one.retrieval, metric, value, one.questions, one.milliseconds)
            for one in self.outcome.settings
            for metric, value in one.metrics.items()
        ]
        return _frame(rows, "setting retrieval metric mean questions milliseconds")

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """Columns question, setting, first_relevant (0: not found), document (the first one), missed (why)."""
        rows = [
            (row.label, row.setting, row.first_relevant, row.top[0] if row.top else "", row.missed)
            for row in self.outcome.ranked
        ]
        return _frame(rows, "question setting first_relevant document missed")

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Columns question, gate, score, answerable, stratum: each question as each gate scores it."""
        labels = {label.id: label for label in self.outcome.questions}
        rows = [
            (key, gate.name, score, labels[key].answerable, labels[key].stratum)
            for gate in self.outcome.gates
            for key, score in gate.scores.items()
        ]
        return _frame(rows, "question gate score answerable stratum")

    @cached_property
    def rates(self) -> pd.DataFrame:
        """Columns gate, of, answered, questions, rate, low, high: cross-fitted, with 95 % Clopper-Pearson interval."""
        rows = []
        for gate in self.outcome.gates:
            counts = {"answerable": gate.fit.answered, "unanswerable": gate.fit.false_answers, **gate.fit.strata}
            for name, count in counts.items():
                rows.append((gate.name, name, count.x, count.n, count.rate, *count.interval))
        return _frame(rows, "gate of answered questions rate low high")


def evaluate(
    settings_file: str | Path = "eval/settings.toml",
    *,
    corpus: str | Path | None = None,
    labels: str | Path | None = None,
    retrievals: Mapping[str, str] | None = None,
    main: str | None = None,
    baseline: str | Path = "off",
    only: str = "",
    jobs: int = 1,
    settings: Settings | None = None,
    progress: bool | Progress = True,
) -> Evaluation:
    """Evaluate as ``python -m brainkit.eval`` does, and write nothing.

    Args:
        settings_file: TOML file with retrieval settings, gates and floors.
        corpus: folder of notes; the file's if None.
        labels: labelled questions; those beside the file if None.
        retrievals: retrieval strings by name instead of the file's; lists in them stand for every combination.
        main: the setting that gates look at and checks hold for; the file's, or the first of ``retrievals``.
        baseline: what to hold it against; "" for the baseline.json beside the file.
        only: of the labels those whose id, kind or tag fits this pattern.
        jobs: questions asked at the same time.
        settings: of the user; from the environment if None.
        progress: whether to show bars, or what is told ("ask", done, total).

    Raises:
        UsageError: pandas is not installed; settings file, retrieval strings or labels are wrong.
        BrainkitError: as ``python -m brainkit.eval``.

    Example::

        found = evaluate(retrievals={"rrf": "hybrid(fusion=rrf,k=[10,60])", "dense": "dense(30)"})
        found.values.pivot_table(index="setting", columns="metric", values="value")
    """
    _pandas()
    config = load_config(Path(settings_file), Path(corpus) if corpus else None, Path(labels) if labels else None)
    config = overridden(config, alpha=None, delta=None, tolerance=None, baseline=str(baseline))
    if retrievals is not None:
        chosen = {name: one for key, text in retrievals.items() for name, one in expand(key, text).items()}
        main = main or next(iter(chosen), "")
        config = replace(config, settings=chosen)
    if main is not None:
        if main not in config.settings:
            raise UsageError(f"main = {main!r} is none of {', '.join(config.settings) or 'no settings'}")
        config = replace(config, main=main)
    with ExitStack() as stack:
        tell = stack.enter_context(_Bars()) if progress is True else progress or None
        return Evaluation(run(settings or Settings(), config, tell, only=only, jobs=jobs))


class _Bars(ExitStack):
    """A tqdm bar for each kind of work, as a widget in notebooks."""

    def __init__(self) -> None:
        super().__init__()
        self._bars: dict[str, Any] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]  # asks whether it is in a notebook

        if what not in self._bars:
            self._bars[what] = self.enter_context(tqdm(total=total, desc=_WORDS.get(what, what), leave=False))
        bar = self._bars[what]
        bar.total = total
        bar.update(done - bar.n)


def _pandas() -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise UsageError("evaluate() gives pandas DataFrames: pip install 'brainkit[jupyter]'") from error
    return pd


def _frame(rows: list[Any], columns: str) -> pd.DataFrame:
    frame: pd.DataFrame = _pandas().DataFrame(rows, columns=columns.split())
    return frame
