"""``brainkit calibrate``: set the gate's threshold, say what it promises and what more labels would buy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from brainkit.cli.screen import Progress, fail_on_error, open_brain, print_json
from brainkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainkit.gate import Certificate
    from brainkit.labels import Review

CALIBRATE_EXAMPLES = """
Examples:

  brainkit calibrate --labels questions.jsonl

  brainkit calibrate --alpha 0.05 --gate evidence

  brainkit calibrate --joint

  brainkit calibrate --refit

  brainkit calibrate --refresh

Exit codes: 0 certified, 2 wrong use or labels, 5 not certified: too few labels (the gate stays as it was), or none at
all (an estimate is used until there are some).
"""
NOT_CERTIFIED = 5


@fail_on_error
def calibrate(
    labels: Annotated[
        Path | None, typer.Option(help="Labelled questions (JSON lines); kept for the next time.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Highest share of false answers, between 0 and 1.")] = 0.1,
    delta: Annotated[float, typer.Option(help="Probability that the promise is wrong, between 0 and 1.")] = 0.1,
    gate: Annotated[str | None, typer.Option(help="Gate instead of BOR_GATE.")] = None,
    joint: Annotated[
        bool, typer.Option("--joint", help="Promise it of every labelled kind of question at once.")
    ] = False,
    refit: Annotated[
        bool, typer.Option("--refit", help="Fit the gate on half of the labels (300 or more), certify on the others.")
    ] = False,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Make the certificate anew after the notes changed, at its own levels.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Set the threshold so that false answers stay rare, with a guarantee, from labelled questions."""
    if refresh and (labels or joint or refit or (alpha, delta) != (0.1, 0.1)):
        raise UsageError("--refresh keeps labels and levels as they are: give nothing else with it but --gate")
    with open_brain() as brain, Progress() as progress:
        if refresh:
            certificate, aside = brain.refresh(gate, progress=progress)
        else:
            certificate = brain.calibrate(labels, alpha, delta, gate, joint=joint, refit=refit, progress=progress)
            aside = ()
    if as_json:
        more: dict[str, Any] = {"set_aside": [one._asdict() for one in aside]} if refresh else {}
        print_json({**certificate.to_dict(), **more})
    else:
        _show(certificate, aside)
    raise typer.Exit(0 if certificate.certified else NOT_CERTIFIED)


def _show(certificate: Certificate, aside: Sequence[Review]) -> None:
    typer.echo(certificate.promise())
    if certificate.strata:
        table = Table(
            Column("stratum", no_wrap=True),
            "questions",
            "answered",
            "rate",
            "95 % interval",
            "certified",
            "more labels",
        )
        for name, rate in certificate.strata.items():
            share = f"{rate.answered / rate.n:.0%}" if certificate.feasible else "-"
            interval = f"{rate.low:.0%} to {rate.high:.0%}" if certificate.feasible else "-"
            counts = str(rate.n), str(rate.answered) if certificate.feasible else "-"
            table.add_row(name, *counts, share, interval, "yes" if rate.covered else "no", str(rate.missing or "-"))
        Console().print(table)
    now = certificate.answered / certificate.answerable if certificate.answerable else 0.0
    for more, answered in certificate.outlook:
        if round(answered, 2) <= round(now, 2):  # labels that would buy nothing
            continue
        typer.echo(
            f"Expected with {more} more unanswerable questions, hidden notes among them, if they are like these: "
            f"{answered:.0%} of the answerable ones answered."
        )
    if certificate.feasible:
        kept = "stored" if certificate.certified else "used until there are labels"
        typer.echo(f"Threshold of the {certificate.gate} gate: {certificate.threshold:.4f}, {kept}.")
    for one in aside:
        typer.echo(f"set aside: {one.id}: {one.reason} (`brainkit labels review`)")
