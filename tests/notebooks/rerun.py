"""Run the notebooks and keep their results: python tests/notebooks/rerun.py [NAME ...]."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
WIDGET = "application/vnd.jupyter.widget-view+json"


def rerun(path: Path) -> None:
    """Execute one notebook in its folder and write it back without what only a running kernel could show."""
    notebook = nbformat.read(path, 4)
    NotebookClient(notebook, timeout=1800, resources={"metadata": {"path": str(path.parent)}}).execute()
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info = {"name": "python"}  # not the version: it differs by machine
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(WIDGET, None)  # without its model a viewer shows an error instead of the text
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.name for path in FOLDER.glob("*.ipynb")):
        rerun(FOLDER / name)
