"""``brainkit steer``: the owner's own words to the language model."""

from __future__ import annotations

from typing import Annotated

import typer

from brainkit.cli.screen import fail_on_error, print_json
from brainkit.errors import UsageError
from brainkit.settings import Settings

STEER_EXAMPLES = """
Examples:

  brainkit steer

  brainkit steer "Answer in at most three sentences; I run everything on the host amsel."

  brainkit steer - < steering.md

  brainkit steer --clear
"""


@fail_on_error
def steer(
    text: Annotated[str | None, typer.Argument(help="The new text; - reads it from standard input.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the text.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show, set or clear what you want to tell the language model with every question."""
    from brainkit.answering.steering import Steering
    from brainkit.scrub import Scrubber

    if text is not None and clear:
        raise UsageError("give a text or --clear, not both")
    settings = Settings()
    scrubber = Scrubber(email=settings.scrub_email, rules=settings.scrub_rules)
    steering = Steering(settings.home, settings.steering_max_chars, lambda given: scrubber.scrub(given).text)
    if clear:
        steering.write("")
    elif text is not None:
        steering.write(typer.get_text_stream("stdin").read() if text == "-" else text)
    kept = steering.read()
    if as_json:
        print_json({
            "text": kept, "characters": len(kept), "budget": steering.most, "cut": len(kept) > steering.most,
            "file": str(steering.file),
        })  # fmt: skip
        return
    if kept:
        typer.echo(kept)
    state = f"{len(kept)} of {steering.most} characters (BOR_STEERING_MAX_CHARS)" if kept else "no steering text"
    typer.echo(f"({state}{'; the rest is cut off in prompts' if len(kept) > steering.most else ''})", err=True)
