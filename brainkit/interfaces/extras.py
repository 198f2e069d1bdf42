"""Says which optional packages are missing, and how to get them."""

from __future__ import annotations

from importlib.util import find_spec

from brainkit.errors import UsageError


def need(extra: str, *packages: str) -> None:
    """Make sure that the packages of an extra are installed.

    Raises:
        UsageError: one is not; the message says what to run.

    Example:
        >>> need("http", "no_such_package")
        Traceback (most recent call last):
        ...
        brainkit.errors.UsageError: no_such_package is not installed: pip install 'brainkit[http]'
    """
    if missing := [name for name in packages if find_spec(name) is None]:
        verb = "is" if len(missing) == 1 else "are"
        raise UsageError(f"{' and '.join(missing)} {verb} not installed: pip install 'brainkit[{extra}]'")
