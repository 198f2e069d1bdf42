"""What an evaluation runs on: corpus, labels, retrieval settings, gates and floors, from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from brainkit.errors import UsageError
from brainkit.eval.comparison import CONTEXT
from brainkit.eval.grid import expand
from brainkit.gate import GATES
from brainkit.gate.gates import gate_names
from brainkit.retrieval import RetrievalSettings

BASELINE = "baseline.json"
METRICS = ("nDCG@10", "recall@10", "MRR@10", "hit@2")
GATED = ("nDCG@10", CONTEXT)
_KEYS = frozenset(
    {"settings", "main", "gates", "gate", "alpha", "delta", "floors", "slack", "extensions", "gated", "tolerance",
     "corpus"}
)  # fmt: skip


@dataclass(frozen=True)
class EvalConfig:
    """An evaluation.

    Attributes:
        corpus: folder of notes.
        labels: questions.jsonl.
        planted: file of planted fake secrets that must not be in the brain, or None.
        settings: retrieval settings by name; a string of the file that holds lists stands for each combination.
        main: the name in ``settings`` whose evidence the gates get, and which the floors hold for.
        gates: gates to compare.
        gate: the gate in use, whose false answers are checked.
        alpha: highest share of false answers.
        delta: probability of a wrong certificate.
        floors: lowest allowed value by metric, for ``main``.
        extensions: file endings to import beside those of BOR_IMPORT_EXTENSIONS.
        slack: how far ``main`` may fall below the best other setting in nDCG@10.
        gated: metrics of ``main`` that must not fall below the baseline's; ``context``: whether an answer is given a
            relevant document.
        tolerance: by how much their means may, significantly or not.
        baseline: values of an earlier run to hold this one against, or None.
    """

    corpus: Path
    labels: Path
    planted: Path | None
    settings: Mapping[str, RetrievalSettings]
    main: str
    gates: tuple[str, ...]
    gate: str
    alpha: float
    delta: float
    floors: Mapping[str, float]
    slack: float
    extensions: tuple[str, ...] = ()
    gated: tuple[str, ...] = GATED
    tolerance: float = 0.02
    baseline: Path | None = None


def load_config(file: Path, corpus: Path | None = None, labels: Path | None = None) -> EvalConfig:
    """Read the TOML file; corpus and labels are given, or lie beside it, or the file says where the corpus is.

    Raises:
        UsageError: the file is missing or wrong; the message names the key and what is allowed.
        RetrievalSettingsError: a retrieval string does not parse.
    """
    try:
        data = _Table(tomllib.loads(file.read_text("utf-8")), str(file))
    except OSError as error:
        raise UsageError(
            f"{file}: cannot be read ({error.strerror}); "
            "run this in a folder that has eval/settings.toml, or give --settings"
        ) from error
    except ValueError as error:  # of TOML, or of UTF-8
        raise UsageError(f"{file}: not valid TOML: {error}") from error
    data.only(_KEYS)
    settings: dict[str, RetrievalSettings] = {}
    for name, text in data.table("settings").texts().items():
        settings |= expand(name, text)
    main = data.text("main", next(iter(settings), ""))
    if main not in settings:
        known_names = ", ".join(list(settings)[:20]) or "it is empty"
        raise UsageError(f"{file}: main = {main!r} is none of [settings]: {known_names}")
    gates, gate = data.list("gates", GATES), data.text("gate", "score")
    known = gate_names()
    for name in (*gates, gate):
        if name not in known:
            raise UsageError(f"{file}: gate {name!r} is none of {', '.join(known)}")
    floors = data.table("floors")
    floors.only(frozenset(METRICS))
    gated = data.list("gated", GATED)
    for name in gated:
        if name not in {*METRICS, CONTEXT}:
            raise UsageError(f"{file}: gated metric {name!r} is none of {', '.join(METRICS)}, {CONTEXT}")
    baseline = file.with_name(BASELINE)
    planted = file.with_name("planted-fake-secrets.jsonl")
    return EvalConfig(
        corpus=corpus or file.parent / Path(data.text("corpus", "corpus")).expanduser(),
        labels=labels or file.with_name("questions.jsonl"),
        planted=planted if planted.exists() and corpus is None else None,
        settings=settings,
        main=main,
        gates=tuple(dict.fromkeys((*gates, gate))),
        gate=gate,
        alpha=data.level("alpha"),
        delta=data.level("delta"),
        floors={name: floors.share(name, 0.0) for name in floors.data},
        slack=data.share("slack", 0.002),
        extensions=data.list("extensions", ()),
        gated=gated,
        tolerance=data.share("tolerance", 0.02),
        baseline=baseline if baseline.exists() and corpus is None and labels is None else None,
    )


def overridden(
    config: EvalConfig, *, alpha: float | None, delta: float | None, tolerance: float | None, baseline: str
) -> EvalConfig:
    """The evaluation with what is not None otherwise; ``baseline``: a path, ``off``, or "" for the one beside the file.

    Raises:
        UsageError: alpha or delta is not between 0 and 1; there is no such baseline.
    """
    for name, value in (("alpha", alpha), ("delta", delta)):
        if value is not None and not 0 < value < 1:
            raise UsageError(f"{name} = {value} is not allowed: give a number between 0 and 1")
    place = config.baseline if baseline == "" else None if baseline == "off" else Path(baseline)
    return replace(
        config,
        alpha=config.alpha if alpha is None else alpha,
        delta=config.delta if delta is None else delta,
        tolerance=config.tolerance if tolerance is None else tolerance,
        baseline=place,
    )


class _Table(NamedTuple):
    """A table of the TOML file, read with errors that name the file, the key and what is allowed."""

    data: Mapping[str, Any]
    where: str

    def only(self, keys: Collection[str]) -> None:
        if unknown := sorted(set(self.data) - set(keys)):
            raise UsageError(f"{self.where}: unknown key {unknown[0]!r}; allowed are {', '.join(sorted(keys))}")

    def _get(self, key: str, default: Any, right: Callable[[Any], bool], allowed: str) -> Any:
        value = self.data.get(key, default)
        if not right(value):
            raise UsageError(f"{self.where}: {key} = {value!r} is not allowed: give {allowed}")
        return value

    def table(self, key: str) -> _Table:
        found = self._get(key, {}, lambda value: isinstance(value, dict), f"a table: [{key}]")
        return _Table(found, f"{self.where} [{key}]")

    def texts(self) -> dict[str, str]:
        return {key: self.text(key, "") for key in self.data}

    def text(self, key: str, default: str) -> str:
        return str(self._get(key, default, lambda value: isinstance(value, str), "text in quotation marks"))

    def list(self, key: str, default: Sequence[str]) -> tuple[str, ...]:
        found = self._get(key, list(default), _is_texts, 'a list of texts: ["...", "..."]')
        return tuple(found)

    def share(self, key: str, default: float) -> float:
        """A number from 0 to 1, both included."""
        return float(self._get(key, default, _is_share, "a number from 0 to 1"))

    def level(self, key: str) -> float:
        """A number between 0 and 1, both excluded."""
        return float(self._get(key, 0.1, lambda value: _is_share(value) and 0 < value < 1, "a number between 0 and 1"))


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
