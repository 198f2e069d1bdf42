"""Links between documents: read from their texts, made by hand, learnt from their vectors; kept up to date."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal, NamedTuple
from uuid import UUID

from brainkit.errors import UsageError
from brainkit.memory.links_learnt import CUT, CUTS, Progress, refresh_learnt
from brainkit.memory.links_resolve import Named, Resolver
from brainkit.memory.links_text import LINKS_VERSION, written_links
from brainkit.store import Database

KINDS: Final = ("wikilink", "embed", "markdown", "frontmatter", "rst", "org", "manual", "learnt")
_BATCH: Final = 200
_MOST_SEEDS: Final = 10


class Related(NamedTuple):
    """A document that is linked with another.

    Attributes:
        direction: out (the other one names it), in (it names the other one), both (each does, or it was learnt).
        kind: of ``KINDS``; the first of these where several links hold.
        weight: the cosine of a learnt link, 1 of any other.
        reason: a short sentence.
    """

    id: UUID
    source: str
    path: str
    title: str
    kind: str
    weight: float
    reason: str
    direction: Literal["out", "in", "both"]


class LinkRow(NamedTuple):
    """A link as it is stored; ``to`` is '' while no document answers to ``target``."""

    source: str
    path: str
    to: str
    kind: str
    target: str
    weight: float
    reason: str


class LinkStore:
    """The links of a brain.

    Args:
        database: an open brain.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def refresh(
        self, model_id: int = 0, embedder: str = "", *, full: bool = False, progress: Progress | None = None
    ) -> dict[str, int]:
        """Bring all links up to date with the documents; returns how many there are of each kind.

        Only changed documents are read again. Stopped at any moment, the next call goes on where it was.

        Args:
            model_id: of the vectors to learn from; 0 leaves the learnt links as they are.
            embedder: kind of its embedder, which decides the cosine that is asked for.
            full: read and search all documents again.
            progress: told ("links", done, total).
        """
        with self._alone():
            self._read(full, progress)
            self._resolve()
            if model_id:
                refresh_learnt(self._database, model_id, CUTS.get(embedder, CUT), full=full, progress=progress)
        return self.counts()

    def counts(self) -> dict[str, int]:
        """Number of links by kind, and of ``orphans``."""
        query = "select kind, count(*) from links where to_id is not null group by 1"
        with self._database.connection() as connection:
            found = dict(connection.execute(query))
        return {kind: found[kind] for kind in KINDS if kind in found} | {"orphans": len(self.orphans())}

    def related(self, document: UUID, n: int = 10) -> tuple[Related, ...]:
        """Documents linked with one: what it names, what names it, then what is near it; at most ``n``.

        Raises:
            UsageError: n < 1.
        """
        if n < 1:
            raise UsageError(f"n = {n} is not allowed: give 1 or more")
        query = """select d.id, d.source, d.path, d.title, l.kind, l.weight,
                          case when l.reason <> '' then l.reason when l.kind = 'manual' then 'linked by hand'
                               else 'written as ' || l.target || case l.heading when '' then ''
                                                                else '#' || l.heading end
                          end, l.outward
                   from (select to_id as other, kind, weight, reason, target, heading, true as outward, id
                         from links where from_id = %(id)s
                         union all
                         select from_id, kind, weight, reason, target, heading, false, id
                         from links where to_id = %(id)s) l
                   join documents d on d.id = l.other where d.id <> %(id)s
                   order by l.kind = 'learnt', l.weight desc, not l.outward, l.id"""
        found: dict[UUID, Related] = {}
        with self._database.connection() as connection:
            for row in connection.execute(query, {"id": document}):
                way: Literal["out", "in", "both"] = "both" if row[4] == "learnt" else "out" if row[7] else "in"
                one = Related._make((*row[:7], way))
                known = found.setdefault(one.id, one)
                if known.direction != one.direction:
                    found[one.id] = known._replace(direction="both")
        return tuple(list(found.values())[:n])

    def put(self, one: UUID, other: UUID, reason: str = "") -> None:
        """Link two documents by hand; a link that is there gets the new reason.

        Raises:
            UsageError: they are the same, or one of them is gone.
        """
        if one == other:
            raise UsageError("a document cannot be linked with itself: name two documents")
        with self._database.connection() as connection, connection.transaction():
            connection.execute(
                """delete from links where kind in ('manual', 'learnt')
                   and ((from_id = %(a)s and to_id = %(b)s) or (from_id = %(b)s and to_id = %(a)s))""",
                {"a": one, "b": other},
            )
            done = connection.execute(
                """insert into links (from_id, to_id, kind, target, heading, reason)
                   select a.id, b.id, 'manual', '/' || b.path, b.source, %s from documents a, documents b
                   where a.id = %s and b.id = %s""",
                (reason, one, other),
            )
            if not done.rowcount:
                raise UsageError("one of the two documents is gone; `brainkit status --documents` lists them")

    def remove(self, one: UUID, other: UUID) -> bool:
        """Remove the link made by hand between two documents; whether there was one."""
        with self._database.connection() as connection:
            done = connection.execute(
                """delete from links where kind = 'manual'
                   and ((from_id = %(a)s and to_id = %(b)s) or (from_id = %(b)s and to_id = %(a)s))""",
                {"a": one, "b": other},
            )
        return done.rowcount > 0

    def orphans(self) -> list[LinkRow]:
        """Links whose target is not in the brain, sorted by where they stand."""
        return [row for row in self.rows() if not row.to]

    def rows(self, kind: str | None = None) -> list[LinkRow]:
        """All links, of one kind or of all, sorted by where they stand.

        Raises:
            UsageError: there is no such kind.
        """
        if kind is not None and kind not in KINDS:
            raise UsageError(f"no kind of link is called {kind!r}: give one of {', '.join(KINDS)}")
        query = """select d.source, d.path, coalesce(t.source || ':' || t.path, ''),
                          l.kind, l.target, l.weight, l.reason
                   from links l join documents d on d.id = l.from_id left join documents t on t.id = l.to_id
                   where (%(kind)s::text is null or l.kind = %(kind)s) and (l.kind <> 'learnt' or t.id is not null)
                   order by 1, 2, l.kind, l.target, 3"""
        with self._database.connection() as connection:
            return [LinkRow(*row) for row in connection.execute(query, {"kind": kind})]

    def linked(self, seeds: Sequence[UUID], known: Collection[UUID]) -> list[tuple[UUID, str, str, str, UUID, float]]:
        """Documents linked with the first of ``seeds``, but for ``known``: id, source, path, title, seed, weight."""
        query = """select d.id, d.source, d.path, d.title, l.seed, max(l.weight)
                   from (select to_id as other, from_id as seed, weight from links where from_id = any(%(seeds)s)
                         union all select from_id, to_id, weight from links where to_id = any(%(seeds)s)) l
                   join documents d on d.id = l.other where not d.id = any(%(known)s)
                   group by d.id, l.seed order by d.source, d.path, l.seed"""
        with self._database.connection() as connection:
            return connection.execute(query, {"seeds": list(seeds[:_MOST_SEEDS]), "known": list(known)}).fetchall()

    # Inside

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time brings links up to date; the others wait."""
        with self._database.connection() as connection:
            connection.execute("select pg_advisory_lock(hashtextextended('brainkit links', 0))")
            try:
                yield
            finally:
                connection.execute("select pg_advisory_unlock(hashtextextended('brainkit links', 0))")

    def _read(self, full: bool, progress: Progress | None) -> None:
        """Read the links of documents that changed, each with its mark in one transaction."""
        key = f"{LINKS_VERSION}:"
        query = """select d.id from documents d left join link_states s on s.document_id = d.id
                   where %s or s.text_key is distinct from %s || d.content_hash order by d.id"""
        with self._database.connection() as connection:
            ids = [one for (one,) in connection.execute(query, (full, key))]
        for start in range(0, len(ids), _BATCH):
            part = ids[start : start + _BATCH]
            with self._database.connection() as connection, connection.transaction():
                found = connection.execute(
                    "select id, content, format, content_hash from documents where id = any(%s) for key share", (part,)
                ).fetchall()
                made = [(one, *link) for one, content, kind, _ in found for link in written_links(content, kind)]
                connection.execute(
                    "delete from links where from_id = any(%s) and kind not in ('manual', 'learnt')", (part,)
                )
                if made:
                    connection.execute(
                        """insert into links (from_id, kind, target, heading)
                           select * from unnest(%s::uuid[], %s::text[], %s::text[], %s::text[])""",
                        tuple(map(list, zip(*made, strict=True))),
                    )
                connection.execute(
                    """insert into link_states (document_id, text_key) select * from unnest(%s::uuid[], %s::text[])
                       on conflict (document_id) do update set text_key = excluded.text_key""",
                    ([row[0] for row in found], [key + row[3] for row in found]),
                )
            if progress and (full or len(ids) > _BATCH):
                progress("links", start + len(part), len(ids))

    def _resolve(self) -> None:
        """Point every written link to the document it means now: one that came, went or was renamed changes others'."""
        with self._database.connection() as connection, connection.transaction():
            named = "select id, source, path, title, aliases from documents order by source, path"
            documents = [Named._make((*row[:4], tuple(row[4]))) for row in connection.execute(named)]
            place = {document.id: document for document in documents}
            resolver = Resolver(documents)
            written = connection.execute(
                "select id, from_id, to_id, kind, target, heading from links where kind <> 'learnt' for update"
            ).fetchall()
            moved: list[tuple[int, UUID | None]] = []
            for number, owner, to, kind, target, heading in written:
                holder = place.get(owner)
                if holder is None or (kind == "manual" and to is not None):
                    continue
                source = heading if kind == "manual" else holder.source
                found = resolver.resolve(source, holder.path, "markdown" if kind == "manual" else kind, target)
                if found != to:
                    moved.append((number, found))
            connection.execute(
                """update links l set to_id = d.id
                   from unnest(%s::bigint[], %s::uuid[]) n (id, to_id) left join documents d on d.id = n.to_id
                   where l.id = n.id""",
                ([number for number, _ in moved], [to for _, to in moved]),
            )
