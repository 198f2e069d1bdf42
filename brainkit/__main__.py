"""``python -m brainkit`` is the ``brainkit`` command."""

from __future__ import annotations

from brainkit.cli import main

if __name__ == "__main__":
    main()
