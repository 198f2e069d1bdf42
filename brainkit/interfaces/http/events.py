"""A reply as server-sent events: ``thinking``, ``delta``, ``done``; a client that goes away stops the model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from brainkit.answering import DoneEvent, StreamEvent, ThinkingEvent


def _object(optional: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    """JSON schema of an object with these properties and no other."""
    needed = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


_TEXT: Final[dict[str, Any]] = {"type": "string"}
_FLAG: Final[dict[str, Any]] = {"type": "boolean"}
_TEXTS: Final[dict[str, Any]] = {"type": "array", "items": _TEXT}
_DATA: Final[dict[str, Any]] = {
    "oneOf": [
        _object(type={"enum": ["thinking", "delta"]}, text=_TEXT),
        _object(
            ("reply",),
            type={"const": "done"},
            deflected=_FLAG,
            sources={"type": "array", "items": _object(source=_TEXT, path=_TEXT, title=_TEXT)},
            suggestions=_TEXTS,
            reply=_object(
                id=_TEXT, question=_TEXT, text=_TEXT, reason=_TEXT, model=_TEXT, note=_TEXT, cut=_FLAG,
                unsupported=_TEXTS, removed_citations={"type": "integer"},
            ),
        ),
    ]
}  # fmt: skip
EVENT_SCHEMA: Final[dict[str, Any]] = _object(
    event={"enum": ["thinking", "delta", "done"]},
    data={"type": "string", "contentMediaType": "application/json", "contentSchema": _DATA},
)
"""JSON schema of each event, as OpenAPI 3.2 describes streams."""


def as_data(event: StreamEvent, *, details: bool) -> dict[str, Any]:
    """An event as plain data; its ``type`` is also the name of the server-sent event."""
    if not isinstance(event, DoneEvent):
        return {"type": "thinking" if isinstance(event, ThinkingEvent) else "delta", "text": event.text}
    reply = event.reply
    done = {
        "type": "done",
        "deflected": reply.deflected,
        "sources": [source._asdict() for source in reply.sources],
        "suggestions": list(reply.suggestions),
    }
    if details:
        done["reply"] = {
            "id": reply.id,
            "question": reply.question,
            "text": reply.text,
            "reason": reply.decision.reason,
            "model": reply.model,
            "note": reply.note,
            "cut": reply.cut,
            "unsupported": list(reply.unsupported),
            "removed_citations": reply.removed_citations,
        }
    return done


class EventStream(Response):
    """Sends events as they come. Nothing is sent before the first, so that an error until then has its own status."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[StreamEvent, None], *, details: bool) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._events = events
        self._details = details

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Send until the end, or until the client is gone."""
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_client_leaves(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                await sending
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        started = False
        async with aclosing(self._events) as events:
            async for event in events:
                if not started:
                    await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                    started = True
                data = as_data(event, details=self._details)
                text = f"event: {data['type']}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
                await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _client_leaves(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
