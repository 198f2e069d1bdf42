"""``python -m brainkit.eval``: the main job, from notes to an honest report."""

from __future__ import annotations

from brainkit.cli import main
from brainkit.eval.command import app

if __name__ == "__main__":
    main(app, "python -m brainkit.eval")
