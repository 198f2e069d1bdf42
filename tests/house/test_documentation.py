"""The README names every variable and every command; every module's examples run."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
import typer

import brainkit
from brainkit.cli.app import app
from brainkit.settings import Settings, variable_of

ROOT = Path(__file__).parent.parent.parent
MODULES = ["brainkit", *(module.name for module in pkgutil.walk_packages(brainkit.__path__, "brainkit."))]
NOT_IMPORTED = {"brainkit.store.migrations.env"}
"""Run by Alembic, not by import."""


def commands(group, prefix="brainkit"):
    """Every command as it is typed."""
    for name, command in group.commands.items():
        here = f"{prefix} {name}"
        if not getattr(command, "commands", {}) or command.invoke_without_command:
            yield here, command
        yield from commands(command, here) if hasattr(command, "commands") else ()


COMMANDS = dict(commands(typer.main.get_command(app)))


def readme():
    return (ROOT / "README.md").read_text("utf-8")


def test_the_commands_are_those_of_the_design():
    assert sorted(COMMANDS) == [
        "brainkit app", "brainkit ask", "brainkit calibrate", "brainkit chat", "brainkit doctor", "brainkit embed",
        "brainkit eval calibrate", "brainkit eval compare", "brainkit eval fit", "brainkit eval init",
        "brainkit eval labels check", "brainkit eval run", "brainkit feedback", "brainkit import",
        "brainkit labels check", "brainkit labels review", "brainkit links", "brainkit mcp", "brainkit notebooks",
        "brainkit recall", "brainkit remember", "brainkit rescrub", "brainkit review",
        "brainkit serve", "brainkit status", "brainkit steer",
    ]  # fmt: skip


def test_readme_names_every_variable():
    missing = [variable_of(name) for name in Settings.model_fields if f"`{variable_of(name)}`" not in readme()]
    assert not missing, f"README.md does not name {', '.join(missing)}"
    assert "`OLLAMA_URL`" in readme(), "README.md does not name OLLAMA_URL"


def test_readme_names_no_variable_that_is_none():
    known = {variable_of(name) for name in Settings.model_fields}
    unknown = sorted(set(re.findall(r"\bBOR_[A-Z_]+\b", readme())) - known)
    assert not unknown, f"README.md names {', '.join(unknown)}"


def test_readme_names_every_command():
    missing = [name for name in COMMANDS if name not in readme() and name.replace(" ", ".", 1) not in readme()]
    assert not missing, f"README.md does not name {', '.join(missing)}"


def test_readme_names_no_command_that_is_none():
    typed = {name.split()[1] for name in COMMANDS}
    named = re.findall(r"(?:`|uv run |^\$ )brainkit ([a-z]+)", readme(), re.MULTILINE)
    unknown = sorted(set(named) - typed)
    assert not unknown, f"README.md names {', '.join(unknown)}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does_and_shows_an_example(name):
    command = COMMANDS[name]
    assert command.help.split("\n")[0].rstrip().endswith(".")
    assert "Example" in command.epilog
    assert "brainkit" in command.epilog
    assert any("--json" in option.opts for option in command.params) or name == "brainkit eval fit"
    undescribed = [p.name for p in command.params if not getattr(p, "help", "") and p.name != "help"]
    assert undescribed == []


@pytest.mark.parametrize("name", sorted(set(MODULES) - NOT_IMPORTED))
def test_examples_in_docstrings_run(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
