"""LlamaIndex's metadata filters as the filters of a search."""

from __future__ import annotations

from typing import Any, Final

from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from brainkit.errors import UsageError
from brainkit.retrieval.filters import Filters

KEYS: Final = ("source", "project", "path", "tag", "format", "role", "ts")
_OTHER_NAMES: Final = {"tags": "tag", "document_path": "path", "file_path": "path"}
_ONE_OF: Final = {FilterOperator.EQ, FilterOperator.IN, FilterOperator.ANY, FilterOperator.CONTAINS}


def filters_of(given: MetadataFilters) -> Filters:
    """Filters that mean the same.

    Args:
        given: source, project, path (a glob), tag, format and role with ``==``, ``in``, ``any`` or ``contains``; ts
            with ``>=`` and ``<``. All have to hold; nested filters are taken apart, an ``or`` of one key is allowed.

    Raises:
        UsageError: a key or operator that is not allowed, a key given twice, or an ``or`` of several keys.
    """
    fields: dict[str, Any] = {}
    _collect(given, fields)
    return Filters(**fields)


def _collect(given: MetadataFilters, fields: dict[str, Any]) -> None:
    parts = [_field(part) if isinstance(part, MetadataFilter) else part for part in given.filters]
    if given.condition == FilterCondition.OR and len(parts) > 1:
        names = {part[0] if isinstance(part, tuple) else None for part in parts}
        if len(names) > 1 or names & {None, "after", "before"}:
            raise UsageError("an `or` of different keys is not possible: ask once for each")
        parts = [(parts[0][0], tuple(value for part in parts for value in part[1]))]  # type: ignore[index]
    elif given.condition not in (FilterCondition.AND, FilterCondition.OR):
        raise UsageError(f"condition {given.condition} is not possible: give and, or `or` of one key")
    for part in parts:
        if isinstance(part, MetadataFilters):
            _collect(part, fields)
        elif part[0] in fields:
            raise UsageError(f"{part[0]} is filtered twice: give all its values at once, with `in`")
        else:
            fields[part[0]] = part[1]


def _field(one: MetadataFilter) -> tuple[str, Any]:
    key = _OTHER_NAMES.get(one.key, one.key)
    if key not in KEYS:
        raise UsageError(f"{one.key!r} cannot be filtered by; allowed are {', '.join(KEYS)}")
    if key == "ts":
        if one.operator in (FilterOperator.GTE, FilterOperator.LT):
            return ("after" if one.operator == FilterOperator.GTE else "before"), one.value
    elif one.operator in _ONE_OF:
        return key, tuple(one.value) if isinstance(one.value, list) else (one.value,)
    raise UsageError(f"{one.key} {one.operator.value} is not possible: give == or in, and for ts >= or <")
