"""``brainkit app``: the chat notebook as a page."""

from __future__ import annotations

import json
import webbrowser
from typing import Annotated

import typer

from brainkit.cli.notebooks import notebook_folder
from brainkit.cli.screen import fail_on_error
from brainkit.errors import UsageError

APP_EXAMPLES = """
Examples:

  brainkit app

  brainkit app --port 8866 --no-browser
"""


@fail_on_error
def app(
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port on 127.0.0.1; any free one if not given.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the address as one JSON object.")] = False,
) -> None:
    """Chat on a page of your own machine: the chat notebook, behind a token, until Ctrl-C."""
    from brainkit.interfaces.extras import need
    from brainkit.interfaces.signals import terminable

    need("jupyter", "voila", "anywidget")
    from brainkit.widgets.page import NotebookPage

    with terminable(), NotebookPage(notebook_folder() / "05_chat.ipynb", port) as page:
        if as_json:
            typer.echo(json.dumps({"url": page.url}))  # on one line, for those who read it while this runs
        else:
            typer.echo(f"{page.url}\nCtrl-C ends it.")
        if browser:
            webbrowser.open(page.opener.as_uri())
        try:
            code = page.wait()
        except KeyboardInterrupt:
            return
    raise UsageError(f"the page ended by itself (exit code {code})")
