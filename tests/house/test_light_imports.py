"""What is quick to import: nothing heavy is loaded before it is needed (told by the modules, not by the clock)."""

import json
import subprocess
import sys

import pytest

HEAVY = {
    "alembic", "fastapi", "kingfisher_sdk", "llama_index", "matplotlib", "mcp", "numpy", "onnxruntime", "pandas",
    "psycopg", "scipy", "sklearn", "sqlalchemy", "tokenizers", "uvicorn", "wordllama",
}  # fmt: skip
HELPS = (
    ["--help"],
    ["--version"],
    ["import", "--help"],
    ["ask", "--help"],
    ["serve", "--help"],
    ["mcp", "--help"],
    ["eval", "--help"],
    ["eval", "run", "--help"],
    ["eval", "fit", "--help"],
)
ASK = "import sys, json; {}; json.dump(sorted({{m.split('.')[0] for m in sys.modules}}), sys.stderr)"
RUN = """
import sys
from brainkit.cli import main
sys.argv = ['brainkit', *{arguments!r}]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""


def loaded(code: str) -> set[str]:
    command = [sys.executable, "-c", code + ASK.format("pass")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr[done.stderr.rindex("[") :]))


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import brainkit\n", set()),
        ("from brainkit import Settings\n", set()),
        ("import brainkit.scrub\n", set()),
        ("import brainkit.eval\n", set()),
        (
            "import brainkit.labels, brainkit.readers, brainkit.embedding, brainkit.cli.app, brainkit.eval.command\n",
            set(),
        ),
        ("import brainkit.brain\n", {"numpy", "psycopg", "scipy"}),
    ],
    ids=["brainkit", "Settings", "scrub", "eval", "rooms", "brain"],
)
def test_an_import_loads_only_what_it_needs(code, allowed):
    assert loaded(code) & HEAVY <= allowed


def test_help_and_version_load_nothing_heavy():
    """All in one process, so that none of them does."""
    code = "".join(RUN.format(arguments=arguments) for arguments in HELPS)
    code += RUN.replace("main()", "main(app, 'python -m brainkit.eval')").format(arguments=["--help"])
    assert loaded("from brainkit.eval.command import app\n" + code) & HEAVY == set()


def test_a_command_that_runs_does_load_them(tmp_path):
    """The probe sees what it is meant to see."""
    assert {"numpy", "llama_index"} <= loaded("from brainkit.retrieval import HybridRetriever\n") & HEAVY
