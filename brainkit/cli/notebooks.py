"""``brainkit notebooks``: copy the notebooks to where the reader works on them."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from brainkit.cli.screen import fail_on_error, print_json
from brainkit.errors import UsageError

NOTEBOOKS_EXAMPLE = "Example: brainkit notebooks ~/brain && uv run jupyter lab ~/brain"


@fail_on_error
def notebooks(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to copy to; made if it is not there.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite notebooks that are there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Copy the notebooks into a folder; those that are there already stay as they are."""
    copied, kept = copy_notebooks(directory.expanduser(), force=force)
    if as_json:
        print_json({"copied": copied, "kept": kept})
        return
    for name in copied:
        typer.echo(directory / name)
    if kept:
        typer.echo(f"{len(kept)} were there already and stay as they are; --force overwrites them", err=True)


def copy_notebooks(directory: Path, *, force: bool = False) -> tuple[list[str], list[str]]:
    """Names of the notebooks that were copied, and of those left as they were.

    Raises:
        UsageError: the folder cannot be written to.
    """
    copied, kept = [], []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for notebook in sorted(notebook_folder().glob("*.ipynb")):
            target = directory / notebook.name
            if target.exists() and not force:
                kept.append(notebook.name)
                continue
            shutil.copyfile(notebook, target)
            copied.append(notebook.name)
    except (OSError, shutil.Error) as error:
        raise UsageError(f"the notebooks cannot be copied to {directory}: {error}") from error
    return copied, kept


def notebook_folder() -> Path:
    """Where they lie: inside an installed package, beside it in a checkout."""
    package = Path(str(resources.files("brainkit")))
    installed = package / "notebooks"
    return installed if installed.is_dir() else package.parent / "notebooks"
