"""``brainkit status`` and ``doctor``: what the brain holds, and whether everything it needs is there."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from brainkit.cli.screen import fail_on_error, open_brain, print_json
from brainkit.errors import BrainkitError
from brainkit.settings import Settings, unknown_variables

ENOUGH = 0.98
"""Recall that an index is asked for."""

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@fail_on_error
def status(
    documents: Annotated[bool, typer.Option("--documents", help="List every document.")] = False, as_json: Json = False
) -> None:
    """Show what the brain holds, its model, its threshold and where that comes from."""
    with open_brain() as brain:
        data: dict[str, Any] = brain.status()
        if documents:
            data["document_list"] = brain.list_documents()
    if as_json:
        print_json(data)
        return
    names = data.pop("document_list", [])
    data["index"] = _index(data["index"])[1]
    data["models"] = [_model(model) for model in data["models"]]
    for key, value in data.items():
        if value is None:
            continue
        if key == "drift":
            shown = f"{'yes' if value['drifted'] else 'no'} (p = {value['p']:.2g}, {value['n']} questions)"
        elif isinstance(value, bool):
            shown = "yes" if value else "no"
        elif isinstance(value, dict):
            shown = ", ".join(f"{number} {name}" for name, number in value.items()) or "none"
        else:
            shown = ", ".join(value) if isinstance(value, list) else value
        typer.echo(f"{key.replace('_', ' '):<18} {shown}")
    for name in names:
        typer.echo(name)


def _model(model: dict[str, Any]) -> str:
    """Such as ``all-MiniLM (755 vectors, serving)``."""
    parts = [f"{model['vectors']} vectors"]
    parts += ["serving"] if model["serving"] else ["being filled"] if model["configured"] else ["set aside"]
    return f"{model['name']} ({', '.join(parts)})"


def _index(index: dict[str, Any]) -> tuple[bool, str]:
    if not index["built"]:
        return True, "none: every vector is compared, which is exact"
    return index["recall"] >= ENOUGH, f"HNSW, measured recall {index['recall']:.3f} at width {index['width']}"


@fail_on_error
def doctor(
    probe: Annotated[bool, typer.Option("--probe", help="Also ask the embedder and the language model.")] = False,
    as_json: Json = False,
) -> None:
    """Check settings, database, schema, embedder and threshold; say what to do about each fault."""
    settings = Settings()
    checks = [
        (variable, False, "is no setting" + (f"; did you mean {near}?" if near else ""))
        for variable, near in unknown_variables().items()
    ]
    try:
        with open_brain(settings) as brain:
            checks += _parts(brain.status())
            checks += brain.probe() if probe else []
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


def _parts(status: dict[str, Any]) -> list[tuple[str, bool, str]]:
    """What an open brain rests on: name, whether it is well, what was found."""
    pending, origin = status["pending"], status["threshold_origin"]
    return [
        ("database", True, "{database}, PostgreSQL {postgresql}, pgvector {pgvector}".format_map(status)),
        ("schema", True, status["schema"]),
        ("embedder", True, "{embedding_model}, {dimensions} dimensions".format_map(status)),
        ("notes", True, "{documents} documents, {chunks} chunks".format_map(status)),
        ("vectors", not pending, f"{pending} chunks wait: run `brainkit embed`" if pending else "complete"),
        ("index", *_index(status["index"])),
        ("threshold", origin != "shipped", f"{status['threshold']:.4f} ({origin}) {status['threshold_note']}".strip()),
    ]
