"""The command line, run in this process on a brain of its own."""

import json

import pytest
from typer.testing import CliRunner

from brainkit.cli.app import app

THINGS = [
    f"{colour} {thing}"
    for colour in ("red", "blue", "old", "new", "big")
    for thing in ("piano", "kayak", "tent", "drone", "violin")
]


@pytest.fixture
def run(database_url, tmp_path, monkeypatch):
    """Runs ``brainkit ARGUMENTS`` on a brain of its own and checks the exit code; no traceback is ever shown."""
    for name, value in {"HOME": tmp_path / "home", "DATABASE_URL": database_url, "EMBEDDER": "wordllama"}.items():
        monkeypatch.setenv(f"BOR_{name}", str(value))
    monkeypatch.setenv("COLUMNS", "200")

    def command(*arguments, code=0, of=app):
        result = CliRunner().invoke(of, [str(argument) for argument in arguments])
        assert result.exit_code == code, f"{result.output}{result.exception!r}"
        assert "Traceback" not in result.output
        return result

    return command


@pytest.fixture
def thing_labels(tmp_path, run):
    """Twenty-five notes in the brain, and a labels file about them."""
    folder, file = tmp_path / "things", tmp_path / "things.jsonl"
    folder.mkdir()
    rows = []
    for number, thing in enumerate(THINGS):
        (folder / f"{thing}.md").write_text(f"# {thing}\n\nThe {thing} cost {number} euro.\n")
        rows.append(
            {
                "id": thing,
                "question": f"What did the {thing} cost?",
                "answerable": True,
                "relevant": [{"doc": f"{thing}.md", "quote": f"cost {number} euro"}],
            }
        )
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("import", folder)
    return file
