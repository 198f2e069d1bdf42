"""LlamaIndex's query engine over a brain: a Response with its sources, or an honest deflection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import Response
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation import get_dispatcher

from brainkit.answering.reply import Reply
from brainkit.gate import Decision
from brainkit.retrieval.llama import chunk_node

dispatcher = get_dispatcher(__name__)


class BrainQueryEngine(BaseQueryEngine):
    """Answers as ``Brain.ask`` does; made by ``Brain.as_query_engine``.

    The response's text is the reply's, its source nodes are the quoted passages, and its metadata tell ``deflected``,
    ``score``, ``threshold``, ``gate``, ``reason``, ``suggestions`` and ``degraded``. Beside the events of every query
    engine it tells those of a retrieval, between which the gate decides.
    """

    def __init__(self, decide: Callable[[str], Decision], reply: Callable[[Decision], Reply]) -> None:
        self._decide = decide
        self._reply = reply
        super().__init__(callback_manager=None)

    def _query(self, query_bundle: QueryBundle) -> Response:
        dispatcher.event(RetrievalStartEvent(str_or_query_bundle=query_bundle))
        decision = self._decide(query_bundle.query_str)
        found = [chunk_node(chunk) for chunk in decision.recall.chunks]
        dispatcher.event(RetrievalEndEvent(str_or_query_bundle=query_bundle, nodes=found))
        reply = self._reply(decision)
        return Response(reply.text, source_nodes=reply_nodes(reply), metadata=reply_metadata(reply))

    async def _aquery(self, query_bundle: QueryBundle) -> Response:
        return await asyncio.to_thread(self._query, query_bundle)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}


def reply_nodes(reply: Reply) -> list[NodeWithScore]:
    """The passages a reply quotes; of one a model wrote, what was found in the documents it rests on."""
    if reply.model:
        rests_on = {(source.source, source.path) for source in reply.sources}
        return [chunk_node(c) for c in reply.decision.recall.chunks if (c.source, c.document_path) in rests_on]
    return [
        NodeWithScore(
            node=TextNode(text=quote.text, metadata={"source": quote.source, "path": quote.path}), score=quote.score
        )
        for quote in reply.quotes
    ]


def reply_metadata(reply: Reply) -> dict[str, Any]:
    """What LlamaIndex programs are told of a reply beside its text and nodes."""
    decision = reply.decision
    return {
        "question": reply.question,
        "deflected": reply.deflected,
        "score": decision.score,
        "threshold": decision.threshold,
        "gate": decision.gate,
        "reason": decision.reason,
        "suggestions": list(reply.suggestions),
        "degraded": decision.recall.degraded,
        "model": reply.model,
        "note": reply.note,
        "cut": reply.cut,
        "unsupported": list(reply.unsupported),
    }
