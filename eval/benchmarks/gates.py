"""What the regression rule says of changes made on purpose and of harmless ones, on the bundled notes.

Run: ``python -m eval.benchmarks.gates``. Harmless is what moves scores by about as much as another processor's last
digits or a tiny change of a weight would: the cosine's share and the reranker's weight, each moved by up to 1 %, drawn
anew for 20 seeds. Made on purpose are a channel or the reranker switched off, and one document in place of two.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from brainkit.brain import Brain
from brainkit.eval.asking import rank
from brainkit.eval.comparison import Record, compare
from brainkit.eval.config import EvalConfig, load_config
from brainkit.eval.executing import settled
from brainkit.eval.records import label_digest
from brainkit.eval.run import eval_home
from brainkit.labels import Label, load
from brainkit.retrieval import RetrievalSettings
from brainkit.settings import Settings

SEEDS = 20
MOVED = 0.01


class Change(NamedTuple):
    """A change of the main setting."""

    name: str
    harmless: bool
    settings: RetrievalSettings


def changes(main: RetrievalSettings) -> Iterator[Change]:
    """What is done to the main setting."""
    yield Change("nothing", True, main)
    yield Change("docs=1", False, replace(main, docs=1))
    yield Change("words off", False, RetrievalSettings.parse("dense(30)+maxsim(10)"))
    yield Change("meaning off", False, RetrievalSettings.parse("lexical(30)"))
    yield Change("reranker off", False, replace(main, maxsim=0))
    yield Change("rank fusion, reranker off", False, RetrievalSettings.parse("hybrid(fusion=rrf)"))
    for seed in range(SEEDS):
        draw = random.Random(seed)  # noqa: S311 - no secret
        alpha, weight = (value * draw.uniform(1 - MOVED, 1 + MOVED) for value in (main.alpha, main.maxsim_weight))
        yield Change(f"seed {seed}", True, replace(main, alpha=alpha, maxsim_weight=weight))


def record(brain: Brain, labels: list[Label], config: EvalConfig, change: Change) -> Record:
    """The values of the changed setting."""
    changed = replace(config, settings={change.name: change.settings}, main=change.name)
    rows = {label.id: rank(brain, label, changed)[0] for label in labels}
    return Record(
        change.name, change.name, str(change.settings), "", "",
        {label.id: label_digest(label.question, label.grades) for label in labels},
        {key: row.values for key, row in rows.items()},
    )  # fmt: skip


def main() -> None:
    """Ask under every change, compare with none, print."""
    config = load_config(Path("eval/settings.toml"))
    labels = [label for label in load(config.labels) if label.answerable]
    verdicts: Counter[str] = Counter()
    with Brain.open(eval_home(Settings(), config)) as brain, settled():
        brain.import_paths([config.corpus], prune=True)
        first, *others = changes(config.settings[config.main])
        before = record(brain, labels, config, first)
        for change in (first, *others):
            found = compare(
                before, record(brain, labels, config, change), gated=config.gated, tolerance=config.tolerance
            )
            if change.harmless and change is not first:
                verdicts[found.verdict] += 1
                continue
            print(f"{change.name}: {found.verdict}")
            for one in found.metrics:
                print(f"  {one}")
    print(f"harmless changes of {SEEDS} seeds: {dict(verdicts)}")


if __name__ == "__main__":
    main()
