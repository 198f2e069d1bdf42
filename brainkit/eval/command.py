"""The command line of the evaluation: run it, or fit anew what is shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from brainkit.cli.screen import Progress, fail_on_error, print_json
from brainkit.errors import UsageError
from brainkit.settings import Settings

EXAMPLES = """
Examples:

  python -m brainkit.eval

  python -m brainkit.eval --corpus ~/notes --labels ~/notes/questions.jsonl

  python -m brainkit.eval --json | jq .verdict

Exit codes: 0 every check passed, 1 a check failed, 2 wrong use or labels, 3 something was left out of the brain.
"""
app = typer.Typer(
    add_completion=False,
    no_args_is_help=False,
    invoke_without_command=True,
    epilog=EXAMPLES,
    pretty_exceptions_enable=False,
)

SettingsFile = Annotated[Path, typer.Option("--settings", help="TOML file with retrieval settings, gates and floors.")]
Corpus = Annotated[Path | None, typer.Option(help="Folder of notes; the one beside the settings file if not given.")]
Labels = Annotated[Path | None, typer.Option(help="Labelled questions; those beside the settings file if not given.")]


@app.callback(invoke_without_command=True, epilog=EXAMPLES)
@fail_on_error
def evaluate(
    context: typer.Context,
    settings_file: SettingsFile = Path("eval/settings.toml"),
    corpus: Corpus = None,
    labels: Labels = None,
    out: Annotated[Path, typer.Option(help="Folder for the report's folder.")] = Path("eval/out"),
    as_json: Annotated[bool, typer.Option("--json", help="Print summary.json instead of tables.")] = False,
) -> None:
    """Import the notes, ask every labelled question, compare retrieval settings and gates, say what holds."""
    if context.invoked_subcommand:
        return
    from brainkit.eval.config import load_config  # these take seconds to import, and --help must not
    from brainkit.eval.files import write_files
    from brainkit.eval.run import load_labels, run
    from brainkit.eval.screen import show

    config = load_config(settings_file, corpus, labels)
    settings = Settings()
    with Progress() as progress:
        outcome = run(settings, config, progress)
    try:
        folder = write_files(outcome, load_labels(settings, config), out)
    except OSError as error:
        raise UsageError(f"the report cannot be written below {out}: {error}") from error
    if as_json:
        print_json({**outcome.to_dict(), "report": str(folder / "report.md")})
    else:
        show(outcome, folder, Console())
    raise typer.Exit(0 if outcome.complete and not outcome.failed else 1 if outcome.complete else 3)


@app.command(epilog="Example: python -m brainkit.eval fit --out brainkit/gate/data/shipped.json")
@fail_on_error
def fit(
    settings_file: SettingsFile = Path("eval/settings.toml"),
    out: Annotated[Path | None, typer.Option(help="File to write; printed if not given.")] = None,
) -> None:
    """Fit what brainkit ships, thresholds and the evidence gate's coefficients, on the labels of the settings file."""
    from brainkit.eval.config import load_config  # as above
    from brainkit.eval.fit import fit_shipped

    with Progress() as progress:
        text = json.dumps(fit_shipped(Settings(), load_config(settings_file), progress), indent=2) + "\n"
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        out.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error}") from error
