"""Replies as events of LlamaIndex's instrumentation, and the handler that writes them into the log of questions."""

from __future__ import annotations

import logging
from typing import Any

from llama_index_instrumentation import root_dispatcher, root_manager
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.dispatcher import Dispatcher
from llama_index_instrumentation.event_handlers import BaseEventHandler
from pydantic import InstanceOf, field_serializer

from brainkit.answering.logged import logged
from brainkit.answering.reply import Reply
from brainkit.store import QueryLog

log = logging.getLogger(__name__)


class ReplyEvent(BaseEvent):
    """A brain has replied: what was asked (scrubbed), decided, found and said."""

    reply: InstanceOf[Reply]

    @classmethod
    def class_name(cls) -> str:
        """Name by which LlamaIndex's handlers know the event."""
        return "BrainReplyEvent"

    @field_serializer("reply")
    def _plain(self, reply: Reply) -> dict[str, Any]:
        return reply.to_dict()


class LogHandler(BaseEventHandler):
    """Writes replies into one brain's log; a dispatcher swallows what a handler raises, so it is counted here."""

    log: QueryLog

    @classmethod
    def class_name(cls) -> str:
        """Name by which LlamaIndex knows the handler."""
        return "BrainLogHandler"

    def handle(self, event: BaseEvent, **_: Any) -> None:
        """Write a reply; other events are none of its business."""
        if isinstance(event, ReplyEvent):
            try:
                self.log.write(logged(event.reply))
            except (
                Exception
            ) as error:  # a reply must not be lost because it could not be logged; status shows the count
                self.log.missed()
                log.warning("a question could not be logged: %s", type(error).__name__)


def reply_dispatcher(query_log: QueryLog) -> Dispatcher:
    """A dispatcher that tells one brain's log, and then the handlers of LlamaIndex's root dispatcher.

    It is not entered into LlamaIndex's registry: no other brain's replies reach this log, and it goes with its brain.
    """
    return Dispatcher(
        name="brainkit",
        event_handlers=[LogHandler(log=query_log)],
        parent_name=root_dispatcher.name,
        manager=root_manager,
    )
