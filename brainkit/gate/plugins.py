"""Gates of other packages: an entry point of the group ``brainkit.gates`` names a factory."""

from __future__ import annotations

import importlib.metadata
import math
from functools import lru_cache
from typing import Final, Protocol, cast, runtime_checkable

from brainkit.errors import SettingsError
from brainkit.retrieval import Evidence

GROUP: Final = "brainkit.gates"
"""Entry-point group; the name is what BOR_GATE calls the gate, the object a function of the embedder's name."""


@runtime_checkable
class PluginGate(Protocol):
    """A gate that another package brings: a ``Gate`` with a threshold for brains that have no certificate."""

    @property
    def name(self) -> str:
        """The same as the entry point's."""

    @property
    def version(self) -> str:
        """Goes into a certificate's fingerprint: changes when the same evidence would get another score."""

    @property
    def default_threshold(self) -> float:
        """Used, and called uncalibrated, until `brainkit calibrate` has run."""

    def score(self, evidence: Evidence) -> float:
        """Finite, higher means more surely answerable; lowest for ``Evidence()``."""


def plugin_names() -> list[str]:
    """Names of all installed plug-in gates, sorted; none of them is imported."""
    return sorted({point.name for point in importlib.metadata.entry_points(group=GROUP)})


@lru_cache(maxsize=64)
def plugin_gate(name: str, embedder: str) -> PluginGate:
    """The plug-in gate called ``name``, made once for each embedder.

    Raises:
        SettingsError: no package brings it, or what it brings cannot be imported or is no gate.
    """
    found = importlib.metadata.entry_points(group=GROUP, name=name)
    if not found:
        raise SettingsError(f"there is no plug-in gate {name!r}: {', '.join(plugin_names()) or 'none'} installed")
    point = next(iter(found))
    try:
        gate = point.load()(embedder)
        usable = isinstance(gate, PluginGate) and gate.name == name
        usable = usable and math.isfinite(gate.score(Evidence())) and math.isfinite(gate.default_threshold)
    except Exception as error:  # whatever another package does wrong has to be told with its name
        raise SettingsError(f"{_whose(point)} does not work: {type(error).__name__}: {error}") from error
    if not usable:
        raise SettingsError(
            f"{_whose(point)} is no gate: it needs name = {name!r}, version, score(evidence) and default_threshold, "
            "both numbers finite"
        )
    return cast("PluginGate", gate)


def _whose(point: importlib.metadata.EntryPoint) -> str:
    package = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
    return f"the plug-in gate {point.name!r}{package} ({point.value})"
