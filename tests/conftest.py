"""Real parts for the tests: one embedded PostgreSQL for the whole run, an empty migrated database for each test."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from brainkit import Brain, Settings
from brainkit.readers import Document
from brainkit.store import Database
from brainkit.store.server import EmbeddedServer

ROOT = Path(__file__).parent.parent
SHARED_TOOLS = ROOT.parent / "shared" / "tools"
_numbers = itertools.count()
_spec = importlib.util.spec_from_file_location("llm_double", ROOT / "tests" / "llm_double.py")
assert _spec is not None
assert _spec.loader is not None
llm_double = importlib.util.module_from_spec(_spec)
sys.modules["llm_double"] = llm_double  # so that test modules can import it, which lie in no package
_spec.loader.exec_module(llm_double)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """BOR_* variables of whoever runs the tests do not reach them."""
    for name in list(os.environ):
        if name.startswith("BOR_") or name == "OLLAMA_URL":
            monkeypatch.delenv(name)
    monkeypatch.setenv("BOR_VECTOR_CACHE", "off")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A running embedded server with a migrated, empty database ``template_brain``."""
    running = EmbeddedServer(tmp_path_factory.mktemp("server"))
    with running:
        with psycopg.connect(running.conninfo(), autocommit=True) as connection:
            connection.execute("alter system set fsync = off")  # nothing here has to survive a power cut
            connection.execute("select pg_reload_conf()")
            connection.execute("create database template_brain")
        Database(Settings(database_url=_url(running, "template_brain"))).close()
        yield running
    running.erase()  # as root the data lie outside the temporary folder


@pytest.fixture(scope="session")
def new_database(server: EmbeddedServer) -> Callable[[], contextlib.AbstractContextManager[str]]:
    """Makes a migrated, empty database to be used in a ``with`` statement, which gives its address."""
    return functools.partial(_new_database, server)


@pytest.fixture
def database_url(new_database: Callable[[], contextlib.AbstractContextManager[str]]) -> Iterator[str]:
    """Address of a new, migrated, empty database; dropped after the test."""
    with new_database() as url:
        yield url


@contextlib.contextmanager
def _new_database(server: EmbeddedServer) -> Iterator[str]:
    name = f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(f"create database {name} template template_brain strategy file_copy")
    yield _url(server, name)
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(f"drop database {name} with (force)")


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """An open, empty database."""
    with Database(Settings(database_url=database_url)) as opened:
        yield opened


@pytest.fixture(scope="session")
def make_document() -> Callable[..., Document]:
    """Makes a document as the readers would; the content decides its hash."""

    def made(content: str, **fields: Any) -> Document:
        values: dict[str, Any] = {
            "path": "a.md",
            "full_path": "/notes/a.md",
            "title": "",
            "content": content,
            "content_hash": hashlib.sha256(content.encode()).hexdigest(),
            "format": "markdown",
            "tags": (),
            "ts": None,
            "links": (),
            "redactions": {},
            "scrub_version": "1",
            "note": "",
        }
        return Document(**{**values, **fields})

    return made


@pytest.fixture
def open_brain(database_url: str, tmp_path: Path) -> Iterator[Callable[..., Brain]]:
    """Open a brain on a new database, wordllama for speed unless told otherwise; closed after the test."""
    brains: list[Brain] = []

    def opened(**settings: object) -> Brain:
        values = {"home": tmp_path / "home", "database_url": database_url, "embedder": "wordllama", **settings}
        brains.append(Brain.open(Settings(**values)))
        return brains[-1]

    yield opened
    for brain in brains:
        brain.close()


@pytest.fixture
def llm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A running stand-in for a language model's server; waits between tries are shortened."""
    monkeypatch.setattr("brainkit.answering.llm.BACKOFF_SECONDS", 0.001)
    with llm_double.running(llm_double.Double()) as double:
        yield double


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Finds public development data beside the checkout; skips the test where it is not there."""

    def find(name: str) -> Path:
        if not (SHARED_TOOLS / "shared_data.py").exists():
            pytest.skip("the shared development data is not beside this checkout")
        command = [sys.executable, str(SHARED_TOOLS / "shared_data.py"), name.partition("/")[0]]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        if found.returncode:
            pytest.skip(f"no shared data {name}")
        return Path(found.stdout.strip()) / name.partition("/")[2]

    return find


def _url(server: EmbeddedServer, name: str) -> str:
    return server.url(name).replace("postgresql+psycopg://", "postgresql://")
