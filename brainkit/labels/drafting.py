"""Questions drafted from titles and headings, where nobody has labelled any: good for a first guess and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from brainkit.labels.model import Label, Relevant

if TYPE_CHECKING:
    from brainkit.store import Database

DRAFTS: Final = 60
"""Questions for an estimate: enough that two may pass at alpha = delta = .1."""
_EXCERPT: Final = 4000
_TEMPLATES: Final = {"german": "Was habe ich über {} geschrieben?"}
_TEMPLATE: Final = "What did I write about {}?"


class Topic(NamedTuple):
    """What a document is about: its name (``source:path``), language, title, one of its headings, how it begins."""

    document: str
    language: str
    title: str
    heading: str
    text: str


def topics(database: Database, limit: int = DRAFTS) -> list[Topic]:
    """Topics of up to ``limit`` documents, the same whenever the documents are the same."""
    query = """
        select d.source || ':' || d.path, d.language, d.title, coalesce(c.heading, ''), left(d.content, %s)
        from documents d left join lateral (
          select heading from chunks where document_id = d.id and heading <> '' order by md5(content_hash), id limit 1
        ) c on true
        where d.title <> '' order by md5(d.id::text), d.id limit %s"""
    with database.connection() as connection:
        return [Topic(*row) for row in connection.execute(query, (_EXCERPT, limit))]


def drafted(found: Iterable[Topic], write: Callable[[str], str] | None = None) -> list[Label]:
    """A question about each topic, as an answerable label.

    Args:
        found: what to ask about.
        write: makes a question from a document's text, such as a language model; where it gives nothing, or without
            it, a plain sentence with title and heading is taken.

    Example:
        >>> drafted([Topic("n:nas.md", "english", "NAS", "NAS > Disks", "...")])[0].question
        'What did I write about NAS: Disks?'
    """
    labels = []
    for topic in found:
        last = topic.heading.rpartition(" > ")[2]
        about = topic.title if last in {"", topic.title} else f"{topic.title}: {last}"
        question = (write(topic.text).strip() if write else "") or _TEMPLATES.get(topic.language, _TEMPLATE).format(
            about
        )
        relevant = (Relevant(topic.document),)
        labels.append(Label(f"draft {topic.document}", question, True, relevant, source="draft"))
    return labels
