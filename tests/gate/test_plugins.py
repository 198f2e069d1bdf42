"""Gates of other packages: an installed distribution on sys.path, found by its entry point, named when broken."""

import importlib
import sys
import textwrap

import pytest

from brainkit.errors import SettingsError, UsageError
from brainkit.eval.config import load_config
from brainkit.eval.crossfit import judge_gate
from brainkit.gate import LabelledEvidence, make_gate, shipped_threshold
from brainkit.gate.gates import gate_names
from brainkit.gate.plugins import plugin_gate
from brainkit.labels import Label
from brainkit.retrieval import Evidence

GATE = """
    from dataclasses import dataclass

    imported = True

    @dataclass(frozen=True)
    class Margin:
        embedder: str
        name: str = "margin"
        version: str = "7"
        default_threshold: float = 0.25

        def score(self, evidence):
            return evidence.margin

    def broken(embedder):
        raise RuntimeError("no licence")

    class WithoutVersion:
        name, default_threshold = "margin", 0.0
        def __init__(self, embedder): pass
        def score(self, evidence): return 0.0

    def endless(embedder):
        return Margin(embedder, default_threshold=float("inf"))

    def renamed(embedder):
        return Margin(embedder, name="other")
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a distribution ``gate-pack`` 1.2 with these entry points, as pip would leave it on disk."""

    def installed(**points):
        info = tmp_path / "gate_pack-1.2.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gate-pack\nVersion: 1.2\n")
        lines = "".join(f"{name} = {value}\n" for name, value in points.items())
        (info / "entry_points.txt").write_text(f"[brainkit.gates]\n{lines}")
        (tmp_path / "gate_pack.py").write_text(textwrap.dedent(GATE))
        monkeypatch.syspath_prepend(str(tmp_path))
        importlib.invalidate_caches()

    plugin_gate.cache_clear()
    yield installed
    plugin_gate.cache_clear()
    sys.modules.pop("gate_pack", None)


def test_an_installed_gate_is_one_of_the_gates(install):
    assert "margin" not in gate_names()
    install(margin="gate_pack:Margin")
    assert gate_names() == ["seed", "cosine", "score", "evidence", "sufficiency", "margin"]
    assert "gate_pack" not in sys.modules  # not imported before it is used
    gate = make_gate("margin", "ollama")
    assert (gate.name, gate.version, gate.embedder) == ("margin", "7", "ollama")
    assert gate.score(Evidence(margin=0.3)) == 0.3
    assert shipped_threshold("margin", "ollama") == 0.25
    assert make_gate("margin", "ollama") is gate


def test_brainkits_own_gate_goes_before_one_of_the_same_name(install):
    install(cosine="gate_pack:Margin")
    assert make_gate("cosine", "minilm").score(Evidence(best_cosine=0.6, margin=0.1)) == 0.6
    assert gate_names().count("cosine") == 1


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("gate_pack_that_is_not_there:Margin", "does not work: ModuleNotFoundError: No module named 'gate_pack_that"),
        ("gate_pack:Nothing", "does not work: AttributeError: .*Nothing"),
        ("gate_pack:broken", "does not work: RuntimeError: no licence"),
        ("gate_pack:imported", "does not work: TypeError: 'bool' object is not callable"),
        ("gate_pack:WithoutVersion", "is no gate: it needs name = 'margin', version, "),
        ("gate_pack:renamed", "is no gate: it needs name = 'margin'"),
        ("gate_pack:endless", "is no gate: .*both numbers finite"),
    ],
)
def test_a_gate_that_cannot_be_used_is_named_with_its_package(install, value, reason):
    install(margin=value)
    with pytest.raises(SettingsError, match=rf"the plug-in gate 'margin' of gate-pack 1\.2 \({value}\) {reason}"):
        make_gate("margin", "minilm")


def test_a_broken_gate_disturbs_no_other(install):
    install(margin="gate_pack:broken")
    assert make_gate("score", "minilm").name == "score"
    with pytest.raises(SettingsError, match=r"'marge' is not allowed: give one of seed, .*, sufficiency, margin$"):
        make_gate("marge", "minilm")


def test_it_stands_in_the_comparison_when_it_is_named(install, small_settings):
    with pytest.raises(UsageError, match=r"gate 'margin' is none of seed, cosine, score, evidence, sufficiency$"):
        load_config(small_settings)
    install(margin="gate_pack:Margin")
    config = load_config(small_settings)
    assert config.gates == ("score", "margin")
    labels = [Label(f"y{i}", "?", True) for i in range(30)]
    labels += [Label(f"n{i}", "?", False, kind="off_topic") for i in range(30)]
    found = [LabelledEvidence(one.id, one.stratum, Evidence(margin=0.5 * one.answerable)) for one in labels]
    result = judge_gate("margin", labels, found, "minilm", config)
    assert (result.name, result.auroc, result.fit.answered) == ("margin", 1.0, (30, 30))


@pytest.fixture
def small_settings(tmp_path):
    """A settings.toml that compares the plug-in's gate."""
    file = tmp_path / "settings.toml"
    file.write_text('gate = "score"\ngates = ["score", "margin"]\nalpha = 0.3\n[settings]\na = "dense(30)"\n')
    return file
