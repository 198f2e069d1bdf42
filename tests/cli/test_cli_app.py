"""``brainkit app`` as a process: the page, its token, and that nothing is left when it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import httpx
import psutil
import pytest
from typer.testing import CliRunner

from brainkit.cli.app import app
from brainkit.store.server import EmbeddedServer, layout


def running(*words):
    """Processes that have one of the words in their command line."""
    return [
        line
        for one in psutil.process_iter(["cmdline"])
        if any(word in (line := " ".join(one.info["cmdline"] or [])) for word in words)
    ]


def gone(*words):
    """Whether no such process is left, soon."""
    for _ in range(100):
        if not running(*words):
            return True
        time.sleep(0.1)
    return False


def test_a_page_with_a_token_whose_end_leaves_no_kernel_and_no_server(tmp_path):
    pytest.importorskip("voila")
    home = tmp_path / "home"
    environment = {
        **os.environ,
        "BOR_HOME": str(home),
        "BOR_EMBEDDER": "wordllama",
        "IPYTHONDIR": str(tmp_path),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "TMPDIR": str(tmp_path),
    }
    command = [sys.executable, "-m", "brainkit", "app", "--no-browser", "--json"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        told = process.stdout.readline()
        assert told, process.communicate()
        url = json.loads(told)["url"]
        bare, _, token = url.partition("?token=")
        assert len(token) >= 32
        assert bare.startswith("http://127.0.0.1:")
        assert not any(token in line for line in running("brainkit", "voila"))
        refused = httpx.get(bare, timeout=60)
        assert refused.status_code in {302, 401, 403}
        assert "Chat with your notes" not in refused.text
        page = httpx.get(url, timeout=60)
        assert page.status_code == 200
        assert "Chat with your notes" in page.text
        assert "open_workbench" not in page.text.partition("<body")[2]  # the cells' code is not shown
        assert re.findall(r"""(?:src|href|import\()\s*[=(]?\s*["']https?:[^"']*""", page.text) == []
        assert "default-src 'self'" in page.headers["Content-Security-Policy"]
        data = str(layout.locate(home).state)
        assert any("ipykernel" in line for line in running(str(tmp_path)))
        assert running(data)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, "")
        assert "Traceback" not in err
        assert gone(str(tmp_path), data)
        assert not list(tmp_path.glob("brainkit-page-*"))
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=60)
        EmbeddedServer(home).erase()


def test_a_port_that_is_taken_is_told():
    pytest.importorskip("voila")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(app, ["app", "--no-browser", "--port", str(port)])
    assert result.exit_code == 2
    assert f"port {port}" in result.stderr


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("brainkit.interfaces.extras.find_spec", lambda name: None if name == "voila" else name)
    result = CliRunner().invoke(app, ["app"])
    assert result.exit_code == 2
    assert "pip install 'brainkit[jupyter]'" in " ".join(result.stderr.split())


def test_a_killed_command_takes_the_page_with_it(tmp_path):
    pytest.importorskip("voila")
    environment = {**os.environ, "BOR_HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "brainkit", "app", "--no-browser", "--json"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    url = json.loads(process.stdout.readline())["url"]
    process.kill()
    process.communicate()
    port = int(re.search(r":(\d+)/", url)[1])
    for _ in range(150):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                break
        time.sleep(0.1)
    else:
        pytest.fail("it still listens")
