"""Retrieval beside other programs: quality on question sets and cost at any size, on one server, with the same vectors.

    python -m eval.benchmarks.retrieval                                   all sets, 10,000 and 100,000 chunks
    python -m eval.benchmarks.retrieval --sets clapnq --sizes none        quality on one set
    python -m eval.benchmarks.retrieval --sets none --sizes 10000,500000 --peers brainkit,llamaindex
    python -m eval.benchmarks.retrieval --sets none --sizes none --million

Every peer is given the same chunks and the same vectors, and each of its channels gives 30 chunks. Quality is per
document, by its best chunk, with MiniLM; cost is of real, varied text with wordllama, the embedding of the question
not counted. CPU time is that of client and server; compare it first, since the clock also shows what else ran.
Writes results/retrieval.json, .md and .png. Peers that are not installed are named and left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from brainkit.eval.metrics import parse_metric
from brainkit.eval.stats import holm, sign_flip_test
from brainkit.store.server import EmbeddedServer
from eval.benchmarks import report
from eval.benchmarks.common import (
    RESULTS,
    Meter,
    benchmark_server,
    machine,
    new_database,
    settle,
    time_calls,
    write_json,
)
from eval.benchmarks.corpus import SETS, QuestionSet, embed, mixed_questions, question_set, real_chunks, varied
from eval.benchmarks.peers import PEERS, Peer, Place, peer

MILLION = 1_000_000
_METRICS = [parse_metric(name) for name in ("nDCG@10", "recall@10", "hit@2")]
_K = 10
log = logging.getLogger("benchmark")


def installed(names: Sequence[str]) -> list[str]:
    """Those peers whose program is there; the others are named in the log."""
    there = []
    for name in names:
        try:
            peer(name)
        except ImportError as error:
            log.warning("%s is left out: %s (group bench installs it)", name, error)
        else:
            there.append(name)
    return there


@contextmanager
def loaded(name: str, server: EmbeddedServer, embedder: str) -> Iterator[tuple[Peer, Place]]:
    """A peer in an empty place."""
    with tempfile.TemporaryDirectory(prefix="brainkit-bench-") as folder:
        database = f"bench_{name}"
        place = Place(server, new_database(server, database), database, Path(folder), embedder)
        with closing(peer(name)(place)) as made:
            yield made, place


def quality(given: QuestionSet, names: Sequence[str], server: EmbeddedServer) -> list[dict[str, Any]]:
    """A row for each way: the mean of each metric, and how it differs from brainkit's on the same questions."""
    vectors = embed([piece.text for piece in given.pieces], "minilm")
    asked = embed(given.questions, "minilm")
    values: dict[str, dict[str, list[float]]] = {}
    for name in names:
        with loaded(name, server, "minilm") as (made, place):
            made.load(given.pieces, vectors)
            settle(place.conninfo)
            for way in made.ways:
                if not way.quality:
                    continue
                made.use(way)
                found = [made.search(q, v, _K) for q, v in zip(given.questions, asked, strict=True)]
                values[way.name] = {
                    str(metric): [metric(r, grades) for r, grades in zip(found, given.qrels, strict=True)]
                    for metric in _METRICS
                }
                log.info("%s, %s: nDCG@10 %.4f", given.name, way.name, np.mean(values[way.name]["nDCG@10"]))
    return _compared(values)


def _compared(values: dict[str, dict[str, list[float]]]) -> list[dict[str, Any]]:
    """Means, and for nDCG@10 the paired difference from brainkit with its p, corrected for the number of ways."""
    rows: list[dict[str, Any]] = [
        {"way": way, **{metric: float(np.mean(v)) for metric, v in of.items()}} for way, of in values.items()
    ]
    if "brainkit" in values:
        ours = np.array(values["brainkit"]["nDCG@10"])
        others = [row for row in rows if row["way"] != "brainkit"]
        tests = [sign_flip_test(list(np.array(values[row["way"]]["nDCG@10"]) - ours)) for row in others]
        for row, test, p in zip(others, tests, holm([test.p for test in tests]), strict=True):
            row |= {"difference": test.mean, "p": p}
    return rows


def cost(
    size: int, texts: Sequence[str], names: Sequence[str], server: EmbeddedServer, *, questions: int, seconds: float
) -> Iterator[dict[str, Any]]:
    """A row for each way: load, size, CPU and wall time of a question among ``size`` chunks."""
    meter = Meter(server)
    pieces = varied(texts, size)
    vectors = embed([piece.text for piece in pieces], "wordllama")
    asked = mixed_questions(questions)
    embedded = embed(asked, "wordllama")
    for name in names:
        with loaded(name, server, "wordllama") as (made, place):
            with meter.measure() as load:
                made.load(pieces, vectors)
                settle(place.conninfo)
            for way in made.ways:
                if not way.scale:
                    continue
                with meter.measure() as build:
                    made.use(way)
                ask = partial(_ask, made, asked, embedded)
                timing = time_calls(ask, len(asked), meter, seconds=seconds)
                stored = made.size()
                log.info(
                    "%d, %s: %.2f ms CPU, CPU p95 %.1f ms, p50 %.1f ms",
                    size,
                    way.name,
                    timing.cpu_ms,
                    timing.cpu_p95_ms,
                    timing.p50_ms,
                )
                yield {
                    "size": size, "way": way.name, **timing._asdict(), **stored._asdict(),
                    "load_cpu_s": load[0].cpu, "load_s": load[0].wall,
                    "build_cpu_s": build[0].cpu, "build_s": build[0].wall,
                }  # fmt: skip


def _ask(made: Peer, asked: Sequence[str], embedded: np.ndarray, number: int) -> list[str]:
    return made.search(asked[number], embedded[number], _K)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what is asked for, write and print the tables."""
    options = _options(argv)
    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", level=logging.WARNING, stream=sys.stderr)
    log.setLevel(logging.INFO)
    names = installed(options.peers)
    sizes = sorted({*options.sizes, *([MILLION] if options.million else [])})
    texts = real_chunks() if sizes else []
    results = _kept(options.out) if options.keep else {"sets": {}, "cost": []}
    with benchmark_server() as server:
        results = {"machine": machine(server), "sets": results["sets"], "cost": results["cost"]}
        for name in options.sets:
            results["sets"][name] = quality(question_set(name, options.limit), names, server)
            _write(options.out, results)
        for size in sizes:
            chosen = ["brainkit"] if size >= MILLION else names
            rows = cost(size, texts, chosen, server, questions=options.questions, seconds=options.seconds)
            for row in rows:
                again = (row["size"], row["way"])
                results["cost"] = [old for old in results["cost"] if (old["size"], old["way"]) != again]
                results["cost"].append(row)
                _write(options.out, results)
    print((options.out / "retrieval.json" if options.json else options.out / "retrieval.md").read_text("utf-8"))
    return 0


def _kept(out: Path) -> dict[str, Any]:
    try:
        return dict(json.loads((out / "retrieval.json").read_text("utf-8")))
    except FileNotFoundError:
        return {"sets": {}, "cost": []}


def _write(out: Path, results: dict[str, Any]) -> None:
    """After each step, so that a run that is broken off leaves what it measured."""
    results["cost"].sort(key=lambda row: row["size"])
    write_json(out / "retrieval.json", results)
    (out / "retrieval.md").write_text(report.retrieval(results), "utf-8")
    if len(results["cost"]) > 1 and importlib.util.find_spec("matplotlib"):
        report.picture(results["cost"], out / "retrieval.png")


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    about, _, examples = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        prog="python -m eval.benchmarks.retrieval", description=about, epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--sets", type=_names(SETS), default=list(SETS), help="question sets, or none")
    parser.add_argument("--sizes", type=_sizes, default=[10_000, 100_000], help="numbers of chunks, or none")
    parser.add_argument("--million", action="store_true", help="also 1,000,000 chunks, brainkit only")
    parser.add_argument("--peers", type=_names(tuple(PEERS)), default=list(PEERS), help=f"of {', '.join(PEERS)}")
    parser.add_argument("--limit", type=int, default=400, help="questions of a set at most")
    parser.add_argument("--questions", type=int, default=200, help="questions at each size")
    parser.add_argument("--seconds", type=float, default=60, help="for each way at each size, at most")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    parser.add_argument("--keep", action="store_true", help="keep what --out holds and this run does not measure")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser.parse_args(argv)


def _names(known: Sequence[str]) -> Any:
    def names(text: str) -> list[str]:
        given = [] if text == "none" else text.split(",")
        if unknown := set(given) - set(known):
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: not one of {', '.join(known)}")
        return given

    return names


def _sizes(text: str) -> list[int]:
    try:
        return [] if text == "none" else [int(size.replace("_", "")) for size in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: write numbers such as 10000,100000, or none") from None


if __name__ == "__main__":
    sys.exit(main())
