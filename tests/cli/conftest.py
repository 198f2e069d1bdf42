"""The command line, run in this process on a brain of its own."""

import pytest
from typer.testing import CliRunner

from brainkit.cli.app import app


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
