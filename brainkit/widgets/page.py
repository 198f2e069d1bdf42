"""A notebook as a page of its own: Voila on the loopback, behind a token, with nothing fetched from elsewhere."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self

from brainkit.errors import UsageError

HOST: Final = "127.0.0.1"
START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 10.0
POLICY: Final = (
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self' ws://127.0.0.1:* data:; frame-ancestors 'none'; "
    "form-action 'self'; base-uri 'self'"
)
"""What the browser may load: what this server gives, and no other host's, whatever a template or a note asks for."""


TEMPLATE: Final = """{% extends 'voila/templates/lab/index.html.j2' %}
{% block notebook_css %}
{{ resources.include_js("static/voila-style.js") }}
{{ spinner.css() }}
<style>.jp-mod-noOutputs.jp-mod-noInput { display: none; } body { overflow: auto; }</style>
{{ super.super() }}
{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
"""
"""Voila's page for notebooks without the icons and diagrams that it would have from other hosts."""


class NotebookPage:
    """A running Voila server of one notebook.

    Each view of the page has a kernel of its own, which ends with it. The token lies in a file of the owner's, since
    everybody on the machine can read command lines.

    Args:
        notebook: what to serve; a copy is, in a folder of its own.
        port: where; any free one if None.
        environment: variables of the kernels beside this process's.

    Raises:
        UsageError: the port is taken, or Voila does not start; the message says what it printed.
    """

    def __init__(self, notebook: Path, port: int | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._notebook = notebook
        self._port = port
        self._environment = {**os.environ, **(environment or {})}
        self._token = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        """Address with the token."""
        return f"http://{HOST}:{self._port}/?token={self._token}"

    @property
    def opener(self) -> Path:
        """A local page that leads there, so that the token stands on no browser's command line."""
        return self._folder / "open.html"

    def wait(self) -> int:
        """Until it ends by itself; its exit code."""
        return self._process.wait()

    def __enter__(self) -> Self:
        self._port = _free(self._port)
        self._folder = Path(tempfile.mkdtemp(prefix="brainkit-page-"))  # only its owner may enter
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        process = getattr(self, "_process", None)
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGTERM)  # it ends its kernels, and they leave the database
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    # Inside

    def _start(self) -> None:
        copy = self._folder / self._notebook.name
        shutil.copyfile(self._notebook, copy)
        self.opener.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={self.url}">', "utf-8")
        headers = {"Content-Security-Policy": POLICY}
        config = {
            "Voila": {
                "ip": HOST,
                "port": self._port,
                "open_browser": False,
                "token": self._token,
                "tornado_settings": {"headers": headers},
            },
            "VoilaConfiguration": {"template": "brainkit"},
            "MappingKernelManager": {"cull_interval": 60, "cull_idle_timeout": 900},
        }
        (self._folder / "voila.json").write_text(json.dumps(config), "utf-8")
        template = self._folder / "voila" / "templates" / "brainkit"
        template.mkdir(parents=True)
        (template / "index.html.j2").write_text(TEMPLATE, "utf-8")
        (template / "conf.json").write_text('{"base_template": "lab"}', "utf-8")
        paths = [str(self._folder), *filter(None, [self._environment.get("JUPYTER_PATH")])]
        self._log = self._folder / "voila.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "brainkit.widgets.page", copy.name],
                cwd=self._folder,
                env={
                    **self._environment,
                    "JUPYTER_CONFIG_DIR": str(self._folder),
                    "JUPYTER_PATH": os.pathsep.join(paths),
                },
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the command, which ends it in order
            )
        self._await()

    def _await(self) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection((HOST, self._port or 0), 1):
                return
            time.sleep(0.05)
        said = self._log.read_text("utf-8", "replace").strip().splitlines()
        raise UsageError("the page does not start; Voila said:\n" + "\n".join(said[-5:]))


def _free(port: int | None) -> int:
    """The port, or a free one.

    Raises:
        UsageError: it is taken.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port or 0))
        except OSError as error:
            raise UsageError(f"port {port} cannot be had ({error.strerror}): give another --port, or none") from error
        return int(probe.getsockname()[1])


def _serve() -> None:
    """Run Voila, and end it when the process that wanted it is gone, however it went."""
    from voila.app import main  # type: ignore[import-untyped]

    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    main()


if __name__ == "__main__":
    _serve()
