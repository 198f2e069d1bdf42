"""``brainkit links``: what is linked with what, and which links lead nowhere."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from brainkit.cli.screen import Progress, fail_on_error, open_brain, print_json, without_controls

LINKS_EXAMPLES = """
Examples:

  brainkit links

  brainkit links power.md

  brainkit links --orphans --json

  brainkit links --refresh
"""


@fail_on_error
def links(
    document: Annotated[str | None, typer.Argument(help="Document whose links to show: path or source:path.")] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Read and learn all links anew first.")] = False,
    orphans: Annotated[bool, typer.Option("--orphans", help="Only links whose target is not in the brain.")] = False,
    kind: Annotated[
        str | None, typer.Option(help="Only wikilink, embed, markdown, frontmatter, rst, org, manual or learnt.")
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Most links of a document to show.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how notes are linked: by what they write, by hand, and by what was learnt from their vectors."""
    with open_brain() as brain:
        if refresh:
            with Progress() as progress:
                brain.refresh_links(progress=progress)
        shown: tuple[str, ...]
        if document is not None and not orphans:
            found = [one for one in brain.related(document, 10_000) if kind in (None, one.kind)][:n]
            rows = [one._asdict() for one in found]
            shown = ("direction", "kind", "weight", "path", "title", "reason")
        elif document is not None or orphans or kind:
            every = brain.links(kind, orphans=orphans)
            rows = [row._asdict() for row in every if document in (None, row.path, f"{row.source}:{row.path}")]
            shown = ("source", "path", "kind", "target") if orphans else ("path", "to", "kind", "weight", "reason")
        else:
            rows = [{"kind": name, "links": count} for name, count in brain.link_counts().items()]
            shown = ("kind", "links")
    if as_json:
        print_json(rows)
        return
    table = Table(*shown)
    for row in rows:
        values = (f"{row[key]:.2f}" if key == "weight" else str(row[key]) for key in shown)
        table.add_row(*(Text(without_controls(value)) for value in values))
    Console().print(table if rows else "no links")
