"""Checks the documents a model names: those it was given stay, in one form; others are taken out and counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from brainkit.answering.reply import Source

_BRACKET: Final = re.compile(r"\[([^\[\]\n]{1,300})\](?![(\[:])")
_ENDING: Final = re.compile(
    r"\.(?:md|markdown|txt|ya?ml|json|jsonl|py|ipynb|toml|ini|conf|cfg|html?|rst|org|csv|tf|service|timer|sh|pdf|docx?)$",
    re.IGNORECASE,
)


class Checked(NamedTuple):
    """A text with its citations checked."""

    text: str
    cited: tuple[Source, ...]
    removed: int


class Citations:
    """Knows the documents that were given.

    Args:
        names: every name of a given document (its path, ``source:path``, its copies' names) with the document.
        cite: the name under which one is cited.
        known: names of all documents of the brain.
    """

    def __init__(self, names: Mapping[str, Source], cite: Callable[[Source], str], known: Collection[str]) -> None:
        self._names = {name.casefold(): source for name, source in names.items()}
        self._cite = cite
        self._known = known

    def check(self, text: str) -> Checked:
        """Put each citation into the form ``[path]``, and take out those of documents that were not given."""
        cited: dict[Source, None] = {}
        removed = 0

        def checked(match: re.Match[str]) -> str:
            nonlocal removed
            parts = [part.strip() for part in re.split(r"[,;]", match[1])]
            found = [self._source(part) for part in parts]
            unknown = [part for part, source in zip(parts, found, strict=True) if source is None]
            if not any(found) and not all(_ENDING.search(_bare(part)) or _bare(part) in self._known for part in parts):
                return match[0]  # brackets that cite nothing
            removed += len(unknown)
            kept = list(dict.fromkeys(source for source in found if source is not None))
            cited.update(dict.fromkeys(kept))
            return " ".join(f"[{self._cite(source)}]" for source in kept)

        text = _BRACKET.sub(checked, text)
        for name, source in self._names.items():
            if re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w/-]|\.\w)", text.casefold()):
                cited.setdefault(source)
        return Checked(text, tuple(cited), removed)

    def _source(self, name: str) -> Source | None:
        return self._names.get(name.casefold()) or self._names.get(_bare(name).casefold())


def tidy(text: str) -> str:
    """Without the gaps that were left where something was taken out."""
    text = re.sub(r"(?<=\S)[ \t]+(?=[.,;:!?](?:\s|$))", "", text)
    text = re.sub(r"\([ \t]*\)", "", text)
    return re.sub(r"(?<=\S)[ \t]{2,}(?=\S)", " ", re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)).strip()


def given_names(sources: Sequence[tuple[Source, Sequence[Source]]], cite: Callable[[Source], str]) -> dict[str, Source]:
    """Every name of given documents, each with those that say the same, in lower precedence its bare file name."""
    names: dict[str, Source] = {}
    for source, copies in sources:
        for one in (source, *copies):
            names |= {cite(one): source, f"{one.source}:{one.path}": source}
            names.setdefault(one.path, source)
    for source, _ in sources:
        names.setdefault(source.path.rpartition("/")[2], source)
    return names


def _bare(name: str) -> str:
    """A name without what models like to add: a heading, a line, quotes."""
    return re.split(r" > | # |#|, | \(|:\d", name.strip("`*\"' "))[0].strip("`*\"' ")
