"""What an evaluation runs on: corpus, labels, retrieval settings, gates and floors, from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brainkit.errors import UsageError
from brainkit.eval.metrics import parse_metric
from brainkit.gate import GATES
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
        data: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise UsageError(
            f"{file}: cannot be read ({error.strerror}); run this in a folder that has eval/settings.toml, or give --settings"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: not valid TOML: {error}") from error
    if unknown := sorted(set(data) - _KEYS):
        raise UsageError(f"{file}: unknown key {unknown[0]!r}; allowed are {', '.join(sorted(_KEYS))}")
    settings = {name: RetrievalSettings.parse(str(text)) for name, text in dict(data.get("settings", {})).items()}
    main = str(data.get("main", next(iter(settings), "")))
    if main not in settings:
        raise UsageError(f"{file}: main = {main!r} is none of [settings]: {', '.join(settings) or 'it is empty'}")
    gates = tuple(data.get("gates", GATES))
    gate = str(data.get("gate", "score"))
    for name in (*gates, gate):
        if name not in GATES:
            raise UsageError(f"{file}: gate {name!r} is none of {', '.join(GATES)}")
    floors = {str(name): float(value) for name, value in dict(data.get("floors", {})).items()}
    for name in floors:
        parse_metric(name)
    planted = file.with_name("planted-fake-secrets.jsonl")
    return EvalConfig(
        corpus=corpus or file.with_name("corpus"),
        labels=labels or file.with_name("questions.jsonl"),
        planted=planted if planted.exists() and corpus is None else None,
        settings=settings,
        main=main,
        gates=gates if gate in gates else (*gates, gate),
        gate=gate,
        alpha=float(data.get("alpha", 0.1)),
        delta=float(data.get("delta", 0.1)),
        floors=floors,
        slack=float(data.get("slack", 0.002)),
        extensions=tuple(str(ending) for ending in data.get("extensions", ())),
    )
