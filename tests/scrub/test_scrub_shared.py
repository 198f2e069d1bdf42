"""The targets on the shared development cases; skipped where those are not."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from brainkit.scrub import scrub

TOOLS = Path(__file__).parents[3] / "shared" / "tools"
POLICY = {"placeholder", "publishable-key"}  # whether these stay is a choice, so they are counted apart


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    if spec is None or spec.loader is None or not (TOOLS / f"{name}.py").exists():
        pytest.skip("no shared development data beside the repository")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def lines(name: str) -> list[dict[str, str]]:
    base = os.environ.get("BRAINKIT_SHARED_DATA")
    path = Path(base) / name if base and (Path(base) / name).exists() else Path(tool("shared_data").find(name))
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_recall() -> None:
    cases = lines("scrub/cases.dev.jsonl")
    tool("shared_data")
    left_over = tool("score_scrub").left_over
    hit: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for case in cases:
        gone = left_over(case, scrub(case["text"]).text) <= 0.1 * len(case["secret"])
        for key in (case["quality"], f"A {case['tier']}" if case["quality"] == "A" else "all"):
            total[key] += 1
            hit[key] += gone
    shares = {key: hit[key] / total[key] for key in total}
    assert shares["A"] >= 0.96
    assert shares["B"] >= 0.75
    for tier in ("token", "generic", "private_key", "password_hash", "connection_string"):
        assert shares[f"A {tier}"] >= 0.92, tier
    assert shares["A weak_password"] >= 0.85


def test_false_alarms() -> None:
    items = [item for item in lines("scrub/benign.dev.jsonl") if item["kind"] not in POLICY]
    hurt = [item["text"] for item in items if item["must_survive"] not in scrub(item["text"]).text]
    assert len(hurt) <= 0.02 * len(items), hurt
