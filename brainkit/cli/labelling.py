"""``brainkit labels`` and ``feedback``: look after the questions the brain is judged by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from brainkit.cli.screen import fail_on_error, open_brain, print_json
from brainkit.errors import UsageError
from brainkit.labels import check as check_labels
from brainkit.labels import load

REVIEW_EXAMPLES = """
Examples:

  brainkit labels review

  brainkit labels review q17 --document hosts/nas.md

  brainkit labels review q18 --kind missing_detail
"""
FEEDBACK_EXAMPLES = """
Examples:

  brainkit feedback 3f09c2a71e right

  brainkit feedback 3f09c2a71e missed
"""
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


@labels_app.command(epilog=REVIEW_EXAMPLES)
@fail_on_error
def review(
    label: Annotated[
        str | None, typer.Argument(help="Id of the label to decide about; without, all are listed.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="It is right as it stands.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Forget it.")] = False,
    document: Annotated[str | None, typer.Option(help="The document that answers it.")] = None,
    kind: Annotated[str | None, typer.Option(help="Nothing answers it: missing_note, missing_detail ...")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List labels that are not used until you decide, and why; or decide about one."""
    chosen = sum((keep, drop, document is not None, kind is not None))
    if chosen != (label is not None):
        raise UsageError("give a label and one of --keep, --drop, --document and --kind; or nothing to list them")
    with open_brain() as brain:
        if label is not None:
            brain.settle(label, drop=drop, document=document, kind=kind)
        waiting = brain.reviews()
    if as_json:
        print_json({"labels": [one._asdict() for one in waiting]})
        return
    for one in waiting:
        typer.echo(f"{one.id}: {one.question}\n  {one.reason}")
    typer.echo(f"{len(waiting)} {'label waits' if len(waiting) == 1 else 'labels wait'} for a decision")


@fail_on_error
def feedback(
    reply: Annotated[str, typer.Argument(help="Id of the reply, as `brainkit ask` prints it.")],
    verdict: Annotated[str, typer.Argument(help="right, wrong, or missed: it should have answered.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say whether a reply was right; it becomes a labelled question."""
    with open_brain() as brain:
        made = brain.feedback(reply, verdict)
    if as_json:
        print_json({"label": made.label.to_dict(), "review": made.review})
    elif made.review:
        typer.echo(f"{made.review} (`brainkit labels review {made.label.id} ...`)")
    else:
        typer.echo(f"kept as label {made.label.id}")
