"""What the commands share on screen: a progress bar on stderr, errors without traceback, one way to print JSON."""

from __future__ import annotations

import functools
import json
import re
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from brainkit.errors import BrainkitError

if TYPE_CHECKING:
    from brainkit.answering import Reply
    from brainkit.brain import Brain
    from brainkit.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")
LABELS = {
    "import": "reading notes",
    "history": "reading commits",
    "rescrub": "scrubbing again",
    "embed": "embedding chunks",
    "index": "building the index",
    "links": "linking notes",
    "ask": "asking questions",
    "calibrate": "measuring evidence",
}
QUIET_SECONDS = 10.0


class Progress:
    """Shows how far long work has come: bars on a terminal, a line now and then in a log."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._bars = RichProgress(
            TextColumn("{task.description:<18}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip
        self._live = console.is_terminal
        self._tasks: dict[str, Any] = {}
        self._started: dict[str, float] = {}
        self._said = time.monotonic()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Say that ``done`` of ``total`` are done."""
        if what not in self._started:
            self._started[what] = self._said = time.monotonic()
        start = self._started[what]
        elapsed = time.monotonic() - start
        rate = f"{done / elapsed:.0f}/s" if elapsed > 0.5 else ""
        if self._live:
            if what not in self._tasks:
                self._tasks[what] = self._bars.add_task(LABELS.get(what, what), total=total, rate="")
            self._bars.update(self._tasks[what], completed=done, total=total, rate=rate)
        elif done == total or time.monotonic() - self._said > QUIET_SECONDS:
            self._said = time.monotonic()
            sys.stderr.write(f"{LABELS.get(what, what)}: {done}/{total} {rate}\n")

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()


def fail_on_error(function: Callable[P, R]) -> Callable[P, R]:
    """Turn a BrainkitError into a message on stderr and its exit code, Ctrl-C into a friendly word and 130."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BrainkitError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            typer.echo("Stopped. What was done is kept; run the same command again to go on.", err=True)
            raise typer.Exit(130) from None

    return wrapped


def open_brain(settings: Settings | None = None) -> Brain:
    """``Brain.open``, imported when a command runs: that takes seconds, and ``--help`` must not."""
    from brainkit.brain import Brain

    return Brain.open(settings)


def without_controls(text: str) -> str:
    """A text that a terminal only shows: no escape sequence, no control but line break and tab, no turned direction."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text)


def remarks(reply: Reply) -> list[str]:
    """What a reader must know beside a reply's text, a line each."""
    removed = reply.removed_citations
    return [
        *([f"in none of the given notes: {', '.join(reply.unsupported)}"] if reply.unsupported else []),
        *([f"citations of documents it did not have, taken out: {removed}"] if removed else []),
        *([reply.note] if reply.note else []),
    ]


def print_json(data: Any) -> None:
    """One JSON value on stdout."""
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, default=str))
