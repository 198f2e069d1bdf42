"""The ``brainkit`` command and its sub-commands."""

from __future__ import annotations

from typing import Annotated

import typer

from brainkit import __version__
from brainkit.cli import (
    asking,
    calibrating,
    chatting,
    filling,
    knowing,
    labelling,
    linking,
    notebooks,
    page,
    remembering,
    serving,
    steering,
)
from brainkit.eval.command import app as eval_app

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # its box of local variables could show a password
    help="Ask your own notes; get an answer only when they hold one, and know how honest that is.",
    epilog="Start with: brainkit import ~/notes; brainkit ask 'When did I change the UPS battery?'",
)


def _version(value: bool) -> None:
    if value:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Ask your own notes; get an answer only when they hold one, and know how honest that is."""


app.command("import", epilog=filling.IMPORT_EXAMPLES)(filling.import_)
app.command("embed", epilog="Example: brainkit embed --retry")(filling.embed)
app.command("rescrub", epilog="Example: BOR_SCRUB_EMAIL=1 brainkit rescrub")(filling.rescrub)
app.command("recall", epilog=asking.RECALL_EXAMPLES)(asking.recall)
app.command("ask", epilog=asking.ASK_EXAMPLES)(asking.ask)
app.command("chat", epilog=chatting.CHAT_EXAMPLES)(chatting.chat)
app.command("app", epilog=page.APP_EXAMPLES)(page.app)
app.command("steer", epilog=steering.STEER_EXAMPLES)(steering.steer)
app.command("links", epilog=linking.LINKS_EXAMPLES)(linking.links)
app.command("status", epilog="Example: brainkit status --documents")(knowing.status)
app.command("calibrate", epilog=calibrating.CALIBRATE_EXAMPLES)(calibrating.calibrate)
app.command("doctor", epilog="Example: BOR_EMBEDDER=ollama brainkit doctor --probe")(knowing.doctor)
app.command("notebooks", epilog=notebooks.NOTEBOOKS_EXAMPLE)(notebooks.notebooks)
app.command("feedback", epilog=labelling.FEEDBACK_EXAMPLES)(labelling.feedback)
app.command("remember", epilog=remembering.REMEMBER_EXAMPLES)(remembering.remember)
app.command("review", epilog=remembering.REVIEW_EXAMPLES)(remembering.review)
app.command("serve", epilog=serving.SERVE_EXAMPLES)(serving.serve)
app.command("mcp", epilog=serving.MCP_EXAMPLES)(serving.mcp)
app.add_typer(labelling.labels_app, name="labels")
app.add_typer(eval_app, name="eval")
