"""The form of a label in JSON: its fields with their types, and errors that name line, field and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brainkit.errors import LabelsError


class Fields:
    """Typed access to the fields of one JSON object; a missing or null one takes the empty value of its type.

    Every method raises LabelsError for a value of another type.
    """

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, Mapping):
            raise LabelsError(_wrong(where, data, "an object with named fields"))
        self._data = data
        self._where = where

    def _get(self, name: str, default: Any, *, needed: bool = False) -> Any:
        value = self._data.get(name)
        if value is None and needed:
            given = ", ".join(map(str, self._data)) or "none"
            raise LabelsError(f"{self._where}: {name} is missing; fields given: {given}")
        return default if value is None else value

    def text(self, name: str, *, needed: bool = False) -> str:
        """Text, '' by default."""
        return as_text(self._get(name, "", needed=needed), f"{self._where}: {name}")

    def flag(self, name: str, *, needed: bool = False) -> bool:
        """True or false, false by default."""
        value = self._get(name, False, needed=needed)
        if not isinstance(value, bool):
            raise LabelsError(_wrong(f"{self._where}: {name}", value, "true or false"))
        return value

    def grade(self, name: str) -> int:
        """A whole number from 1 up, 1 by default."""
        value = self._get(name, 1)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise LabelsError(_wrong(f"{self._where}: {name}", value, "a whole number from 1 up"))
        return value

    def many(self, name: str) -> Sequence[Any]:
        """A list, empty by default."""
        value = self._get(name, ())
        if not isinstance(value, (list, tuple)):
            raise LabelsError(_wrong(f"{self._where}: {name}", value, "a list"))
        return value


def as_text(value: Any, where: str) -> str:
    """``value`` if it is text that can be stored."""
    if not isinstance(value, str):
        raise LabelsError(_wrong(where, value, "text in quotation marks"))
    # Neither can be stored: UTF-8 has no lone surrogates, PostgreSQL no NUL.
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise LabelsError(_wrong(where, value, "text without NUL characters and lone surrogates"))
    return value


def _wrong(where: str, value: Any, allowed: str) -> str:
    shown = repr(value)
    return f"{where} = {shown if len(shown) <= 80 else shown[:77] + '...'} is not allowed: give {allowed}"
