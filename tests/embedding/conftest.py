"""A loopback stand-in for Ollama and for an OpenAI-compatible API, as well- or ill-behaved as a test wants it."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from brainkit.embedding import fence, make_embedder
from brainkit.settings import Settings

DIMENSIONS = 8
DIGEST = "0a109f422b47e3a30ba2b10eca18548e944e8a23073ee3f3e947efcf3c45e59f"


def vector_of(text: str) -> list[float]:
    """A vector that depends on the text alone; not normalised."""
    return [b / 16 - 7.9 for b in hashlib.sha256(text.encode()).digest()[:DIMENSIONS]]


@dataclass
class Reply:
    """What the double answers to one embedding call; the default is a correct answer."""

    status: int = 200
    error: str = ""
    vectors: list[Any] | None = None
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False


@dataclass
class Double:
    """The server: ``behave`` decides each reply, ``calls`` holds the texts of every embedding call.

    An ``old`` one is Ollama before 0.3: /api/embeddings, one text a call.
    """

    provider: str
    behave: Callable[[list[str], int], Reply] = lambda texts, number: Reply()
    tags: Reply = field(default_factory=Reply)
    digest: str = DIGEST
    old: bool = False
    port: int = 0
    calls: list[list[str]] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    @property
    def settings(self) -> dict[str, Any]:
        if self.provider == "ollama":
            return {"embedder": "ollama", "ollama_url": f"http://127.0.0.1:{self.port}"}
        url = f"http://127.0.0.1:{self.port}/v1"
        return {"embedder": "openai", "embedding_base_url": url, "embedding_model": "some-model"}

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[Reply, bytes]:
        self.requests.append((path, headers, body))
        if path == "/api/tags":
            models = [{"model": "nomic-embed-text:latest", "name": "nomic-embed-text:latest", "digest": self.digest}]
            return self.tags, json.dumps({"models": models}).encode() if self.tags.body is None else self.tags.body
        if self.old:
            if path == "/api/embed":
                return Reply(404), b"404 page not found"
            body = {**body, "input": body["prompt"]}
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        self.calls.append(texts)
        reply = self.behave(texts, len(self.calls))
        if reply.body is not None:
            return reply, reply.body
        vectors = [vector_of(text) for text in texts] if reply.vectors is None else reply.vectors
        if self.provider == "ollama":
            good: dict[str, Any] = {"embedding": vectors[0]} if self.old else {"embeddings": vectors}
            bad: dict[str, Any] = {"error": reply.error}
        else:
            data = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
            good = {"object": "list", "model": body["model"], "data": data, "usage": {}}
            bad = {"error": {"message": reply.error}}
        return reply, json.dumps(good if reply.status == 200 else bad).encode()


@contextmanager
def running(double: Double) -> Iterator[Double]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply({})

        def do_POST(self) -> None:
            self.reply(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def reply(self, body: dict[str, Any]) -> None:
            reply, content = double.answer(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            time.sleep(reply.delay)
            if reply.cut:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            try:
                self.send_response(reply.status)
                for key, value in {"content-length": str(len(content)), **reply.headers}.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                pass  # the client has given up, as some tests want it to

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    double.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield double
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is asked, and nobody's home is written to, unless a test sets the variable itself."""
    monkeypatch.setenv("BOR_VECTOR_CACHE", "off")


@pytest.fixture(params=["ollama", "openai"])
def double(request: pytest.FixtureRequest) -> Iterator[Double]:
    with running(Double(request.param)) as server:
        yield server


@pytest.fixture
def ollama() -> Iterator[Double]:
    with running(Double("ollama")) as server:
        yield server


@pytest.fixture
def openai() -> Iterator[Double]:
    with running(Double("openai")) as server:
        yield server


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Makes an embedder for a double and closes it afterwards; waits between tries are shortened."""
    monkeypatch.setattr(fence, "BACKOFF_SECONDS", 0.001)
    made = []

    def embedder(double: Double, **keywords: Any) -> Any:
        made.append(make_embedder(Settings(**{**double.settings, **keywords})))
        return made[-1]

    yield embedder
    for each in made:
        each.close()


def unit(vector: list[float]) -> np.ndarray:
    """The vector at length 1."""
    return np.array(vector) / np.linalg.norm(vector)


@pytest.fixture
def tools() -> Any:
    """Helpers of this file for the test modules, which cannot import a conftest."""

    class Tools:
        reply = Reply
        vector_of = staticmethod(vector_of)
        unit = staticmethod(unit)
        digest = DIGEST
        double = Double
        running = staticmethod(running)
        dimensions = DIMENSIONS

    return Tools
