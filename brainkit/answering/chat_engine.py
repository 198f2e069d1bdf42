"""LlamaIndex's chat engine over a brain: follow-ups are understood, what was said is remembered for a while."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing, closing
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.chat_engine.types import AgentChatResponse, BaseChatEngine, StreamingAgentChatResponse
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import ToolOutput

from brainkit.answering.bridge import iterate
from brainkit.answering.llama import reply_metadata, reply_nodes
from brainkit.answering.llm import Message
from brainkit.answering.prompt import tokens
from brainkit.answering.reply import Reply
from brainkit.answering.streaming import DoneEvent, StreamEvent, ThinkingEvent

Stream = Callable[[str, Sequence[Message]], AsyncGenerator[StreamEvent, None]]


class BrainChatEngine(BaseChatEngine):
    """Answers, or deflects, as ``Brain.ask`` does; made by ``Brain.as_chat_engine``.

    A follow-up is looked up as a question that stands alone, which a response tells as ``metadata["question"]`` and,
    as other chat engines do, as ``sources[0].raw_input["message"]``. A streamed response has its sources once it has
    come to its end; what was stopped before is not remembered.

    Args:
        stream: of the brain.
        token_limit: tokens of the conversation that are remembered; what was said first is forgotten first.
    """

    def __init__(self, stream: Stream, token_limit: int) -> None:
        self._stream = stream
        self._memory = ChatMemoryBuffer.from_defaults(
            token_limit=token_limit, tokenizer_fn=lambda text: list(range(tokens(text)))
        )

    @property
    def chat_history(self) -> list[ChatMessage]:
        """All messages that were said, or set, since the start or ``reset``."""
        return self._memory.get_all()

    def reset(self) -> None:
        """Forget the conversation."""
        self._memory.reset()

    def chat(self, message: str, chat_history: list[ChatMessage] | None = None) -> AgentChatResponse:
        """Answer; ``chat_history`` takes the place of what is remembered."""
        history = self._recalled(chat_history)
        with closing(iterate(lambda: self._stream(message, history))) as events:
            for event in events:
                if isinstance(event, DoneEvent):
                    reply = event.reply
        return self._response(message, reply)

    async def achat(self, message: str, chat_history: list[ChatMessage] | None = None) -> AgentChatResponse:
        """``chat`` without blocking."""
        async with aclosing(self._stream(message, self._recalled(chat_history))) as events:
            async for event in events:
                if isinstance(event, DoneEvent):
                    reply = event.reply
        return self._response(message, reply)

    def stream_chat(self, message: str, chat_history: list[ChatMessage] | None = None) -> StreamingAgentChatResponse:
        """Answer piece by piece, in ``response_gen``."""
        history = self._recalled(chat_history)

        def pieces() -> Generator[ChatResponse, None, None]:
            said = ""
            with closing(iterate(lambda: self._stream(message, history))) as events:
                for event in events:
                    said, piece = self._piece(message, event, said, response)
                    yield piece

        response = StreamingAgentChatResponse(chat_stream=pieces(), is_writing_to_memory=False)
        return response

    async def astream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> StreamingAgentChatResponse:
        """Answer piece by piece, in ``async_response_gen()``."""
        history = self._recalled(chat_history)

        async def pieces() -> AsyncGenerator[ChatResponse, None]:
            said = ""
            async with aclosing(self._stream(message, history)) as events:
                async for event in events:
                    said, piece = self._piece(message, event, said, response)
                    yield piece

        response = StreamingAgentChatResponse(achat_stream=pieces(), is_writing_to_memory=False)
        return response

    def _recalled(self, given: list[ChatMessage] | None) -> list[Message]:
        if given is not None:
            self._memory.set(given)
        spoken = (MessageRole.USER, MessageRole.ASSISTANT)
        return [Message(turn.role.value, turn.content or "") for turn in self._memory.get() if turn.role in spoken]

    def _piece(
        self, message: str, event: StreamEvent, said: str, response: StreamingAgentChatResponse
    ) -> tuple[str, ChatResponse]:
        """All that was said up to an event, and the event as LlamaIndex sees it."""
        if isinstance(event, ThinkingEvent):
            thought = {"thinking_delta": event.text}
            return said, ChatResponse(message=_assistant(said), delta="", additional_kwargs=thought)
        if isinstance(event, DoneEvent):
            whole = self._response(message, event.reply)
            response.sources, response.source_nodes = whole.sources, whole.source_nodes
            return said, ChatResponse(message=_assistant(event.reply.text), delta="", raw=whole.metadata)
        return said + event.text, ChatResponse(message=_assistant(said + event.text), delta=event.text)

    def _response(self, message: str, reply: Reply) -> AgentChatResponse:
        self._memory.put(ChatMessage(role=MessageRole.USER, content=message))
        self._memory.put(_assistant(reply.text))
        nodes = reply_nodes(reply)
        metadata: dict[str, Any] = reply_metadata(reply)
        source = ToolOutput(
            tool_name="brain",
            content=reply.decision.reason,
            raw_input={"message": reply.question},
            raw_output=nodes,
        )
        return AgentChatResponse(response=reply.text, sources=[source], source_nodes=nodes, metadata=metadata)


def _assistant(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, content=text)
