"""Front matter of a note: title, tags, aliases, language and date, read without ever expanding a YAML alias."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CHARS = 64 * 1024
MAX_DEPTH = 50
_FAST = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
DATE_KEYS = ("date", "created", "updated")
LANGUAGES = {"de": "german", "german": "german", "deutsch": "german", "en": "english", "english": "english"}
"""How a note may name the language it is written in; any other code or name means: take words as they are."""


class FrontMatter(NamedTuple):
    """What a note says about itself; ``note`` names what is wrong with it ('' if nothing)."""

    title: str = ""
    tags: tuple[str, ...] = ()
    ts: datetime | None = None
    note: str = ""
    aliases: tuple[str, ...] = ()
    language: str = ""


def _parsed(body: str) -> object:
    """The values, every scalar as the text it is (``007`` stays so); aliases, which grow without bound, are refused.

    Raises:
        YAMLError: it is no YAML, or holds an alias, or nests deeper than the parser's own stack is safe for.
    """
    depth = 0
    loader = yaml.BaseLoader if "\\u" in body else _FAST  # libyaml refuses surrogates, which JSON writes in pairs
    for event in yaml.parse(body, loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH or isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not followed, nor what nests too deep")
    return yaml.load(body, loader)  # noqa: S506 - a BaseLoader makes nothing but str, list and dict


def read_front_matter(block: str) -> FrontMatter:
    """The front matter in ``block`` (with its ``---`` lines). Broken front matter gives a note, never an error."""
    if len(block) > MAX_CHARS:
        return FrontMatter(note="front matter too long to be read")
    try:
        values = _parsed(_body(block))
    except (yaml.YAMLError, RecursionError, ValueError):
        return FrontMatter(note="invalid front matter: kept as text")
    if values in (None, ""):
        return FrontMatter()
    if not isinstance(values, dict):
        return FrontMatter(note="front matter holds no keys: kept as text")
    lowered = {str(key).lower(): value for key, value in values.items()}
    title = lowered.get("title")
    return FrontMatter(
        " ".join(title.split()) if isinstance(title, str) else "",
        _list(lowered, ("tags", "tag"), r"[,\s]+", "#"),
        _date(lowered),
        aliases=_list(lowered, ("aliases", "alias"), r",|\n", ""),
        language=_language(lowered.get("lang", lowered.get("language"))),
    )


def front_matter_values(block: str) -> dict[str, object]:
    """All values of a front matter by key in lower case, scalars as text; empty when it cannot be read."""
    try:
        values = _parsed(_body(block)) if len(block) <= MAX_CHARS else None
    except (yaml.YAMLError, RecursionError, ValueError):
        values = None
    return {str(key).lower(): value for key, value in values.items()} if isinstance(values, dict) else {}


def _body(block: str) -> str:
    return block.split("\n", 1)[1].rstrip().removesuffix("---").removesuffix("...")


def _language(value: object) -> str:
    """``english``, ``german`` or ``simple``; empty when the note does not say.

    Example:
        >>> _language("de-AT"), _language("English"), _language("fr"), _language(None)
        ('german', 'english', 'simple', '')
    """
    if not isinstance(value, str) or not value.strip():
        return ""
    return LANGUAGES.get(re.split(r"[-_]", value.strip().lower())[0], "simple")


def _list(values: Mapping[str, object], keys: tuple[str, ...], separator: str, sign: str) -> tuple[str, ...]:
    """The names under any of the keys, each once: a list, or one text whose names are separated."""
    found: list[str] = []
    for key in keys:
        value = values.get(key)
        if isinstance(value, str):
            found += re.split(separator, value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, str)]
    return tuple(dict.fromkeys(name for item in found if (name := item.strip().lstrip(sign))))


def _date(values: Mapping[str, object]) -> datetime | None:
    return next((date for key in DATE_KEYS if (date := parse_date(values.get(key)))), None)


def parse_date(value: object) -> datetime | None:
    """An ISO 8601 date or time in UTC (without a zone it counts as UTC); None when it is none.

    Example:
        >>> parse_date("2024-05-01 10:00 +0200")
        datetime.datetime(2024, 5, 1, 8, 0, tzinfo=datetime.timezone.utc)
    """
    if not isinstance(value, str):
        return None
    try:
        date = datetime.fromisoformat(re.sub(r"\s+(?=[+-])|\s+(?=Z$)", "", value.strip()))
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
