"""``brainkit remember`` and ``review``: tell the brain something, and decide what agents proposed."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from brainkit.cli.screen import fail_on_error, open_brain, print_json, without_controls
from brainkit.errors import UsageError

if TYPE_CHECKING:
    from brainkit.memory.remembered import Engram

REMEMBER_EXAMPLES = """
Examples:

  brainkit remember "The spare key of the rack hangs behind the boiler." --tag home

  brainkit remember - < minutes.md
"""
REVIEW_EXAMPLES = """
Examples:

  brainkit review

  brainkit review 3fa1c02b9d44 confirm
"""
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class Action(StrEnum):
    """What a person decides about a proposal."""

    confirm = "confirm"
    reject = "reject"


@fail_on_error
def remember(
    text: Annotated[str, typer.Argument(help="What to remember; - reads it from standard input.")],
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be given several times.")] = None,
    as_json: AsJson = False,
) -> None:
    """Remember a text: it is a note from now on, a file below BOR_HOME."""
    given = typer.get_text_stream("stdin").read() if text == "-" else text
    with open_brain() as brain:
        engram = brain.remember(given, tags=tag or ())
        home = brain.settings.home
    if as_json:
        print_json(engram.to_dict())
    else:
        typer.echo(f"{engram.id} {engram.state}: {home / engram.path}")


@fail_on_error
def review(
    engram_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Of a proposal; all are listed without.")
    ] = None,
    action: Annotated[Action | None, typer.Argument(help="confirm or reject.")] = None,
    as_json: AsJson = False,
) -> None:
    """List what agents proposed to remember; confirm or reject it. What waits is not found by questions."""
    with open_brain() as brain:
        if engram_id is None:
            found = brain.engrams("proposed")
        elif action is None:
            raise UsageError(f"say what to do: brainkit review {engram_id} confirm, or reject")
        else:
            found = [brain.confirm(engram_id) if action is Action.confirm else brain.reject(engram_id)]
    if as_json:
        print_json([engram.to_dict() for engram in found])
        return
    for engram in found:
        typer.echo(_line(engram))
    if not found:
        typer.echo("Nothing waits.")


def _line(engram: Engram) -> str:
    who = " ".join(filter(None, (engram.source, engram.agent_id)))
    tags = f" [{', '.join(engram.tags)}]" if engram.tags else ""
    return without_controls(f"{engram.id} {engram.state}, {who}, {engram.created:%Y-%m-%d}{tags}: {engram.text}")
