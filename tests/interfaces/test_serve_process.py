"""``brainkit serve`` as a process: how it starts, what it refuses, how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest
from llm_double import LLMReply
from typer.testing import CliRunner

from brainkit.cli.app import app
from brainkit.errors import SettingsError
from brainkit.store.server import EmbeddedServer, layout

TOKEN = "t" * 32


@pytest.fixture
def start(tmp_path):
    """Starts ``brainkit serve``; killed after the test if it still runs."""
    started = []

    def process(*arguments, **variables):
        environment = {"BOR_HOME": str(tmp_path / "home"), "BOR_EMBEDDER": "wordllama", "BOR_VECTOR_CACHE": "off"}
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "brainkit", "serve", *arguments],
                env={**os.environ, **environment, **variables},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield process
    for one in started:
        if one.poll() is None:
            one.kill()
        one.communicate()


def told(process):
    """What ``--json`` prints at the start."""
    line = process.stdout.readline()
    assert line, process.communicate()
    return json.loads(line)


def test_sigterm_leaves_no_database_server(start, tmp_path):
    home = tmp_path / "home"
    try:
        process = start("--port", "0", "--json")
        at = told(process)
        link, _, admin = at["page"].partition("#token=")
        assert (link, admin) == (at["url"], at["admin_token"])
        assert (
            httpx.get(f"{link}api/health", headers={"Authorization": f"Bearer {at['token']}"}, timeout=60).status_code
            == 200
        )
        assert len(_servers(home)) == 1
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60) == ("", "")
        assert process.returncode == 0
        assert not _servers(home)
    finally:
        EmbeddedServer(home).erase()


def _servers(home: Path) -> list[str]:
    """Command lines of PostgreSQL servers that keep the data of a brain."""
    data = str(layout.locate(home).state)
    lines = [" ".join(one.info["cmdline"] or []) for one in psutil.process_iter(["cmdline"])]
    return [line for line in lines if data in line and "postgres" in line]


def test_ctrl_c_ends_it_at_once_though_an_answer_runs(start, filled, model, wait_for):
    """And a token that a variable sets is not printed."""
    model.say(LLMReply(text="word " * 50, hang_after=5))
    closed, address = model.closed, filled.settings.database_url.get_secret_value()
    process = start(
        "--port",
        "0",
        BOR_DATABASE_URL=address,
        BOR_LLM_BASE_URL=model.url,
        BOR_LLM_MODEL="double",
        BOR_HTTP_TOKEN=TOKEN,
    )
    lines = [process.stdout.readline() for _ in range(3)]
    url, _, admin = lines[0].split()[1].partition("#token=")
    assert lines[1] == "Programs may ask with: the token in BOR_HTTP_TOKEN\n"
    assert "Ctrl-C stops it" in lines[2]
    assert httpx.get(f"{url}api/docs", headers={"Authorization": f"Bearer {admin}"}, timeout=60).status_code == 200
    asked = {"headers": {"Authorization": f"Bearer {TOKEN}"}, "json": {"question": "Which UPS battery?"}}
    with httpx.stream("POST", f"{url}api/chat", timeout=60, **asked) as reply:
        assert next(reply.iter_text()).startswith("event: delta")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err
    assert err.endswith("Stopped.\n")
    wait_for(lambda: model.closed == closed + 1)


def test_a_debugger_attaches_if_it_is_asked_for():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    code = "from brainkit.interfaces.debugging import attach_debugger as attach; print(attach(), flush=True); input()"
    variables = {**os.environ, "DEBUGPY": "1", "DEBUGPY_PORT": str(port), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], env=variables, **pipes) as process:
        assert process.stdout.readline() == f"127.0.0.1:{port}\n"
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            assert b'"packageVersion"' in connection.recv(4096)  # greets, by the debug adapter protocol
        process.communicate("\n")


def test_debugpy_is_not_imported_otherwise(monkeypatch):
    from brainkit.interfaces.debugging import attach_debugger

    monkeypatch.delitem(sys.modules, "debugpy", raising=False)
    for value in (None, "", "0", "true"):
        monkeypatch.setenv("DEBUGPY", value) if value is not None else monkeypatch.delenv("DEBUGPY", raising=False)
        assert attach_debugger() == ""
    assert "debugpy" not in sys.modules
    monkeypatch.setenv("DEBUGPY", "1")
    for port in ("many", "0", "65536", "-1"):
        monkeypatch.setenv("DEBUGPY_PORT", port)
        with pytest.raises(SettingsError, match=f"DEBUGPY_PORT = '{port}' is not allowed: give a port"):
            attach_debugger()
    assert "debugpy" not in sys.modules


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """What ``brainkit serve ARGUMENTS`` says when it does not start; no brain is opened for that."""
    monkeypatch.setenv("BOR_HOME", str(tmp_path / "home"))

    def run(*arguments):
        result = CliRunner().invoke(app, ["serve", *arguments])
        assert (result.exit_code, result.stdout) == (2, "")
        assert not (tmp_path / "home").exists()
        return result.stderr

    return run


def test_anything_but_this_machine_is_refused(refused):
    for host in ("0.0.0.0", "::", "192.168.1.7", "example.org", "", "127.0.0.1.example.org"):
        assert refused("--host", host).startswith(f"Error: host {host!r} is not allowed: brainkit serves this machine")


def test_a_port_in_use_is_said_to_be(refused, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        says = f"port {port} of 127.0.0.1 is in use: give another by --port or BOR_HTTP_PORT; 0 takes a free one\n"
        assert refused("--port", str(port)) == f"Error: {says}"
        monkeypatch.setenv("BOR_HTTP_PORT", str(port))
        assert refused() == f"Error: {says}"


def test_a_missing_extra_is_named_with_the_command_that_gets_it(refused, monkeypatch):
    monkeypatch.setattr("brainkit.interfaces.extras.find_spec", lambda name: None)
    assert refused() == "Error: fastapi and uvicorn are not installed: pip install 'brainkit[http]'\n"


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"BOR_HTTP_TOKEN": "short"}, "BOR_HTTP_TOKEN is not allowed"),
        ({"BOR_HTTP_TOKEN": "with a space in it"}, "letters, digits"),
        ({"BOR_HTTP_TOKEN": TOKEN, "BOR_HTTP_ADMIN_TOKEN": TOKEN}, "another one than BOR_HTTP_TOKEN"),
        ({"BOR_HTTP_PORT": "70000"}, "BOR_HTTP_PORT = '70000' is not allowed"),
    ],
)
def test_wrong_settings_are_named_and_tokens_not_shown(refused, monkeypatch, variables, says):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    told = refused()
    assert says in told
    assert not any(value in told for name, value in variables.items() if "TOKEN" in name)
