"""The first screen of an evaluation: what a person reads in the terminal."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from brainkit.eval.outcome import Outcome
from brainkit.eval.report import (
    compared,
    figure_rows,
    gate_rows,
    hardness_line,
    remarks,
    settings_rows,
    threshold_line,
    verdict,
)
from brainkit.eval.running import Plan


def show(outcome: Outcome, folder: Path, console: Console) -> None:
    """Print verdict, settings, gates, threshold, failed checks, where the report lies, and the closing count."""
    say = partial(console.print, highlight=False, markup=False)
    say(verdict(outcome), style="bold red" if outcome.failed else "bold green")
    for remark in remarks(outcome):
        say(remark, style="yellow")
    c = outcome.corpus
    say(f"{outcome.import_line}; {c['documents']} documents, {c['chunks']} chunks, {c['redactions']} secrets kept out")
    console.print(_table(settings_rows(outcome), "Retrieval settings"))
    title = "Gates, cross-fitted: % answered, then % false answers by stratum (95 % interval)"
    console.print(_table(gate_rows(outcome, counts=False), title))
    console.print(_table(figure_rows(outcome, intervals=False), "Gates, how good scores and decisions are"))
    say(threshold_line(outcome))
    say(hardness_line(outcome))
    if outcome.comparison:
        say(f"Against {outcome.comparison.before}: {outcome.comparison.verdict}")
        say(compared(outcome.comparison))
    for check in outcome.checks:
        if not check.passed:
            say(f"failed: {check.name}: {check.detail}", style="red")
    say(f"Report: {folder / 'report.md'}", soft_wrap=True)
    say(f"{outcome.passed} passed, {outcome.failed} failed")


def show_plan(plan: Plan, console: Console) -> None:
    """Print what a run would do."""
    say = partial(console.print, highlight=False, markup=False)
    say(f"{plan.questions} questions of {plan.labels} about {plan.corpus}; {plan.drafts} drafts")
    say(f"{len(plan.settings)} settings, {plan.recalls} recalls, gates {', '.join(plan.gates)}")
    for name, retrieval in plan.settings.items():
        say(f"  {name}: {retrieval}")
    say(f"{plan.judgements} questions for a language model; baseline: {plan.baseline or 'none'}")


def _table(rows: list[list[str]], title: str) -> Table:
    head, *body = rows
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(head):
        table.add_column(name, justify="left" if number == 0 else "right")
    for row in body:
        table.add_row(*row)
    return table
