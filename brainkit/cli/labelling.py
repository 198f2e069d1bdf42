"""``brainkit labels``: look after the questions the brain is judged by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from brainkit.cli.screen import fail_on_error, open_brain, print_json
from brainkit.labels import check as check_labels
from brainkit.labels import load

labels_app = typer.Typer(no_args_is_help=True, help="Look after labelled questions.")


@labels_app.callback()
def labels() -> None:
    """Look after labelled questions."""


@labels_app.command(epilog="Example: brainkit labels check questions.jsonl")
@fail_on_error
def check(
    file: Annotated[Path, typer.Argument(help="Labelled questions, JSON lines.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check ids, documents and quotes of a labels file against the notes in the brain."""
    found = load(file)
    with open_brain() as brain:
        problems = check_labels(found, brain.document_texts())
    if as_json:
        print_json({"labels": len(found), "problems": [problem._asdict() for problem in problems]})
    else:
        for problem in problems:
            typer.echo(f"{problem.id}: {problem.message}")
        typer.echo(f"{len(found)} labels, {len(problems)} problems")
    raise typer.Exit(1 if problems else 0)
