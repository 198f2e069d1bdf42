"""A real browser, a real JupyterLab and a real kernel: one of each for the whole run, all on this machine."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import nbformat
import pytest

from brainkit import Brain, Settings

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--no-first-run", "--no-pings", "--disable-domain-reliability",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]  # fmt: skip
PAYLOAD = "<img src=x onerror=window.__xss=1><script>window.__xss=2</script>"
NOTES = {
    "ups.md": f"# UPS {PAYLOAD}\n\nThe cellar's Eaton got a new battery RBC7 on 12 March 2024. {PAYLOAD}\n",
    "dns.md": "# DNS\n\nAdGuard runs on eule and listens on port 53. The upstream is unbound on port 5335.\n",
    "backup.md": "# Backups\n\nrestic runs every night at 02:40 and keeps 14 daily snapshots.\n",
    "bread.md": "# Sourdough\n\nThe loaf bakes 45 minutes at 240 degrees.\n",
    "bike.md": "# Gravel bike\n\nThe tyres are 40 mm wide and run at 2.8 bar.\n",
}
ASKED = {
    "ups.md": ["When did the Eaton get a new battery?", "Which battery does the UPS take?", f"Eaton battery {PAYLOAD}"],
    "dns.md": ["Where does AdGuard run?", "On which port is unbound?", "Which port does AdGuard listen on?"],
    "backup.md": ["When does restic run?", "How many daily snapshots are kept?", "What runs every night?"],
    "bread.md": ["How long does the loaf bake?", "How hot is the oven for the loaf?", "Sourdough minutes"],
    "bike.md": ["How wide are the tyres?", "What pressure do the tyres run at?", "Gravel bike tyres"],
}
OFF = ["Who won the world cup in 1990?", "How do I knit a scarf?", "What is the capital of Peru?", "Eiffel tower?"]
CELLS = [
    'from brainkit.widgets import Calibrator, Labeller, open_workbench\nbench = open_workbench("calibration.jsonl")',
    "calibrator = Calibrator(bench, alpha=0.3)\ncalibrator",
    'labeller = Labeller(bench.brain, "questions.jsonl", ["Which battery?", "Which port is it?", "A roof?"])\nlabeller',
    """import random
from dataclasses import replace
from brainkit import Label
from brainkit.gate import LabelledEvidence
from brainkit.retrieval import Evidence
many = replace(bench, labels=[Label(str(n), f"question {n}", True) for n in range(2000)])
draw = random.Random(1)
kinds = ["", "off_topic", "missing_note", "missing_detail", "false_premise"]
vars(many)["labelled"] = [
    LabelledEvidence(str(n), kinds[n % 5], Evidence(best_score=draw.gauss(0.5 - 0.05 * (n % 5), 0.1)))
    for n in range(2000)
]
large = Calibrator(many)
large""",
    "from brainkit.widgets import Chat\nchat = Chat(bench.brain)\nchat",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A running browser that can reach nothing but this machine.

    No longer than a module, since as long as it runs no other test can start an event loop.
    """
    if not CHROMIUM:
        pytest.skip("there is no chromium: apt-get install -y chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def lab(
    chromium: Any, new_database: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SimpleNamespace]:
    """JupyterLab with an open notebook whose cells have run: ``page``, ``python(code)``, ``folder``, ``strange``."""
    folder = tmp_path_factory.mktemp("lab")
    home = folder / "home"
    for name, text in NOTES.items():
        (folder / "notes").mkdir(exist_ok=True)
        (folder / "notes" / name).write_text(text, "utf-8")
    rows = [
        {"id": f"{doc}{n}", "question": question, "answerable": True, "relevant": [{"doc": doc}]}
        for doc, questions in ASKED.items()
        for n, question in enumerate(questions)
    ] + [{"id": f"o{n}", "question": text, "answerable": False, "kind": "off_topic"} for n, text in enumerate(OFF)]
    (folder / "calibration.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"name": "python3", "display_name": "Python 3"}  # without, the page asks which one
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, folder / "widgets.ipynb")
    with new_database() as url:
        with Brain.open(Settings(home=home, database_url=url, embedder="wordllama")) as brain:
            brain.import_paths([folder / "notes"])
        brain_settings = {"BOR_HOME": str(home), "BOR_DATABASE_URL": url, "BOR_EMBEDDER": "wordllama"}
        with _Server(folder, {**brain_settings, "BOR_VECTOR_CACHE": "off"}) as server:
            yield _opened(chromium, server, folder)


class _Server:
    """JupyterLab on a free port of the loopback, with settings of its own; ended by its process group."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.token = secrets.token_hex(16)
        self.runtime = folder / "jupyter" / "runtime"
        places = {
            f"JUPYTER_{what}_DIR": str(folder / "jupyter" / what.lower()) for what in ("CONFIG", "DATA", "RUNTIME")
        }
        places |= {
            f"JUPYTERLAB_{what}_DIR": str(folder / "jupyter" / what.lower()) for what in ("SETTINGS", "WORKSPACES")
        }
        news = folder / "jupyter/settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
        news.parent.mkdir(parents=True)
        news.write_text('{"fetchNews": "false", "checkForUpdates": false}')
        self._command = [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={self.port}",
            "--ServerApp.port_retries=0", f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={folder}",
            "--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            "--LabApp.extension_manager=readonly", "--LabApp.expose_app_in_browser=True",
        ]  # fmt: skip
        self._environment = {
            **os.environ,
            **places,
            **settings,
            "JUPYTER_PLATFORM_DIRS": "1",
            "IPYTHONDIR": str(folder),
        }
        self._log = folder / "lab.log"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> Any:
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"token {self.token}"})
        with urllib.request.urlopen(request, timeout=5) as reply:
            return json.load(reply)

    def __enter__(self) -> Self:
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=self._environment, start_new_session=True
            )
        self.wait_for(lambda: self.get("/api"), 60)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)

    def wait_for(self, found: Callable[[], Any], seconds: float) -> Any:
        """What ``found`` gives as soon as that is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._process.poll() is not None:
                break
            try:
                if value := found():
                    return value
            except OSError:
                pass
            time.sleep(0.1)
        raise AssertionError(f"JupyterLab: {self._log.read_text()[-3000:]}")


def _opened(chromium: Any, server: _Server, folder: Path) -> SimpleNamespace:
    from jupyter_client import BlockingKernelClient

    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(60_000)
    strange: list[str] = []
    page.on("request", lambda request: None if _local(request.url) else strange.append(request.url))
    page.on("pageerror", lambda error: strange.append(str(error)))
    page.goto(f"{server.url}/doc/tree/widgets.ipynb?reset&token={server.token}")
    page.locator(".jp-NotebookPanel").wait_for()
    session = server.wait_for(
        lambda: next((s for s in server.get("/api/sessions") if s["kernel"]["connections"] >= 1), None), 60
    )
    page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    page.locator(".bk-cal[data-ready]").nth(1).wait_for()
    page.locator(".bk-chat[data-ready]").wait_for()
    client = BlockingKernelClient(connection_file=str(server.runtime / f"kernel-{session['kernel']['id']}.json"))
    client.load_connection_file()
    client.start_channels()

    def python(expression: str) -> Any:
        """Value of an expression in the notebook's kernel."""
        reply = client.execute_interactive(
            "", user_expressions={"value": f"__import__('json').dumps({expression})"}, store_history=False, timeout=30
        )
        value = reply["content"]["user_expressions"]["value"]
        assert value["status"] == "ok", value
        return json.loads(eval(value["data"]["text/plain"], {"__builtins__": {}}))

    return SimpleNamespace(
        page=page, python=python, folder=folder, strange=strange, saved=(folder / "widgets.ipynb").read_text,
        wait_for=lambda found: server.wait_for(found, 30),
    )  # fmt: skip


def _local(url: str) -> bool:
    return re.match(r"(?:https?|wss?)://127\.0\.0\.1[:/]|data:|blob:", url) is not None
