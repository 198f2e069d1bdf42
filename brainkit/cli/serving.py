"""``brainkit serve`` and ``brainkit mcp``: answer other programs and agents."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brainkit.cli.screen import fail_on_error, open_brain, print_json
from brainkit.settings import Settings

if TYPE_CHECKING:
    from brainkit.interfaces.http import Tokens

SERVE_EXAMPLES = """
Examples:

  brainkit serve

  BOR_HTTP_TOKEN=$(openssl rand -hex 32) brainkit serve --port 8711

  curl -N -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d '{"question": "UPS battery?"}' http://127.0.0.1:8710/api/chat

GET /openapi.json describes all of it; Ctrl-C stops it. DEBUGPY=1 lets a debugger attach, at DEBUGPY_PORT (5678).
"""

MCP_EXAMPLES = """
Examples, which an agent's program starts and not you:

  brainkit mcp

  brainkit mcp --root ~/notes --root ~/homelab

In the settings of that program: {"mcpServers": {"notes": {"command": "brainkit", "args": ["mcp"]}}}
"""


@fail_on_error
def serve(
    host: Annotated[str, typer.Option(help="Where to listen: 127.0.0.1, ::1 or localhost.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port instead of BOR_HTTP_PORT; 0: any.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print address and tokens as one JSON object.")] = False,
) -> None:
    """Answer over HTTP, on this machine only: a small page to chat, and an API with tokens."""
    from brainkit.interfaces.debugging import attach_debugger
    from brainkit.interfaces.extras import need

    need("http", "fastapi", "uvicorn")
    from brainkit.interfaces.http import Tokens, bind, make_app, make_server
    from brainkit.interfaces.signals import terminable

    settings = Settings()
    chosen = settings.http_port if port is None else port
    with terminable(), bind(host, chosen) as listening, open_brain(settings) as brain:
        debugger = attach_debugger()  # not before, since it makes everything slower
        tokens = Tokens.of(settings)
        shown = f"[{host}]" if ":" in host else host
        _tell(f"http://{shown}:{listening.getsockname()[1]}/", tokens, debugger, as_json=as_json)
        with contextlib.suppress(KeyboardInterrupt):  # uvicorn hands the signal on when it is through
            make_server(make_app(brain, tokens)).run(sockets=[listening])
    if not as_json:
        typer.echo("Stopped.", err=True)


def _tell(url: str, tokens: Tokens, debugger: str, *, as_json: bool) -> None:
    """Say where it is. A token that a variable sets is not repeated, since what is printed may end in a log."""
    link = f"{url}#token={tokens.admin}" if "admin" in tokens.made else url
    if as_json:
        told: dict[str, Any] = {"url": url, "page": link, "debugger": debugger}
        told |= {"token": tokens.read if "read" in tokens.made else None}
        told |= {"admin_token": tokens.admin if "admin" in tokens.made else None}
        typer.echo(json.dumps(told))
        return
    typer.echo(f"Open {link}")
    if "admin" not in tokens.made:
        typer.echo("  and give it the token in BOR_HTTP_ADMIN_TOKEN")
    typer.echo(f"Programs may ask with: {tokens.read if 'read' in tokens.made else 'the token in BOR_HTTP_TOKEN'}")
    if debugger:
        typer.echo(f"A debugger may attach to {debugger}")
    typer.echo("Only this machine can reach it, and only with a token. Ctrl-C stops it.")


@fail_on_error
def mcp(
    roots: Annotated[
        list[Path] | None,
        typer.Option("--root", help="Folder that an agent may import; may be repeated; beside BOR_MCP_ROOTS."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="List the tools as JSON, and serve nothing.")] = False,
) -> None:
    """Serve an agent over standard input and output, by the Model Context Protocol, until its input ends."""
    from brainkit.interfaces.extras import need

    need("mcp", "mcp")
    from brainkit.interfaces.mcp import list_tools, make_mcp_server, run_stdio

    settings = Settings()
    folders = [*settings.mcp_roots, *(root.expanduser().absolute() for root in roots or ())]
    with open_brain(settings) as brain:
        server = make_mcp_server(brain, folders)
        if as_json:
            print_json(list_tools(server))
        else:
            run_stdio(server, brain)
