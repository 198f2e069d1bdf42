"""The cache of vectors: exact, private, bounded, shared by processes, and never in the way."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llama_index.core import MockEmbedding
from pgvector import HalfVector

from brainkit.embedding import Embedder, cache, make_embedder
from brainkit.embedding.cache import VectorCache, cache_file
from brainkit.settings import Settings

TEXTS = [f"note number {n}" for n in range(40)]
VECTORS = np.random.default_rng(3).standard_normal((40, 16)).astype(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vectors.sqlite"


class Counting(MockEmbedding):
    """Counts the texts that reach it."""

    seen: list[str] = []  # noqa: RUF012 - a pydantic field

    def _get_text_embedding(self, text: str) -> list[float]:
        self.seen.append(text)
        if "bad" in text:
            raise RuntimeError("broken")
        return [float(len(text)), 1.0, 0.3]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def test_a_known_text_gives_what_the_database_would_keep(path: Path) -> None:
    VectorCache(path, "a").put(TEXTS, VECTORS)
    found = VectorCache(path, "a").get([*TEXTS[::-1], "unknown", TEXTS[0]])
    assert sorted(found) == [*range(40), 41]
    for index, vector in enumerate(VECTORS[::-1]):
        assert found[index].dtype == np.float32
        assert HalfVector(found[index]).to_binary() == HalfVector(vector).to_binary()
    np.testing.assert_array_equal(found[41], VECTORS[0].astype(np.float16).astype(np.float32))
    assert VectorCache(path, "another model").get(TEXTS) == {}


def test_more_texts_than_one_statement_takes_and_odd_ones(path: Path) -> None:
    texts = [str(n) for n in range(1201)] + ["", "\0", "\ud800", "\ufffd"]
    vectors = np.arange(len(texts) * 2, dtype=np.float32).reshape(-1, 2) % 1000
    VectorCache(path, "a").put(texts, vectors)
    found = VectorCache(path, "a").get(texts)
    np.testing.assert_array_equal([found[i] for i in range(len(texts))], vectors)
    assert VectorCache(path, "a").get([]) == {}


def test_the_file_is_private_and_holds_no_text(path: Path) -> None:
    kept = VectorCache(path, "a")
    kept.put(["a very private note"], VECTORS[:1])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert all(b"private" not in each.read_bytes() for each in path.parent.iterdir())
    kept.clear()
    assert kept.get(["a very private note"]) == {}
    VectorCache(path.parent / "none", "a").clear()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_rows_that_are_no_vectors_are_not_kept(path: Path) -> None:
    vectors = VECTORS[:3].copy()
    vectors[1] = np.nan
    VectorCache(path, "a").put(TEXTS[:3], vectors)
    assert sorted(VectorCache(path, "a").get(TEXTS[:3])) == [0, 2]


@pytest.mark.parametrize("bound", [{"max_vectors": 20}, {"max_bytes": 40_000}])
def test_the_longest_unused_go_first(path: Path, bound: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    kept = VectorCache(path, "a", **bound)
    now = [1_000_000_000.0]
    monkeypatch.setattr(cache.time, "time", lambda: now[0])
    for start in range(0, 40, 5):
        kept.put(TEXTS[start : start + 5], np.tile(VECTORS[start : start + 5], 32))  # 1 kB each
        now[0] += cache.USED_SECONDS + 1
        kept.get(TEXTS[:3])  # in use all the time
    left = sorted(VectorCache(path, "a").get(TEXTS))
    assert 15 <= len(left) <= 25
    assert len(left) <= bound.get("max_vectors", 25)
    assert left[:3] == [0, 1, 2]
    assert left[3:] == [n for n in left if n >= 5]
    assert {*range(5 * (left[3] // 5 + 1), 40)} < {*left}  # of those put at one time any


@pytest.mark.parametrize("harm", ["garbage", "middle", "short", "empty"])
def test_a_damaged_file_is_set_aside(path: Path, harm: str, caplog: pytest.LogCaptureFixture) -> None:
    texts = [str(n) for n in range(2000)]
    VectorCache(path, "a").put(texts, np.ones((2000, 64), np.float32))
    content = path.read_bytes()
    path.write_bytes(
        {
            "garbage": b"no database at all" * 500,
            "middle": content[:100] + b"\x5a" * (len(content) - 100),
            "short": content[: len(content) // 3],
            "empty": b"",
        }[harm]
    )
    kept = VectorCache(path, "a")
    kept.get(texts)
    kept.put(TEXTS, VECTORS)
    kept.put(TEXTS, VECTORS)
    assert len(kept.get(TEXTS)) == 40
    assert path.with_name(f"{path.name}.damaged").exists() == (harm != "empty")
    assert ("damaged and begun anew" in caplog.text) == (harm != "empty")


def test_a_vector_damaged_on_the_disk_is_not_believed(path: Path) -> None:
    VectorCache(path, "a").put(TEXTS, VECTORS)
    with sqlite3.connect(path) as connection:
        connection.execute("update vectors set vector = zeroblob(length(vector))")
    connection.close()
    assert VectorCache(path, "a").get(TEXTS) == {}


def test_a_locked_file_is_passed_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "BUSY_SECONDS", 0.05)
    VectorCache(path, "a").put(TEXTS[:20], VECTORS[:20])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin exclusive")
    kept = VectorCache(path, "a")
    kept.put(TEXTS, VECTORS)
    kept.get(TEXTS)
    other.rollback()
    other.close()
    assert len(VectorCache(path, "a").get(TEXTS)) == 20
    assert not path.with_name(f"{path.name}.damaged").exists()


@pytest.mark.parametrize("place", ["file/vectors.sqlite", "folder", "file"])
def test_a_place_that_cannot_be_written_means_no_cache(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("# a note that is no database\n" * 100)
    model = Counting(embed_dim=3)
    embedder = Embedder(model, cache=tmp_path / place)
    for _ in range(2):
        assert embedder.embed_documents(["a", "bb"]).failures == {}


WRITER = """
import sys, itertools, numpy as np
from pathlib import Path
from brainkit.embedding.cache import VectorCache
kept = VectorCache(Path(sys.argv[1]), "a")
print("ready", flush=True)
for n in itertools.count():
    texts = [f"{sys.argv[2]} {n} {i}" for i in range(20)]
    kept.put(texts, np.full((20, 16), n % 1000 + 1, np.float32))
"""


def test_killed_writers_leave_a_sound_file(path: Path) -> None:
    for round_ in range(3):
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(path), f"{round_}{k}"], stdout=subprocess.PIPE, text=True
            )
            for k in range(2)
        ]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        time.sleep(0.1 + 0.07 * round_)
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
            writer.wait()
            assert writer.stdout is not None
            writer.stdout.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    connection.close()
    kept = VectorCache(path, "a")
    found = 0
    for writer_name in ("00", "01", "10", "11", "20", "21"):
        for n in range(500):
            rows = kept.get([f"{writer_name} {n} {i}" for i in range(20)])
            assert len(rows) in (0, 20)  # one transaction each
            assert all((row == n % 1000 + 1).all() for row in rows.values())
            found += len(rows)
            if not rows:
                break
    assert found >= 60
    assert not path.with_name(f"{path.name}.damaged").exists()


def test_an_embedder_asks_its_model_only_for_what_is_new(path: Path) -> None:
    model = Counting(embed_dim=3)
    first = Embedder(model, name="m", cache=path).embed_documents(["a", "bad", "ccc"])
    assert list(first.failures) == [1]
    model.seen.clear()
    done: list[int] = []
    again = Embedder(model, name="m", cache=path).embed_documents(["ccc", "dd", "bad", "a"], progress=done.append)
    assert set(model.seen) - {"ping"} == {"dd", "bad"}
    assert list(again.failures) == [2]
    assert done == [4]
    np.testing.assert_array_equal(again.vectors[[3, 0]].astype(np.float16), first.vectors[[0, 2]].astype(np.float16))
    done.clear()
    Embedder(model, name="m", cache=path).embed_documents(["a", "ccc"], progress=done.append)
    assert done == [2]
    model.seen.clear()
    Embedder(model, name="another", cache=path).embed_documents(["a"])
    Embedder(model, name="m", cache=path).embed_query("a")
    assert model.seen.count("a") == 2  # another model, and a question
    assert Embedder(model, name="m", cache=path).embed_documents([]).vectors.shape == (0, 3)


def test_forget_empties_it_for_every_model(path: Path) -> None:
    model = Counting(embed_dim=3)
    for name in ("m", "n"):
        Embedder(model, name=name, cache=path).embed_documents(["a"])
    Embedder(model, name="m", cache=path).forget()
    Embedder(model, name="m").forget()  # has none
    model.seen.clear()
    Embedder(model, name="n", cache=path).embed_documents(["a"])
    assert "a" in model.seen


def test_brains_of_one_home_share_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOR_VECTOR_CACHE")
    settings = Settings(home=tmp_path, embedder="wordllama")
    fresh = make_embedder(settings).embed_documents(TEXTS).vectors
    assert (tmp_path / "cache" / "vectors.sqlite").exists()
    cached = make_embedder(settings)
    monkeypatch.setattr(type(cached._model), "embed", None)  # it is not asked
    kept = cached.embed_documents(TEXTS).vectors
    np.testing.assert_array_equal(kept.astype(np.float16), fresh.astype(np.float16))


@pytest.mark.parametrize(
    ("value", "expected"), [(None, "home/cache/vectors.sqlite"), ("off", None), ("elsewhere/v", "elsewhere/v")]
)
def test_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: Any, expected: str | None) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BOR_VECTOR_CACHE")
    if value:
        monkeypatch.setenv("BOR_VECTOR_CACHE", value)
    assert cache_file(Settings(home=tmp_path / "home")) == (tmp_path / expected if expected else None)
