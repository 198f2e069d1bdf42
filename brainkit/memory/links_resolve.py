"""Which document a written link means: by path, file name, alias or title; of several the nearest."""

from __future__ import annotations

import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

INDEX_NAMES = ("index", "readme", "_index")
"""What a link to a folder means in it."""
BY_NAME = frozenset({"wikilink", "embed", "frontmatter", "manual"})
"""Kinds of links that may give a name instead of a path."""


class Named(NamedTuple):
    """A document with all that it may be called by."""

    id: UUID
    source: str
    path: str
    title: str
    aliases: tuple[str, ...] = ()


class Resolver:
    """Finds targets among the documents of a brain, without regard to case.

    Example:
        >>> a, b = Named(UUID(int=1), "notes", "a.md", "A"), Named(UUID(int=2), "notes", "lan/DNS.md", "Names")
        >>> Resolver([a, b]).resolve("notes", "a.md", "wikilink", "dns") == b.id
        True
    """

    def __init__(self, documents: Iterable[Named]) -> None:
        self._paths: dict[tuple[str, str], list[Named]] = defaultdict(list)
        self._names: tuple[dict[str, list[Named]], ...] = (defaultdict(list), defaultdict(list), defaultdict(list))
        for document in documents:
            path = _key(document.path)
            for form in dict.fromkeys((path, _bare(path))):
                self._paths[document.source, form].append(document)
                self._names[0][posixpath.basename(form)].append(document)
            for alias in dict.fromkeys(map(_key, document.aliases)):
                self._names[1][alias].append(document)
            if document.title:
                self._names[2][_key(document.title)].append(document)
        self._named = lru_cache(maxsize=100_000)(self._by_name)

    def resolve(self, source: str, path: str, kind: str, target: str) -> UUID | None:
        """Id of the document that a link in ``source:path`` means; None if there is none.

        Args:
            source: of the document that holds the link.
            path: of the document that holds the link.
            kind: of the link; those in ``BY_NAME`` may name a document by file name, alias or title.
            target: as it is written.
        """
        wanted, folder = _key(target), _key(posixpath.dirname(path))
        found = self._by_path(source, folder, wanted) if "/" in wanted or kind not in BY_NAME else None
        if found is None and kind in BY_NAME:
            found = self._named(source, folder, wanted)
        return found.id if found else None

    def _by_path(self, source: str, folder: str, wanted: str) -> Named | None:
        """What lies there seen from the note's folder, else from the root, which some editors write."""
        places = [wanted.lstrip("/")] if wanted.startswith("/") else [posixpath.join(folder, wanted), wanted]
        for place in map(posixpath.normpath, places):
            inside = "" if place == "." else place
            for form in (inside, *(posixpath.join(inside, name) for name in INDEX_NAMES)):
                if not form.startswith("..") and (found := self._paths.get((source, form))):
                    return min(found, key=_order)
        return None

    def _by_name(self, source: str, folder: str, wanted: str) -> Named | None:
        name, ending = posixpath.basename(wanted), "/" + wanted.lstrip("/")
        for number, names in enumerate(self._names):
            found = names.get(name if number == 0 else wanted, [])
            if number == 0 and "/" in wanted:
                found = [one for one in found if any(f"/{_form}".endswith(ending) for _form in _forms(one.path))]
            if found:
                return min(found, key=lambda one: (one.source != source, _steps(folder, one.path), _order(one)))
        return None


def _order(document: Named) -> tuple[bool, int, str, str]:
    """Notes before other files of the same stem, then the shorter path."""
    return not document.path.lower().endswith((".md", ".markdown")), len(document.path), document.path, document.source


def _steps(folder: str, path: str) -> int:
    """Steps up and down from a folder to that of a path."""
    here, there = folder.split("/") if folder else [], _key(path).split("/")[:-1]
    common = 0
    for one, other in zip(here, there, strict=False):
        if one != other:
            break
        common += 1
    return len(here) + len(there) - 2 * common


def _key(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().casefold()


def _bare(path: str) -> str:
    """A path without its ending."""
    return posixpath.splitext(path)[0]


def _forms(path: str) -> tuple[str, str]:
    return _key(path), _bare(_key(path))
