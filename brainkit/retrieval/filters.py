"""Filters: which documents a question is asked of, by source, path, tag and the like; values are always bound."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Final

from brainkit.errors import UsageError

_COLUMNS: Final = {
    "source": "d.source = any(%(only_source)s)",
    "project": "d.project = any(%(only_project)s)",
    "path": "d.path ~ any(%(only_path)s)",
    "tag": "d.tags && %(only_tag)s::text[]",
    "format": "d.format = any(%(only_format)s)",
    "role": "d.role = any(%(only_role)s)",
    "after": "d.ts >= %(only_after)s",
    "before": "d.ts < %(only_before)s",
}
_TIMES: Final = ("after", "before")


@dataclass(frozen=True)
class Filters:
    """Documents that take part in a search; a document has to fit every field that is given, by any of its values.

    The statistics that weigh words stay those of the whole brain, so a score means the same with and without filters.

    Attributes:
        source: names of sources.
        project: projects.
        path: globs for paths inside a source: ``*`` and ``?`` stop at ``/``, ``**`` does not.
        tag: tags, at least one of which the document has.
        format: formats, such as markdown or yaml.
        role: roles, such as readme.
        after: earliest time of the document; without a time zone it is UTC. Documents without a time are left out.
        before: the time before which the document's lies.

    Raises:
        UsageError: a value is no text, no time, or cannot be in the database (NUL); or the time range is empty.

    Example:
        >>> Filters(path="infra/**/*.md", tag=["dns", "dhcp"]).given
        {'path': ('infra/**/*.md',), 'tag': ('dns', 'dhcp')}
    """

    source: str | Iterable[str] = ()
    project: str | Iterable[str] = ()
    path: str | Iterable[str] = ()
    tag: str | Iterable[str] = ()
    format: str | Iterable[str] = ()
    role: str | Iterable[str] = ()
    after: datetime | str | None = None
    before: datetime | str | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            read = _time if field.name in _TIMES else _texts
            object.__setattr__(self, field.name, read(field.name, value))
        if isinstance(self.after, datetime) and isinstance(self.before, datetime) and self.after >= self.before:
            raise UsageError(f"no time is after {self.after} and before {self.before}; exchange them")

    @property
    def given(self) -> dict[str, Any]:
        """The fields that filter, as tuples of texts or times."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) not in ((), None)}

    def __bool__(self) -> bool:
        """Whether anything is filtered."""
        return bool(self.given)

    def condition(self) -> tuple[str, dict[str, Any]]:
        """SQL condition on ``documents d`` and the values to bind; it names no value."""
        values = {
            name: value if name in _TIMES else [_regex(v) for v in value] if name == "path" else list(value)
            for name, value in self.given.items()
        }
        condition = " and ".join(_COLUMNS[name] for name in values) or "true"
        return condition, {f"only_{name}": value for name, value in values.items()}


def _texts(name: str, value: object) -> tuple[str, ...]:
    values = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (value,)
    for one in values:
        if not isinstance(one, str) or "\0" in one or any("\ud800" <= c <= "\udfff" for c in one):
            raise UsageError(f"{name} = {one!r} is not allowed: give a text, or several")
    return values


def _time(name: str, value: object) -> datetime | None:
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = datetime.fromisoformat(value)
    if value is not None and not isinstance(value, datetime):
        raise UsageError(f"{name} = {value!r} is not allowed: give a time such as 2026-03-01 or 2026-03-01T12:00")
    return value if value is None or value.tzinfo else value.replace(tzinfo=UTC)


def _regex(glob: str) -> str:
    """A glob as a regular expression of PostgreSQL that matches the whole path; brackets stand for themselves."""
    parts = re.findall(r"\*\*/|\*\*|.", glob, re.DOTALL)
    return "^(?:" + "".join(_WILD.get(part) or re.escape(part) for part in parts) + ")$"


_WILD: Final = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
