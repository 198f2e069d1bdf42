"""The language model that writes answers: any OpenAI-compatible server, through LlamaIndex's OpenAILike."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from brainkit.answering.reply import Usage
from brainkit.answering.thinking import Part, ThinkSplitter
from brainkit.embedding.faults import Fault, Kind, fault_of
from brainkit.embedding.hosts import is_loopback
from brainkit.errors import LLMUnavailableError, SettingsError

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage
    from llama_index.llms.openai_like import OpenAILike
    from openai import DefaultAsyncHttpxClient

    from brainkit.settings import Settings

TRIES: Final = 3
BACKOFF_SECONDS = 0.5
"""Wait before the second try, doubled before the third; a server's Retry-After goes before it, up to the limit."""
RETRY_AFTER_LIMIT: Final = 20.0
CONNECT_SECONDS: Final = 10.0
_WITHOUT: Final = "Without BOR_LLM_BASE_URL the notes are quoted instead."


class Message(NamedTuple):
    """One message of a conversation.

    Attributes:
        role: "system", "user" or "assistant".
        text: what was said.
    """

    role: str
    text: str


class Ended(NamedTuple):
    """The end of what a model says; ``complete`` is False if it stopped before it was done."""

    usage: Usage
    complete: bool


def make_llm(settings: Settings) -> LLM | None:
    """The model of the settings, or None without BOR_LLM_BASE_URL; nothing is sent before the first use.

    Raises:
        SettingsError: BOR_LLM_BASE_URL is set and BOR_LLM_MODEL is not.
    """
    if not settings.llm_base_url:
        return None
    if not settings.llm_model:
        raise SettingsError(
            "BOR_LLM_MODEL is not set: BOR_LLM_BASE_URL needs the name of the model beside it, such as qwen3:8b "
            "(Ollama lists its models with `ollama list`)."
        )
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else ""
    return LLM(settings.llm_base_url.strip(), settings.llm_model, key, settings.llm_timeout, settings.llm_context)


class LLM:
    """A language model at one address.

    Each call has a connection of its own: it works in any event loop, and closing the stream closes the connection,
    at which servers stop computing.

    Args:
        url: base URL of its API, such as ``http://127.0.0.1:11434/v1``.
        model: its name there.
        key: bearer token, "" for none.
        timeout: seconds of silence after which it counts as dead.
        context: tokens of its window, for what goes in and what comes out together.
    """

    def __init__(self, url: str, model: str, key: str = "", timeout: float = 120.0, context: int = 8192) -> None:
        parts = urlsplit(url)
        self.address = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
        self.model = model
        self.context = context
        self.timeout = timeout
        self._url = url
        self._key = key

    def llama(self, **values: Any) -> OpenAILike:
        """The model for LlamaIndex programs; ``values`` are fields of its OpenAILike."""
        from llama_index.core.bridge.pydantic import Field
        from llama_index.llms.openai_like import OpenAILike

        class Hidden(OpenAILike):
            api_key: str | None = Field(default=None, repr=False)

        given = {
            "model": self.model,
            "api_base": self._url,
            # Not empty: the client would then take OPENAI_API_KEY and hand it to whatever server this is.
            "api_key": self._key or "none",
            "context_window": self.context,
            "is_chat_model": True,
            "timeout": self.timeout,
            "max_retries": 0,
            **values,
        }
        return Hidden(**given)

    async def stream(
        self, messages: Sequence[Message], max_tokens: int | None = None
    ) -> AsyncGenerator[Part | Ended, None]:
        """What the model says, piece by piece, and then its end; tried again only before the first piece.

        Raises:
            LLMUnavailableError: it gave no piece, or no further one.
        """
        for attempt in range(1, TRIES + 1):
            started = False
            try:
                async with aclosing(self._once(messages, max_tokens)) as parts:
                    async for part in parts:
                        started = True
                        yield part
            except Exception as error:
                fault = fault_of(error, self._key)
                if started or fault.kind is not Kind.BUSY or attempt == TRIES:
                    raise self._error(fault) from error
                told = min(fault.retry_after or 0.0, RETRY_AFTER_LIMIT)
                await asyncio.sleep(told or BACKOFF_SECONDS * 2 ** (attempt - 1))
            else:
                return

    async def complete(self, messages: Sequence[Message], max_tokens: int | None = None) -> str:
        """All the model says but its thinking.

        Raises:
            LLMUnavailableError: it does not answer.
        """
        async with aclosing(self.stream(messages, max_tokens)) as parts:
            return "".join([part.text async for part in parts if isinstance(part, Part) and not part.thinking]).strip()

    async def window(self) -> int | None:
        """Tokens of the model's window as the server tells it; None if it does not.

        Raises:
            LLMUnavailableError: the server does not list its models.
        """
        import openai

        try:
            async with self._client() as client:
                api = openai.AsyncOpenAI(
                    api_key=self._key or "none", base_url=self._url, http_client=client, max_retries=0
                )
                listed = {model.id: model.model_extra or {} async for model in api.models.list()}
        except Exception as error:
            raise self._error(fault_of(error, self._key)) from error
        told = listed.get(self.model, {})  # a server may know more names than it lists
        meta = told.get("meta") if isinstance(told.get("meta"), dict) else {}
        found = [told.get("max_model_len"), told.get("context_length"), (meta or {}).get("n_ctx")]
        return next((value for value in found if isinstance(value, int) and value > 0), None)

    def _client(self) -> DefaultAsyncHttpxClient:
        """A connection of its own, past proxies on this machine; no redirect is followed: nothing goes astray."""
        import openai

        here = is_loopback(self._url)
        # Without TLS there is nothing to verify, and reading all certificates takes its time.
        more: dict[str, Any] = {} if self._url.startswith("https:") else {"verify": False}
        return openai.DefaultAsyncHttpxClient(follow_redirects=False, trust_env=not here, **more)

    async def _once(self, messages: Sequence[Message], max_tokens: int | None) -> AsyncGenerator[Part | Ended, None]:
        from openai import Timeout

        started, first = time.monotonic(), 0.0
        used: dict[str, int] = {}
        finish: str | None = None
        splitter = ThinkSplitter()
        async with self._client() as client:
            model = self.llama(async_http_client=client, max_tokens=max_tokens)
            timeout = Timeout(self.timeout, connect=min(self.timeout, CONNECT_SECONDS))
            options = {"timeout": timeout, "stream_options": {"include_usage": True}}
            async with aclosing(await model.astream_chat(_chat_messages(messages), **options)) as responses:
                async for response in responses:
                    finish = _finish_reason(response.raw) or finish
                    used |= {k: v for k, v in response.additional_kwargs.items() if k.endswith("_tokens")}
                    parts = splitter.feed(response.delta or "")
                    if thought := response.additional_kwargs.get("thinking_delta"):
                        parts.insert(0, Part(thought, thinking=True))
                    for part in parts:
                        first = first or time.monotonic()
                        yield part
        for part in splitter.end():
            first = first or time.monotonic()
            yield part
        if not first and finish is None:
            raise ConnectionError("the reply ended before its first word")
        now = time.monotonic()
        usage = Usage(
            used.get("prompt_tokens"),
            used.get("completion_tokens"),
            1000 * ((first or now) - started),
            1000 * (now - started),
        )
        yield Ended(usage, complete=finish not in (None, "length"))

    def _error(self, fault: Fault) -> LLMUnavailableError:
        what, then = {
            Kind.BUSY: ("does not answer", f"Start it (Ollama: `ollama serve`) or check BOR_LLM_BASE_URL. {_WITHOUT}"),
            Kind.TIMEOUT: ("does not answer in time", f"Raise BOR_LLM_TIMEOUT, or take a smaller model. {_WITHOUT}"),
            Kind.REFUSED: ("refuses the call", "Check BOR_LLM_API_KEY."),
            Kind.MISSING: (
                "is not there",
                f"Run `ollama pull {self.model}` if it is Ollama, or check BOR_LLM_MODEL and BOR_LLM_BASE_URL (../v1).",
            ),
            Kind.TOO_LONG: ("takes in less than it was given", "Lower BOR_LLM_CONTEXT."),
        }.get(fault.kind, ("gives no usable answer", "Check BOR_LLM_BASE_URL and BOR_LLM_MODEL."))
        return LLMUnavailableError(f"The model {self.model} at {self.address} {what} ({fault.detail}). {then}")


def _chat_messages(messages: Sequence[Message]) -> list[ChatMessage]:
    from llama_index.core.llms import ChatMessage

    return [ChatMessage(role=message.role, content=message.text) for message in messages]


def _finish_reason(raw: Any) -> str | None:
    choices = getattr(raw, "choices", None)
    return choices[0].finish_reason if choices else None
