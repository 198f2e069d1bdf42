"""LlamaIndex's query engine over a brain: a Response with its sources, or an honest deflection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import Response
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from brainkit.answering.reply import Reply


class BrainQueryEngine(BaseQueryEngine):
    """Answers as ``Brain.ask`` does; made by ``Brain.as_query_engine``.

    The response's text is the reply's, its source nodes are the quoted passages, and its metadata tell ``deflected``,
    ``score``, ``threshold``, ``gate``, ``reason`` and ``suggestions``.
    """

    def __init__(self, ask: Callable[[str], Reply]) -> None:
        self._ask = ask
        super().__init__(callback_manager=None)

    def _query(self, query_bundle: QueryBundle) -> Response:
        reply = self._ask(query_bundle.query_str)
        decision = reply.decision
        nodes = [
            NodeWithScore(
                node=TextNode(text=quote.text, metadata={"source": quote.source, "path": quote.path}), score=quote.score
            )
            for quote in reply.quotes
        ]
        metadata: dict[str, Any] = {
            "deflected": reply.deflected,
            "score": decision.score,
            "threshold": decision.threshold,
            "gate": decision.gate,
            "reason": decision.reason,
            "suggestions": list(reply.suggestions),
        }
        return Response(reply.text, source_nodes=nodes, metadata=metadata)

    async def _aquery(self, query_bundle: QueryBundle) -> Response:
        return await asyncio.to_thread(self._query, query_bundle)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}
