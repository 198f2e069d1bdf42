"""The benchmark scripts, run small: they measure what they say, and each peer finds what is plainly there."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
NOTES = {
    "backup.md": "# Backup\n\nThe nightly restic backup goes to the storage box in Falkenstein.\n",
    "solar.md": "# Solar\n\nThe inverter on the roof reports its yield over modbus.\n",
    "dns.md": "# Resolver\n\nUnbound answers on the router and forwards nothing.\n",
    "coffee.md": "# Coffee\n\nThe grinder is set to eleven for the moka pot.\n",
}
ASKED = {
    "where does the restic backup go": "backup.md",
    "yield of the inverter": "solar.md",
    "moka grinder": "coffee.md",
}


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT))

    def load(name: str) -> ModuleType:
        return importlib.import_module(f"eval.benchmarks.{name}")

    return load


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Shared data of four notes: every set is the same, and so is the corpus."""
    for name in ("til_jbranchaud", "clapnq", "squad2_part"):
        root = tmp_path / "questions" / name
        for folder in (root / "corpus", tmp_path / "corpora" / name):
            folder.mkdir(parents=True)
            for path, text in NOTES.items():
                (folder / path).write_text(text, "utf-8")
        questions = [{"_id": f"q{n}", "text": text, "answerable": True} for n, text in enumerate(ASKED)]
        (root / "queries.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions), "utf-8")
        qrels = [f"q{n}\t{document}\t1\n" for n, document in enumerate(ASKED.values())]
        (root / "qrels.tsv").write_text("query\tdocument\tgrade\n" + "".join(qrels), "utf-8")
    return tmp_path


def run(script: str, data: Path, *options: str) -> dict:
    environment = {**os.environ, "BRAINKIT_SHARED_DATA": str(data), "XDG_CACHE_HOME": str(data / "cache")}
    command = [sys.executable, "-m", f"eval.benchmarks.{script}", "--out", str(data / "out"), *options]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((data / "out" / f"{script}.json").read_text("utf-8"))


def test_brainkit_alone(data: Path) -> None:
    results = run("retrieval", data, "--peers", "brainkit", "--sets", "clapnq", "--sizes", "40", "--questions", "3")
    ways = {row["way"]: row for row in results["sets"]["clapnq"]}
    assert ways["brainkit"]["nDCG@10"] == 1
    (cost,) = results["cost"]
    assert (cost["size"], cost["n"]) == (40, 3)
    assert 0 < cost["p50_ms"] <= cost["p95_ms"]
    assert 0 < cost["index_mb"] < cost["total_mb"]
    assert "brainkit" in (data / "out" / "retrieval.md").read_text("utf-8")


@pytest.mark.slow
def test_every_peer(data: Path) -> None:
    for package in ("llama_index.vector_stores.postgres", "haystack_integrations", "sqlite_vec", "apsw", "bm25s"):
        if importlib.util.find_spec(package.partition(".")[0]) is None or importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    results = run("retrieval", data, "--sets", "clapnq", "--sizes", "40", "--questions", "3")
    found = {row["way"]: row["hit@2"] for row in results["sets"]["clapnq"]}
    assert len(found) == 8
    assert {way for way, hit in found.items() if hit < 1} == set()
    assert len(results["cost"]) == 9
    assert (data / "out" / "retrieval.png").exists()


def test_ingest(data: Path) -> None:
    results = run("ingest", data, "--files", "20", "--only", "brainkit")
    (row,) = results["ways"]
    assert results["files"] == 20
    assert row["chunks"] == row["chunks_after"] == 20
    assert row["again_cpu_s"] < row["cpu_s"]


def test_exact_search_and_a_large_ef_agree(data: Path) -> None:
    results = run("hnsw", data, "--sizes", "60", "--ef", "100", "--questions", "3")
    (of,) = results["sizes"]
    assert of["hnsw"][0]["recall"] == 1


def test_chunks_at_scale_are_distinct_and_of_real_words(module) -> None:
    corpus = module("corpus")
    texts = [f"{text} {n}" for n, text in enumerate(NOTES.values())]
    pieces = corpus.varied(texts, 300)
    assert len({piece.text for piece in pieces}) == 300
    assert [piece.text for piece in pieces[:4]] == texts
    assert {word for piece in pieces for word in piece.text.split()} <= {w for text in texts for w in text.split()}
    sizes = {document: sum(piece.document == document for piece in pieces) for document, _ in pieces}
    assert set(sizes.values()) == {5}
    assert corpus.varied(texts, 300) == pieces


def test_cpu_time_is_counted_in_both_client_and_server(module) -> None:
    common = module("common")
    import psycopg

    with common.benchmark_server() as server:
        meter = common.Meter(server)
        with meter.measure() as idle:
            pass
        with meter.measure() as busy, psycopg.connect(server.conninfo("postgres")) as connection:
            connection.execute("select count(*) from generate_series(1, 1500000) a, md5(a::text) b where b > ''")
    assert idle[0].cpu < 0.1
    assert 0.1 < busy[0].cpu < 2 * busy[0].wall + 0.1


def test_significance_is_against_brainkit_on_the_same_questions(module) -> None:
    retrieval = module("retrieval")
    values = {
        "brainkit": {"nDCG@10": [1.0] * 10, "recall@10": [1.0] * 10},
        "worse": {"nDCG@10": [0.5] * 10, "recall@10": [1.0] * 10},
        "same": {"nDCG@10": [1.0] * 10, "recall@10": [1.0] * 10},
    }
    rows = {row["way"]: row for row in retrieval._compared(values)}
    assert rows["worse"]["difference"] == -0.5
    assert rows["worse"]["p"] == pytest.approx(2 * 2 / 2**10)  # two of all sign patterns, twice for Holm
    assert rows["same"]["p"] == 1
    assert "p" not in rows["brainkit"]


def test_wrong_use_is_said(data: Path) -> None:
    command = [sys.executable, "-m", "eval.benchmarks.retrieval", "--peers", "lucene"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "lucene: not one of brainkit, llamaindex" in done.stderr
