"""The command line of the evaluation: run it, compare runs, calibrate, begin one's own, or fit what is shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from brainkit.cli.screen import Progress, fail_on_error, print_json
from brainkit.errors import UsageError
from brainkit.settings import Settings

if TYPE_CHECKING:
    from brainkit.eval.config import EvalConfig

EXAMPLES = """
Examples:

  python -m brainkit.eval

  python -m brainkit.eval run --corpus ~/notes --labels ~/questions.jsonl

  python -m brainkit.eval init --corpus ~/notes --settings my-eval/settings.toml

  python -m brainkit.eval compare eval/out/20260101-120000 eval/out/latest

Without a command it is `run`; its options: python -m brainkit.eval run --help
"""
RUN_EXAMPLES = """
Examples:

  python -m brainkit.eval run --settings my-eval/settings.toml --update-baseline

  python -m brainkit.eval run --strict --jobs 2

  python -m brainkit.eval run --filter 'missing_*' --dry-run

  python -m brainkit.eval run --json | jq .verdict

Exit codes: 0 every check passed; 1 a check failed or something regressed; 2 wrong use, settings or labels; 3 not
complete: interrupted, or something was left out of the brain; 4 the baseline is of other questions, notes or another
model; 5 too few labels to calibrate.
"""
COMPARE_EXAMPLES = """
Examples:

  python -m brainkit.eval compare eval/baseline.json eval/out/latest

  python -m brainkit.eval compare eval/out/latest:dense eval/out/latest:hybrid
"""


class RunByDefault(TyperGroup):
    """A group whose first word may be left out: it is ``run`` then."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put ``run`` in front of what names no command."""
        named = bool(args) and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named else ["run", *args])


app = typer.Typer(
    add_completion=False,
    cls=RunByDefault,
    no_args_is_help=False,
    help="Judge retrieval and gates on labelled questions.",
    epilog=EXAMPLES,
    pretty_exceptions_enable=False,
)
labels_app = typer.Typer(no_args_is_help=True, help="Look after labels files.")
app.add_typer(labels_app, name="labels")

SettingsFile = Annotated[
    Path, typer.Option("--settings", help="TOML file with retrieval settings, gates, floors, and where the notes are.")
]
Corpus = Annotated[Path | None, typer.Option(help="Folder of notes; the settings file's if not given.")]
Labels = Annotated[Path | None, typer.Option(help="Labelled questions; those beside the settings file if not given.")]
Baseline = Annotated[
    str, typer.Option(help="Values to hold this run against; baseline.json beside the settings if there; off: none.")
]
Update = Annotated[bool, typer.Option("--update-baseline", help="Make this run the baseline.")]
Tolerance = Annotated[float | None, typer.Option(min=0, max=1, help="Fall of a mean that nothing is said about.")]
Strict = Annotated[bool, typer.Option("--strict", help="Warnings fail, too.")]
Alpha = Annotated[float | None, typer.Option(help="Highest share of false answers, between 0 and 1.")]
Delta = Annotated[float | None, typer.Option(help="Probability of a wrong certificate, between 0 and 1.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be asked, and stop.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the last run that was interrupted or killed.")]
Filter = Annotated[
    str, typer.Option("--filter", help="Only labels whose id, kind or tag fits this pattern, such as 'net-*'.")
]
Out = Annotated[Path, typer.Option(help="Folder for the run's folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Jobs = Annotated[int, typer.Option(min=1, help="Questions asked at the same time.")]
Executor = Annotated[str, typer.Option(help="A Dask cluster that asks instead: dask://HOST:PORT.")]
DEFAULT_SETTINGS, DEFAULT_OUT = Path("eval/settings.toml"), Path("eval/out")


@app.command(epilog=RUN_EXAMPLES)
@fail_on_error
def run(
    settings_file: SettingsFile = DEFAULT_SETTINGS,
    corpus: Corpus = None,
    labels: Labels = None,
    baseline: Baseline = "",
    update_baseline: Update = False,
    tolerance: Tolerance = None,
    strict: Strict = False,
    alpha: Alpha = None,
    delta: Delta = None,
    dry_run: DryRun = False,
    resume: Resume = False,
    only: Filter = "",
    out: Out = DEFAULT_OUT,
    as_json: Json = False,
    jobs: Jobs = 1,
    executor: Executor = "",
) -> None:
    """Import the notes, ask every labelled question, compare retrieval settings and gates, say what holds."""
    from brainkit.eval.running import Options, plan, run_and_write  # these take seconds to import; --help must not
    from brainkit.eval.screen import show, show_plan

    config = _config(settings_file, corpus, labels, alpha, delta, tolerance, baseline)
    if update_baseline and only:
        raise UsageError("--update-baseline needs all labels: leave --filter out")
    if dry_run:
        planned = plan(Settings(), config, only)
        print_json(planned.to_dict()) if as_json else show_plan(planned, Console())
        return
    place = Path(baseline) if baseline not in {"", "off"} else settings_file.with_name("baseline.json")
    options = Options(out, resume, only, jobs, executor, place if update_baseline else None)
    with Progress() as progress:
        outcome, folder = run_and_write(Settings(), config, options, progress, lambda text: typer.echo(text, err=True))
    if as_json:
        print_json({**outcome.to_dict(), "report": str(folder / "report.md")})
    else:
        show(outcome, folder, Console())
    raise typer.Exit(outcome.exit_code(strict=strict))


@app.command(epilog=COMPARE_EXAMPLES)
@fail_on_error
def compare(
    before: Annotated[str, typer.Argument(help="Folder of a run, its summary.json, or a baseline; RUN:SETTING.")],
    after: Annotated[str, typer.Argument(help="The same, of the later run.")],
    tolerance: Tolerance = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Compare two runs question by question: what changed, whether it is more than chance, what broke."""
    from brainkit.eval.comparison import HIT  # as above
    from brainkit.eval.comparison import compare as compare_records
    from brainkit.eval.config import GATED
    from brainkit.eval.records import read_record
    from brainkit.eval.report import compared

    records = read_record(before), read_record(after)
    both = records[0].metrics & records[1].metrics
    gated = [one if one in both else HIT for one in GATED]
    found = compare_records(*records, gated=gated, tolerance=0.02 if tolerance is None else tolerance)
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(f"{found.after} against {found.before}: {found.verdict}\n{compared(found)}")
    raise typer.Exit(1 if found.regressed or (strict and found.warned) else 0)


@app.command(epilog="Example: python -m brainkit.eval calibrate --settings my-eval/settings.toml --alpha 0.05")
@fail_on_error
def calibrate(
    settings_file: SettingsFile = DEFAULT_SETTINGS,
    corpus: Corpus = None,
    labels: Labels = None,
    alpha: Alpha = None,
    delta: Delta = None,
    out: Out = DEFAULT_OUT,
    as_json: Json = False,
) -> None:
    """Set and certify the threshold of the gate in use on the labels and nothing else; exits with 5 if too few."""
    from brainkit.eval.report import threshold_line  # as above
    from brainkit.eval.running import Options, only_main, run_and_write

    config = only_main(_config(settings_file, corpus, labels, alpha, delta))
    with Progress() as progress:
        outcome, folder = run_and_write(Settings(), config, Options(out), progress)
    if as_json:
        print_json({**json.loads((folder / "calibration.json").read_text("utf-8")), "folder": str(folder)})
    else:
        typer.echo(threshold_line(outcome))
        typer.echo(f"Written: {folder / 'calibration.json'}")
    raise typer.Exit(3 if outcome.exit_code() == 3 else 0 if outcome.certificate.feasible else 5)


@app.command(epilog="Example: python -m brainkit.eval init --corpus ~/notes --settings my-eval/settings.toml")
@fail_on_error
def init(
    corpus: Annotated[Path, typer.Option(help="Folder of your notes; nothing is written there.")],
    settings_file: Annotated[Path, typer.Option("--settings", help="File to write.")] = Path("my-eval/settings.toml"),
    as_json: Json = False,
) -> None:
    """Write settings.toml and drafted questions about your notes; the drafts judge nothing until you reviewed them."""
    from brainkit.eval.starting import start  # as above

    with Progress() as progress:
        made = start(Settings(), corpus.expanduser(), settings_file, progress=progress)
    if as_json:
        print_json({"settings": str(made.settings), "labels": str(made.labels), "drafts": made.drafts})
        return
    typer.echo(f"Wrote {made.settings} and {made.drafts} drafts in {made.labels}.")
    typer.echo("Review the drafts: mend question, documents and quote, then take the tag 'synthetic' away. Then run:")
    typer.echo(f"  python -m brainkit.eval --settings {made.settings}")


@labels_app.callback()
def labels_group() -> None:
    """Look after labels files."""


@labels_app.command("check", epilog="Example: python -m brainkit.eval labels check --settings my-eval/settings.toml")
@fail_on_error
def labels_check(
    settings_file: SettingsFile = DEFAULT_SETTINGS,
    corpus: Corpus = None,
    labels: Labels = None,
    as_json: Json = False,
) -> None:
    """Check ids, documents and quotes of the labels against the notes; exits with 2 if something is wrong."""
    from brainkit.eval.running import check_labels  # as above

    with Progress() as progress:
        found = check_labels(Settings(), _config(settings_file, corpus, labels), progress)
    if as_json:
        print_json(found.to_dict())
    else:
        for problem in found.problems:
            typer.echo(f"{problem.id}: {problem.message}")
        typer.echo(f"{found.labels} labels, {found.drafts} of them drafts to review, {len(found.problems)} problems")
    raise typer.Exit(2 if found.problems else 0)


@app.command(epilog="Example: python -m brainkit.eval fit --out brainkit/gate/data/shipped.json")
@fail_on_error
def fit(
    settings_file: SettingsFile = DEFAULT_SETTINGS,
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


def _config(
    file: Path,
    corpus: Path | None,
    labels: Path | None,
    alpha: float | None = None,
    delta: float | None = None,
    tolerance: float | None = None,
    baseline: str = "off",
) -> EvalConfig:
    """The settings file with what the command line says otherwise."""
    from brainkit.eval.config import load_config, overridden  # as above

    config = load_config(file, corpus, labels)
    return overridden(config, alpha=alpha, delta=delta, tolerance=tolerance, baseline=baseline)
