"""``brainkit status`` and ``doctor``: what the brain holds, and whether everything it needs is there."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from brainkit.brain import Brain
from brainkit.cli.screen import fail_on_error, print_json
from brainkit.errors import BrainkitError
from brainkit.settings import Settings, unknown_variables

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@fail_on_error
def status(
    documents: Annotated[bool, typer.Option("--documents", help="List every document.")] = False, as_json: Json = False
) -> None:
    """Show what the brain holds, its model, its threshold and where that comes from."""
    with Brain.open() as brain:
        data: dict[str, Any] = brain.status()
        if documents:
            data["document_list"] = brain.list_documents()
    if as_json:
        print_json(data)
        return
    names = data.pop("document_list", [])
    for key, value in data.items():
        if isinstance(value, dict):
            value = ", ".join(f"{number} {name}" for name, number in value.items()) or "none"
        typer.echo(f"{key.replace('_', ' '):<18} {value}")
    for name in names:
        typer.echo(name)


@fail_on_error
def doctor(as_json: Json = False) -> None:
    """Check settings, database, schema, embedder and threshold; say what to do about each fault."""
    settings = Settings()
    checks: list[tuple[str, bool, str]] = []
    for variable, near in unknown_variables().items():
        checks.append((variable, False, "is no setting" + (f"; did you mean {near}?" if near else "")))
    try:
        with Brain.open(settings) as brain:
            data = brain.status()
            checks += [
                ("database", True, f"{data['database']}, PostgreSQL {data['postgresql']}, pgvector {data['pgvector']}"),
                ("schema", True, data["schema"]),
                ("embedder", True, f"{data['embedding_model']}, {data['dimensions']} dimensions"),
                ("notes", True, f"{data['documents']} documents, {data['chunks']} chunks"),
                ("vectors", not data["pending"], f"{data['pending']} chunks wait: run `brainkit embed`" if data["pending"] else "complete"),
                ("threshold", data["threshold_origin"] != "shipped", f"{data['threshold']:.4f} ({data['threshold_origin']}) {data['threshold_note']}".strip()),
            ]  # fmt: skip
    except BrainkitError as error:
        checks.append((type(error).__name__, False, str(error)))
    broken = any(not passed for name, passed, _ in checks if name != "threshold")
    if as_json:
        print_json({
            "settings": [row._asdict() for row in settings.describe()],
            "checks": [{"name": name, "passed": passed, "detail": detail} for name, passed, detail in checks],
        })  # fmt: skip
    else:
        table = Table("variable", "value", "from", title="Settings", title_justify="left")
        for row in settings.describe():
            table.add_row(row.variable, row.value, row.origin)
        Console().print(table)
        for name, passed, detail in checks:
            typer.echo(f"{'ok  ' if passed else 'look'}  {name}: {detail}")
    raise typer.Exit(1 if broken else 0)
