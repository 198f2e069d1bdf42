"""Identity, the wrapper around any LlamaIndex embedding, and what importing the room costs."""

from __future__ import annotations

import asyncio
import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llama_index.core import MockEmbedding

import brainkit.embedding
from brainkit.embedding import Embedder, ModelIdentity, make_embedder
from brainkit.embedding.faults import Fault, Kind, fault_of
from brainkit.embedding.fence import Service
from brainkit.embedding.profiles import Profile
from brainkit.errors import EmbedderUnavailableError, EmbeddingError
from brainkit.settings import Settings

MODULES = sorted(path.stem for path in Path(brainkit.embedding.__file__).parent.glob("*.py") if path.stem != "__init__")


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.strip()


def test_fingerprint_changes_with_whatever_changes_vectors() -> None:
    def made(**keywords: Any) -> ModelIdentity:
        return Embedder(MockEmbedding(embed_dim=4), **{"name": "m", "dimensions": 4, **keywords}).identity

    variants = [
        made(),
        made(name="n"),
        made(dimensions=5),
        made(recipe={"pooling": "cls"}),
        made(profile=Profile(query_prefix="query: ")),
        made(profile=Profile(document_prefix="query: ")),
        made(profile=Profile(window_tokens=512)),
        made(profile=Profile(window_tokens=256)),
    ]
    assert len({identity.fingerprint for identity in variants}) == len(variants)
    assert made() == made(batch=7, service=Service("another name"))


def test_importing_the_room_is_light_and_complete() -> None:
    heavy = "'numpy', 'llama_index', 'onnxruntime', 'tokenizers', 'safetensors', 'httpx'"
    code = f"import sys, brainkit.embedding as e; print([m for m in ({heavy}) if m in sys.modules], sorted(dir(e)))"
    assert python(code) == f"[] {sorted(brainkit.embedding.__all__)}"
    assert brainkit.embedding.__all__ == [
        "EmbedResult",
        "Embedder",
        "MiniLMEmbedding",
        "ModelIdentity",
        "TokenVectors",
        "WordLlamaEmbedding",
        "make_embedder",
    ]
    for name in brainkit.embedding.__all__:
        assert getattr(brainkit.embedding, name).__name__ == name
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = brainkit.embedding.nothing_like_it


def test_packaged_models_are_the_same_in_every_process_connect_nowhere_and_leave_llamaindex_alone() -> None:
    code = """
import socket
def refuse(*args, **keywords): raise AssertionError("a connection was tried")
socket.socket.connect = socket.getaddrinfo = refuse
from brainkit.embedding import make_embedder
from brainkit.settings import Settings
for name in ("minilm", "wordllama"):
    embedder = make_embedder(Settings(embedder=name))
    embedder.embed_query("hello")
    print(embedder.identity.fingerprint)
from llama_index.core import Settings as theirs
print(theirs._embed_model, theirs._llm)
"""
    *elsewhere, untouched = python(code).splitlines()
    here = [make_embedder(Settings(embedder=name)).identity.fingerprint for name in ("minilm", "wordllama")]
    assert elsewhere == here
    assert untouched == "None None"
    assert all(len(found) == 64 and int(found, 16) for found in here)


def test_any_llamaindex_embedding_can_be_wrapped() -> None:
    embedder = Embedder(MockEmbedding(embed_dim=16))
    assert embedder.identity.dimensions == 16
    np.testing.assert_allclose(embedder.embed_query("x"), np.full(16, 0.25), atol=1e-6)
    assert embedder.embed_documents(["a", "b"]).vectors.shape == (2, 16)
    base = embedder.base
    assert (base.model_name, base.class_name()) == (embedder.name, "EmbedderEmbedding")
    np.testing.assert_allclose(asyncio.run(base.aget_query_embedding("x")), np.full(16, 0.25), atol=1e-6)
    embedder.close()


def test_a_model_that_breaks_on_one_text_only_loses_that_text() -> None:
    class Fragile(MockEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            if "bad" in text:
                raise RuntimeError("broken")
            return [1.0, 0.0]

    result = Embedder(Fragile(embed_dim=2)).embed_documents(["a", "bad", "c"])
    assert result.failures == {1: "broken"}
    np.testing.assert_array_equal(result.vectors[[0, 2]], [[1, 0], [1, 0]])


def test_a_model_that_always_breaks_is_unavailable_and_one_that_explains_itself_is_believed() -> None:
    class Broken(MockEmbedding):
        error: Any = RuntimeError("out of order")

        def _get_text_embedding(self, text: str) -> list[float]:
            raise self.error

    with pytest.raises(EmbedderUnavailableError, match="out of order"):
        Embedder(Broken(embed_dim=2), dimensions=2).embed_documents(["a", "b"])
    with pytest.raises(EmbeddingError, match=r"^the weights are damaged$"):
        Embedder(Broken(embed_dim=2, error=EmbeddingError("the weights are damaged"))).embed_documents(["a", "b"])


def test_faults_are_told_apart_by_status_and_kind() -> None:
    class StatusError(Exception):
        def __init__(self, status_code: int) -> None:
            super().__init__("said\n  so")
            self.status_code = status_code

    kinds = {status: fault_of(StatusError(status)).kind for status in (400, 401, 403, 404, 408, 413, 429, 500, 503)}
    assert kinds == {
        400: Kind.REPLY,
        401: Kind.REFUSED,
        403: Kind.REFUSED,
        404: Kind.MISSING,
        408: Kind.BUSY,
        413: Kind.REPLY,
        429: Kind.BUSY,
        500: Kind.BUSY,
        503: Kind.BUSY,
    }
    assert fault_of(StatusError(400)).detail == "said so"
    assert fault_of(TimeoutError()) == Fault(Kind.TIMEOUT, "TimeoutError")
    assert len(fault_of(ValueError("x" * 5000)).detail) == 200


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module: str) -> None:
    assert doctest.testmod(import_module(f"brainkit.embedding.{module}")).failed == 0
