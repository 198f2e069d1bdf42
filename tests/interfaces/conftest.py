"""A brain behind a real server on a free port of the loopback, with a language model's double."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from llm_double import Double, running

from brainkit import Brain, Settings

NOTES = {
    "power.md": "# UPS\n\nThe UPS battery was changed on 2025-06-14, an RBC7 from the drawer.\n",
    "hosts/dns.md": "# DNS\n\nAdGuard runs on eule and listens on port 53. The upstream is unbound on port 5335.\n",
    "backup.md": "# Backups\n\nrestic runs every night at 02:40 and keeps 14 daily snapshots.\n",
    "bread.md": "# Sourdough\n\nThe loaf bakes 45 minutes at 240 degrees.\n",
}


@pytest.fixture(scope="session")
def serving() -> Callable[..., contextlib.AbstractContextManager[str]]:
    """Serves a brain with tokens, in a ``with`` statement which gives the server's address."""
    return _serving


@contextlib.contextmanager
def _serving(brain: Brain, tokens: Any) -> Iterator[str]:
    """A running server's address."""
    from brainkit.interfaces.http import bind, make_app, make_server

    server = make_server(make_app(brain, tokens))
    with bind("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive()


@pytest.fixture(scope="module")
def model() -> Iterator[Double]:
    """The language model's double."""
    with running(Double()) as double:
        yield double


@pytest.fixture(scope="module")
def filled(
    new_database: Callable[[], Any], model: Double, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SimpleNamespace]:
    """``brain`` with a few notes in ``folder``, and its ``settings``."""
    folder = tmp_path_factory.mktemp("served")
    for name, text in NOTES.items():
        file = folder / "notes" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    with new_database() as url:
        values: dict[str, Any] = {"home": folder / "home", "database_url": url, "embedder": "wordllama"}
        settings = Settings(**values, **model.settings)
        with Brain.open(settings) as brain:
            brain.import_paths([folder / "notes"])
            yield SimpleNamespace(brain=brain, settings=settings, folder=folder)


@pytest.fixture(scope="module")
def served(filled: SimpleNamespace) -> Iterator[SimpleNamespace]:
    """A running server: ``url``, clients ``anyone``, ``read``, ``admin``, ``tokens``, ``brain``, ``settings``."""
    from brainkit.interfaces.http import Tokens

    tokens = Tokens.of(filled.settings)
    with _serving(filled.brain, tokens) as url, contextlib.ExitStack() as stack:
        clients = {
            role: stack.enter_context(
                httpx.Client(
                    base_url=url,
                    headers={"Authorization": f"Bearer {token}"} if token else {},
                    timeout=60,
                    trust_env=False,
                )
            )
            for role, token in (("anyone", ""), ("read", tokens.read), ("admin", tokens.admin))
        }
        yield SimpleNamespace(url=url, tokens=tokens, **clients, **vars(filled))


@pytest.fixture
def wait_for() -> Callable[[Callable[[], Any]], Any]:
    """Gives what a function gives as soon as that is true; fails after half a minute."""

    def wait(found: Callable[[], Any], seconds: float = 30) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := found():
                return value
            time.sleep(0.02)
        raise AssertionError("it did not come")

    return wait
