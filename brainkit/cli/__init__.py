"""The command line: parse, call the brain, print; nothing else."""

from __future__ import annotations

import logging
import sys

import typer

from brainkit.errors import SettingsError
from brainkit.settings import Settings


def main(app: typer.Typer | None = None, name: str = "brainkit") -> None:
    """Run a command line; ``BOR_LOG=debug`` shows what goes on inside."""
    try:
        level = Settings().log
    except SettingsError:  # the command itself says what is wrong, and `--help` works all the same
        level = "error"
    logging.basicConfig(level=level.upper(), format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("psycopg").setLevel(level.upper())  # it would set itself to WARNING, whatever the root says
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        if app is None:
            from brainkit.cli.app import app as brainkit_app

            app = brainkit_app
        app(prog_name=name)
    except KeyboardInterrupt:
        sys.exit(130)
