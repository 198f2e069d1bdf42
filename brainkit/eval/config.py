"""What an evaluation runs on: corpus, labels, retrieval settings, gates and floors, from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from brainkit.errors import UsageError
from brainkit.gate import GATES
from brainkit.gate.gates import gate_names
from brainkit.retrieval import RetrievalSettings

METRICS = ("nDCG@10", "recall@10", "MRR@10", "hit@2")
_KEYS = frozenset({"settings", "main", "gates", "gate", "alpha", "delta", "floors", "slack", "extensions"})


@dataclass(frozen=True)
class EvalConfig:
    """An evaluation.

    Attributes:
        corpus: folder of notes.
        labels: questions.jsonl.
        planted: file of planted fake secrets that must not be in the brain, or None.
        settings: retrieval strings by name.
        main: the name in ``settings`` whose evidence the gates get, and which the floors hold for.
        gates: gates to compare.
        gate: the gate in use, whose false answers are checked.
        alpha: highest share of false answers.
        delta: probability of a wrong certificate.
        floors: lowest allowed value by metric, for ``main``.
        extensions: file endings to import beside those of BOR_IMPORT_EXTENSIONS.
        slack: how far ``main`` may fall below the best other setting in nDCG@10.
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


def load_config(file: Path, corpus: Path | None = None, labels: Path | None = None) -> EvalConfig:
    """Read the TOML file; corpus and labels lie beside it unless they are given.

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
    settings = {name: RetrievalSettings.parse(text) for name, text in data.table("settings").texts().items()}
    main = data.text("main", next(iter(settings), ""))
    if main not in settings:
        raise UsageError(f"{file}: main = {main!r} is none of [settings]: {', '.join(settings) or 'it is empty'}")
    gates, gate = data.list("gates", GATES), data.text("gate", "score")
    known = gate_names()
    for name in (*gates, gate):
        if name not in known:
            raise UsageError(f"{file}: gate {name!r} is none of {', '.join(known)}")
    floors = data.table("floors")
    floors.only(frozenset(METRICS))
    planted = file.with_name("planted-fake-secrets.jsonl")
    return EvalConfig(
        corpus=corpus or file.with_name("corpus"),
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
