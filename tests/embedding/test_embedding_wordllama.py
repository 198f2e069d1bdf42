"""WordLlama against its own inference code, and its meaning by examples."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
import pytest

from brainkit.embedding import WordLlamaEmbedding, make_embedder
from brainkit.settings import Settings

TEXTS = ["hello world", "Die Wärmepumpe lief nicht.", "k3s-node-01: v1.31.4+k3s1", "word " * 700]

ORACLE = """
import json, sys
from importlib.util import find_spec
from pathlib import Path
from safetensors import safe_open
from tokenizers import Tokenizer
from wordllama.inference import WordLlamaInference
home = Path(find_spec("wordllama").submodule_search_locations[0])
with safe_open(home / "weights/l2_supercat_256.safetensors", "np") as f:
    table = f.get_tensor("embedding.weight")
tokenizer = Tokenizer.from_file(str(home / "tokenizers/l2_supercat_tokenizer_config.json"))
print(json.dumps(WordLlamaInference(table, tokenizer).embed(json.loads(sys.argv[1]), norm=True).tolist()))
"""


@pytest.fixture(scope="module")
def wordllama() -> WordLlamaEmbedding:
    return WordLlamaEmbedding()


def test_vectors_equal_those_of_the_package(wordllama: WordLlamaEmbedding) -> None:
    # In a process of its own: the package configures the root logger when imported.
    done = subprocess.run([sys.executable, "-c", ORACLE, json.dumps(TEXTS)], capture_output=True, check=True, text=True)
    np.testing.assert_allclose(wordllama.embed(TEXTS), json.loads(done.stdout), atol=1e-3)


def test_shape_and_length(wordllama: WordLlamaEmbedding) -> None:
    vectors = wordllama.embed(["", "\0", "\ud800", "x", "\u200b", *TEXTS])
    assert vectors.shape == (9, 256)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_related_texts_are_nearer(wordllama: WordLlamaEmbedding) -> None:
    backup, restore, soup = wordllama.embed(
        ["restore the database from the nightly backup", "how do I recover a database dump?", "a soup of leeks"]
    )
    assert backup @ restore > backup @ soup + 0.2


def test_a_megabyte_is_embedded_whole(wordllama: WordLlamaEmbedding) -> None:
    whole, both, spam = wordllama.embed(["spam " * 100_000 + "eggs " * 100_000, "spam eggs " * 100, "spam " * 100])
    assert whole @ both > 0.999
    assert whole @ spam < 0.9


def test_by_settings() -> None:
    embedder = make_embedder(Settings(embedder="wordllama"))
    started = time.monotonic()
    vectors, failures = embedder.embed_documents(["a note about backups"] * 70)
    assert time.monotonic() - started < 20
    assert vectors.shape == (70, 256)
    assert failures == {}
    assert embedder.identity.dimensions == 256
    assert embedder.token_vectors(["x"]) is None
    embedder.close()
