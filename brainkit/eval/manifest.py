"""What a run was made from: versions, model, notes, settings; and the key by which an unfinished run is known again."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
from pathlib import Path
from typing import Any, Final

from brainkit.brain import Brain
from brainkit.eval.config import EvalConfig

SCHEMA: Final = 1
SEED: Final = 0
"""Of every random draw: sign flips and bootstrap."""
WHOLE: Final = 2**20
"""Bytes of a file that are looked at; of longer ones its length counts too."""
_PACKAGES: Final = ("brainkit", "numpy", "onnxruntime", "pgvector", "psycopg", "scikit-learn", "scipy")


def manifest(brain: Brain, config: EvalConfig, corpus: str) -> dict[str, Any]:
    """For manifest.json; ``key`` is equal for runs whose questions give the same."""
    told = {
        "settings": {name: str(one) for name, one in config.settings.items()},
        "main": config.main,
        "gates": list(config.gates),
        "gate": config.gate,
        "fingerprint": brain.fingerprint(),
        "corpus_digest": corpus,
    }
    return {
        "schema": SCHEMA,
        "key": hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16],
        **told,
        "alpha": config.alpha,
        "delta": config.delta,
        "seed": SEED,
        "versions": {name: importlib.metadata.version(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }


def corpus_digest(corpus: Path) -> str:
    """Sixteen hexadecimal digits that change with names and contents of the files; hidden ones do not count."""
    told = hashlib.sha256()
    if corpus.is_file():
        _add(told, corpus, corpus.name)
    for folder, inner, names in os.walk(corpus):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                path = Path(folder) / name
                _add(told, path, path.relative_to(corpus).as_posix())
    return told.hexdigest()[:16]


def _add(told: Any, path: Path, name: str) -> None:
    try:
        with path.open("rb") as file:
            content = file.read(WHOLE)
        length = path.stat().st_size
    except OSError:
        return  # the import says so
    told.update(f"{name}\0{length}\0".encode("utf-8", "surrogateescape"))
    told.update(content)
