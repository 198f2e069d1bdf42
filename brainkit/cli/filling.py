"""``brainkit import`` and ``brainkit embed``: fill the brain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from brainkit.cli.screen import Progress, fail_on_error, open_brain, print_json

if TYPE_CHECKING:
    from brainkit.ingestion import FileOutcome, ImportReport

IMPORT_EXAMPLES = """
Examples:

  brainkit import ~/notes

  brainkit import ~/notes ~/homelab --prune

  BOR_IMPORT_EXTENSIONS=md,txt brainkit import ~/notes --json

Exit codes: 0 done, 2 wrong use, 3 something that should be in the brain is not (a file failed, a chunk has no vector).
"""
INCOMPLETE = 3
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@fail_on_error
def import_(
    paths: Annotated[list[str], typer.Argument(help="Folders or files with notes.")],
    prune: Annotated[bool, typer.Option(help="Remove documents whose file is gone.")] = False,
    embed: Annotated[
        bool, typer.Option(help="Compute vectors at once; without, notes are found by words only.")
    ] = True,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Name every file.")] = False,
    as_json: Json = False,
) -> None:
    """Bring the brain up to date with folders of notes; what did not change is not read again."""
    with open_brain() as brain, Progress() as progress:
        report = brain.import_paths(paths, prune, embed=embed, progress=progress)
    if as_json:
        print_json(report.to_dict())
    else:
        _show(report, verbose=verbose)
    raise typer.Exit(0 if report.complete or (not embed and not report.failed) else INCOMPLETE)


def _show(report: ImportReport, *, verbose: bool) -> None:
    if not report.changed and not report.failed:
        typer.echo(f"Nothing to import: all {len(report.unchanged)} documents are unchanged.")
    typer.echo(str(report))
    for kind, number in report.redactions.items():
        typer.echo(f"  kept out: {number} x {kind}")
    for what, outcomes in (("skipped", report.skipped), ("failed", report.failed), ("note", report.notes)):
        for outcome in outcomes:
            _line(what, outcome)
    if verbose:
        for what in ("indexed", "reindexed", "removed", "unchanged"):
            for path in getattr(report, what):
                typer.echo(f"  {what}: {path}")
    if report.embedding_error:
        typer.echo(
            f"Embedding stopped: {report.embedding_error}. The notes are found by words; `brainkit embed` goes on.",
            err=True,
        )


def _line(what: str, outcome: FileOutcome) -> None:
    typer.echo(f"  {what}: {outcome.path}: {outcome.reason}", err=what == "failed")


@fail_on_error
def embed(
    retry: Annotated[bool, typer.Option(help="Also try chunks that failed several times.")] = False,
    as_json: Json = False,
) -> None:
    """Compute the vectors that are missing."""
    with open_brain() as brain, Progress() as progress:
        report = brain.embed(retry=retry, progress=progress)
    if as_json:
        print_json(vars(report))
    else:
        typer.echo(f"{report.embedded} chunks embedded, {report.failed} failed, {report.pending} without a vector")
        if report.error:
            typer.echo(f"Embedding stopped: {report.error}", err=True)
    raise typer.Exit(INCOMPLETE if report.pending else 0)
