"""The notebooks: they run, say what they said, keep nothing they must not, and can be copied from a package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from brainkit.cli import notebooks as command
from brainkit.cli.app import app
from brainkit.store.server import EmbeddedServer

ROOT = Path(__file__).parents[2]
NAMES = ["02_calibrate_gate.ipynb", "03_compare_gates.ipynb", "04_label_questions.ipynb"]
CHAT = "05_chat.ipynb"


@pytest.fixture(params=NAMES)
def notebook(request):
    return nbformat.read(ROOT / "notebooks" / request.param, 4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_there_is_no_other():
    """Others bring tests of their own, and their name here."""
    assert {*NAMES, CHAT} <= {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}


def test_it_was_run_from_the_first_cell_to_the_last(notebook):
    assert [cell.execution_count for cell in code(notebook)] == list(range(1, len(code(notebook)) + 1))
    assert all(output.output_type != "error" for cell in code(notebook) for output in cell.outputs)


def test_it_keeps_results_but_no_widget_and_no_trace_of_a_machine(notebook):
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.language_info == {"name": "python"}
    kinds = {kind for cell in code(notebook) for output in cell.outputs for kind in output.get("data", {})}
    assert "text/plain" in kinds
    assert "application/vnd.jupyter.widget-view+json" not in kinds
    assert all(not cell.metadata for cell in notebook.cells)


def test_it_is_thin(notebook):
    assert max(len(cell.source.splitlines()) for cell in code(notebook)) <= 10


def test_the_calibrator_leaves_a_picture():
    outputs = [o for cell in code(nbformat.read(ROOT / "notebooks" / NAMES[0], 4)) for o in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 1


def test_the_chat_notebook_is_stripped_and_thin():
    """What it does is tested in a browser."""
    chat = nbformat.read(ROOT / "notebooks" / CHAT, 4)
    assert set(chat.metadata) == {"kernelspec", "language_info"}
    assert [(cell.execution_count, cell.outputs) for cell in code(chat)] == [(None, [])] * len(code(chat))
    assert code(chat)[-1].source.splitlines()[-1] == "chat"  # the last cell: a question waits while another runs
    assert sum(len(cell.source.splitlines()) for cell in code(chat)) <= 10


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_it_runs_and_says_what_it_said(tmp_path, request):
    """Small, with the fast embedder: every cell runs, and what depends on no embedder is compared; in full, all is."""
    full = request.config.getoption("markexpr") == "slow"
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    home = tmp_path / "home"
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("BOR_", "COV_"))}
    environment |= {
        "BOR_HOME": str(home),
        "BOR_EMBEDDER": "minilm" if full else "wordllama",
        "IPYTHONDIR": str(tmp_path),
    }
    environment |= {"JUPYTER_PLATFORM_DIRS": "1", "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    files = [str(ROOT / "notebooks" / name) for name in NAMES]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", str(tmp_path / "pytest.ini"), "--rootdir", str(ROOT),
         "-p", "no:cacheprovider", "--nbval" if full else "--nbval-lax", "--nbval-current-env",
         "--nbval-cell-timeout=1500", *files],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    for place in (home / "eval").iterdir():
        EmbeddedServer(place).erase()
    assert done.returncode == 0, done.stdout[-5000:]
    assert not (ROOT / "notebooks" / "questions.jsonl").exists()


def test_the_command_copies_them_and_overwrites_nothing(tmp_path):
    target = tmp_path / "new" / "folder"
    run = CliRunner().invoke
    result = run(app, ["notebooks", str(target), "--json"])
    assert (result.exit_code, json.loads(result.stdout)["kept"]) == (0, [])
    assert {*NAMES, CHAT} <= {path.name for path in target.iterdir()}
    (target / NAMES[0]).write_text("mine")
    assert "stay as they are" in run(app, ["notebooks", str(target)]).stderr
    assert (target / NAMES[0]).read_text() == "mine"
    assert str(target / NAMES[0]) in run(app, ["notebooks", str(target), "--force"]).stdout.replace("\n", "")
    assert (target / NAMES[0]).read_bytes() == (ROOT / "notebooks" / NAMES[0]).read_bytes()


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(app, ["notebooks", str(tmp_path / "file")])
    assert result.exit_code == 2
    assert "cannot be copied" in result.stderr


def test_they_are_found_in_an_installed_package(tmp_path, monkeypatch):
    (tmp_path / "brainkit" / "notebooks").mkdir(parents=True)
    monkeypatch.setattr(command.resources, "files", lambda package: tmp_path / package)
    assert command.notebook_folder() == tmp_path / "brainkit" / "notebooks"
    (tmp_path / "brainkit" / "notebooks").rmdir()
    assert command.notebook_folder() == tmp_path / "notebooks"


def test_the_wheel_takes_them_along_to_where_they_are_looked_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    taken = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert {(ROOT / source).resolve(): target for source, target in taken.items()} == {
        command.notebook_folder().resolve(): "brainkit/notebooks"
    }
