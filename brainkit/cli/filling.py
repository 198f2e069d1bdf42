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

  BOR_IMPORT_EXTENSIONS=md,txt,ipynb,toml brainkit import ~/notes --json

  brainkit import ~/homelab --git-log --dry-run

Exit codes: 0 done, 2 wrong use, 3 something that should be in the brain is not (a file failed, a chunk has no vector).
"""
INCOMPLETE = 3
MOST_FILES = 10
"""Documents with redactions that are named without being asked for."""
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@fail_on_error
def import_(
    paths: Annotated[list[str], typer.Argument(help="Folders or files with notes.")],
    prune: Annotated[bool, typer.Option(help="Remove documents whose file is gone.")] = False,
    git_log: Annotated[bool, typer.Option("--git-log", help="Also import what was committed, and why.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing; say what would be done.")] = False,
    embed: Annotated[
        bool, typer.Option(help="Compute vectors at once; without, notes are found by words only.")
    ] = True,
    refresh: Annotated[
        bool, typer.Option(help="Make the certificate anew from the stored labels, if the notes changed.")
    ] = True,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Name every file.")] = False,
    as_json: Json = False,
) -> None:
    """Bring the brain up to date with folders of notes; what did not change is not read again."""
    waiting, stale = 0, False
    with Progress() as progress:
        if dry_run and (report := preview_import(paths, git_log=git_log, progress=progress)):
            pass
        else:
            with open_brain() as brain:
                report = brain.import_paths(
                    paths, prune, embed=embed, git_log=git_log, dry_run=dry_run, refresh=refresh, progress=progress
                )
                waiting, stale = len(brain.reviews()), brain.stale()
    if as_json:
        print_json({**report.to_dict(), "labels_in_review": waiting, "certificate_stale": stale})
    else:
        _show(report, verbose=verbose)
        if waiting:
            wait = "label waits" if waiting == 1 else "labels wait"
            typer.echo(f"{waiting} {wait} for a decision: `brainkit labels review` lists what is open.")
        if stale:
            typer.echo("The certificate is stale: `brainkit calibrate --refresh` makes it anew.")
    embedded = embed and not dry_run
    raise typer.Exit(0 if report.complete or (not embedded and not report.failed) else INCOMPLETE)


def preview_import(paths: list[str], *, git_log: bool, progress: Progress) -> ImportReport | None:
    """The report of a dry run where there is no brain yet, which must not be made for it; None where there is one."""
    from brainkit.ingestion import preview
    from brainkit.settings import Settings
    from brainkit.store.server import EmbeddedServer

    settings = Settings()
    if settings.database_url is not None or EmbeddedServer(settings.home).exists:
        return None
    return preview(paths, settings, git_log=git_log, progress=progress)


def _show(report: ImportReport, *, verbose: bool) -> None:
    if not report.changed and not report.failed and not report.dry_run:
        typer.echo(f"Nothing to import: all {len(report.unchanged)} documents are unchanged.")
    typer.echo(str(report))
    for kind, number in report.redactions.items():
        typer.echo(f"  kept out: {number} x {kind}")
    shown = list(report.redacted_files.items())
    for path, kinds in shown if verbose else shown[:MOST_FILES]:
        typer.echo(f"    {path}: " + ", ".join(f"{number} x {kind}" for kind, number in kinds.items()))
    if len(shown) > MOST_FILES and not verbose:
        typer.echo(f"    and {len(shown) - MOST_FILES} more documents (--verbose names them)")
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


@fail_on_error
def rescrub(as_json: Json = False) -> None:
    """Apply today's scrub rules to all that is stored, and rewrite the database so that nothing older stays on disk."""
    with open_brain() as brain, Progress() as progress:
        report = brain.rescrub(progress=progress)
    if as_json:
        print_json(report.to_dict())
    else:
        typer.echo(
            f"{report.documents} documents scrubbed again, {len(report.changed)} changed; {report.others} other texts"
            " changed" + ("; tables and write-ahead log were rewritten" if report.rewritten else "")
        )
        for kind, number in report.redactions.items():
            typer.echo(f"  taken out: {number} x {kind}")
        for path in report.changed:
            typer.echo(f"  changed: {path}")
        if report.note:
            typer.echo(report.note, err=True)
    raise typer.Exit(INCOMPLETE if report.note else 0)
