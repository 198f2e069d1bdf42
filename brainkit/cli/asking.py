"""``brainkit recall`` and ``ask``: question the brain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from brainkit.cli.screen import fail_on_error, open_brain, print_json, remarks, without_controls

if TYPE_CHECKING:
    from brainkit.retrieval import Recall

RECALL_EXAMPLES = """
Examples:

  brainkit recall "UPS battery"

  brainkit recall INV/2025/00412 --retrieval "lexical(30)" -k 3 --json
"""
ASK_EXAMPLES = """
Examples:

  brainkit ask "When did I change the UPS battery?"

  brainkit ask "Which port does Paperless listen on?" --json
"""
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Only = Annotated[list[str] | None, typer.Option(help="Only such documents; may be repeated.")]
Question = Annotated[str, typer.Argument(help="What you want to know.")]


@fail_on_error
def recall(
    question: Question,
    k: Annotated[int, typer.Option("-k", min=1, help="Chunks to show.")] = 6,
    retrieval: Annotated[str | None, typer.Option(help="Retrieval string instead of BOR_RETRIEVAL.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Document to leave out; may be repeated.")] = None,
    source: Only = None,
    project: Only = None,
    path: Annotated[list[str] | None, typer.Option(help="Only documents whose path fits, such as 'hosts/**'.")] = None,
    tag: Only = None,
    format: Only = None,  # noqa: A002 - the option's name
    role: Only = None,
    after: Annotated[str | None, typer.Option(help="Only documents from this day on, such as 2026-01-31.")] = None,
    before: Annotated[str | None, typer.Option(help="Only documents before this day.")] = None,
    as_json: Json = False,
) -> None:
    """Show what the notes hold near a question, with ranks in both channels."""
    from brainkit.retrieval import Filters

    filters = Filters(
        source=source or (),
        project=project or (),
        path=path or (),
        tag=tag or (),
        format=format or (),
        role=role or (),
        after=after,
        before=before,
    )
    with open_brain() as brain:
        found = brain.recall(question, k=k, retrieval=retrieval, exclude_documents=exclude or (), filters=filters)
    if as_json:
        print_json(_recall_dict(found))
        return
    console = Console()
    for chunk in found.chunks:
        cosine = "-" if chunk.cosine is None else f"{chunk.cosine:.3f}"
        place = f"{chunk.document_path}" + (f" > {chunk.heading}" if chunk.heading else "")
        ranks = f"dense {chunk.dense_rank or '-'}, lexical {chunk.lexical_rank or '-'}, cosine {cosine}"
        console.print(f"{chunk.score:.3f}  {place}", style="bold", markup=False, highlight=False)
        console.print(f"       {chunk.channel}: {ranks}", markup=False, highlight=False)
        console.print(f"       {' '.join(chunk.text.split())[:300]}", markup=False, highlight=False)
    console.print(
        f"{len(found.documents)} documents, {found.latency_ms:.0f} ms, {found.settings}", markup=False, highlight=False
    )
    if found.degraded:
        typer.echo(found.degraded, err=True)


def _recall_dict(found: Recall) -> dict[str, Any]:
    return {
        "question": found.question,
        "settings": found.settings,
        "degraded": found.degraded,
        "latency_ms": found.latency_ms,
        "chunks": [
            {
                "document": chunk.document_path, "source": chunk.source, "title": chunk.title, "heading": chunk.heading,
                "text": chunk.text, "cosine": chunk.cosine, "dense_rank": chunk.dense_rank,
                "lexical_rank": chunk.lexical_rank, "score": chunk.score, "channel": chunk.channel,
            }
            for chunk in found.chunks
        ],
        "documents": [
            {"id": str(d.id), "source": d.source, "path": d.path, "title": d.title, "score": d.score}
            for d in found.documents
        ],
        "evidence": vars(found.evidence),
    }  # fmt: skip


@fail_on_error
def ask(question: Question, as_json: Json = False) -> None:
    """Answer from the notes, quoting them; or say that they hold no answer, and what they do answer."""
    with open_brain() as brain:
        reply = brain.ask(question)
    if as_json:
        print_json(reply.to_dict())
        return
    typer.echo(without_controls(reply.text))
    for remark in remarks(reply):
        typer.echo(remark, err=True)
    typer.echo(f"\n({reply.decision.reason})\nreply {reply.id}", err=True)
