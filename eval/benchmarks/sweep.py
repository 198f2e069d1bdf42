"""A grid of sixty retrieval settings at one go against one by one, on the bundled notes; prints the ratio.

Run: ``python -m eval.benchmarks.sweep``; ``--one-by-one 20`` asks so many questions one by one (all with 0).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from brainkit.brain import Brain
from brainkit.eval.config import load_config
from brainkit.eval.executing import settled
from brainkit.eval.grid import expand
from brainkit.eval.run import eval_home
from brainkit.labels import load
from brainkit.retrieval import Recall
from brainkit.settings import Settings

GRID = (
    "hybrid(dense=[10,30,100],lexical=[10,30],fusion=convex,alpha=[0.2,0.35,0.5,0.65,0.8])",
    "hybrid(dense=[10,30,100],lexical=[10,30],fusion=rrf,k=[5,10,20,40,60])",
)
QUESTIONS = 240


def told(recall: Recall) -> tuple[tuple[object, ...], ...]:
    """What has to be equal: chunks with their scores, documents in their order."""
    chunks = tuple((chunk.chunk_id, chunk.score) for chunk in recall.chunks)
    return chunks, tuple(document.path for document in recall.documents)


def main() -> None:
    """Ask, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one-by-one", type=int, default=40, metavar="N", help="questions asked one by one; 0: all")
    sample = parser.parse_args().one_by_one or QUESTIONS
    config = load_config(Path("eval/settings.toml"))
    settings = [one for text in GRID for one in expand("grid", text).values()]
    questions = [label.question for label in load(config.labels)][:QUESTIONS]
    with Brain.open(eval_home(Settings(), config)) as brain:
        brain.import_paths([config.corpus], prune=True)
        brain.recall(questions[-1])  # the model is loaded, the server awake
        started, cpu = time.perf_counter(), time.process_time()
        with settled():
            swept = [[told(one) for one in brain.recall_each(question, settings, k=10)] for question in questions]
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        started = time.perf_counter()
        with settled():
            single = [[told(brain.recall(question, 10, one)) for one in settings] for question in questions[:sample]]
        one_by_one = (time.perf_counter() - started) * len(questions) / sample
    same = sum(
        one == other
        for ones, others in zip(swept, single, strict=False)
        for one, other in zip(ones, others, strict=True)
    )
    print(f"{len(settings)} settings x {len(questions)} questions at one go: {wall:.1f} s ({cpu:.1f} s of CPU here)")
    print(f"one by one: {one_by_one:.1f} s (from {sample} questions); ratio {one_by_one / wall:.1f}")
    print(f"the same results: {same} of {sample * len(settings)}")


if __name__ == "__main__":
    main()
