"""Models behind a server: Ollama and any OpenAI-compatible API, through LlamaIndex's integrations."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from llama_index.core.bridge.pydantic import Field
from llama_index.embeddings.ollama import OllamaEmbedding  # type: ignore[import-untyped]  # ships no types
from llama_index.embeddings.openai_like import OpenAILikeEmbedding  # type: ignore[import-untyped]  # ships no types

from brainkit.embedding.embedder import Embedder
from brainkit.embedding.fence import Service
from brainkit.embedding.profiles import profile_of
from brainkit.errors import SettingsError

if TYPE_CHECKING:
    from brainkit.settings import Settings

OLLAMA_MODEL = "nomic-embed-text"
"""Used when BOR_EMBEDDING_MODEL is unset."""
_OTHERWISE = "Or set BOR_EMBEDDER=minilm to embed without a server."


class _Ollama(OllamaEmbedding):  # type: ignore[misc]  # untyped base
    def digest(self) -> str:
        """Digest of the weights Ollama runs under this name, "" if it does not say."""
        names = {self.model_name, f"{self.model_name}:latest"}
        return next((model.digest or "" for model in self._client.list().models if model.model in names), "")

    def close(self) -> None:
        self._client.close()


class _OpenAILike(OpenAILikeEmbedding):  # type: ignore[misc]  # untyped base
    api_key: str = Field(repr=False)

    def close(self) -> None:
        self._get_client().close()


def ollama_embedder(settings: Settings) -> Embedder:
    """Embedder over Ollama at BOR_OLLAMA_URL; nothing is sent before the first use.

    Raises:
        SettingsError: BOR_OLLAMA_URL is no address.
    """
    url, name = settings.ollama_url, settings.embedding_model or OLLAMA_MODEL
    shown = _checked_url(url if "://" in url else f"http://{url}", "BOR_OLLAMA_URL", "http://127.0.0.1:11434")
    model = _Ollama(
        model_name=name,
        base_url=url,
        embed_batch_size=settings.embedding_batch,
        client_kwargs={"timeout": settings.embedding_timeout, "trust_env": not is_loopback(url)},
    )
    service = Service(
        f"Ollama at {shown} (model {name})",
        address_help=f"Start it with `ollama serve` or check BOR_OLLAMA_URL. {_OTHERWISE}",
        missing_help=f"Run `ollama pull {name}` or check BOR_EMBEDDING_MODEL.",
    )
    return _embedder(model, f"ollama/{name}", service, settings)


def openai_embedder(settings: Settings) -> Embedder:
    """Embedder over an OpenAI-compatible API at BOR_EMBEDDING_BASE_URL; nothing is sent before the first use.

    Raises:
        SettingsError: the address or the model is not set, or the address is none.
    """
    url, name = settings.embedding_base_url, settings.embedding_model
    if not url:
        raise SettingsError(
            "BOR_EMBEDDING_BASE_URL is not set: BOR_EMBEDDER=openai needs the address of the API, such as "
            "http://127.0.0.1:8080/v1. There is no default, so that no text goes where you did not send it."
        )
    if not name:
        raise SettingsError("BOR_EMBEDDING_MODEL is not set: BOR_EMBEDDER=openai needs the name of the model.")
    shown = _checked_url(url, "BOR_EMBEDDING_BASE_URL", "http://127.0.0.1:8080/v1")
    key = settings.embedding_api_key.get_secret_value() if settings.embedding_api_key else ""
    model = _OpenAILike(
        model_name=name,
        api_base=url,
        # Not empty: the client would then take OPENAI_API_KEY and hand it to whatever server this is.
        api_key=key or "none",
        embed_batch_size=settings.embedding_batch,
        timeout=settings.embedding_timeout,
        max_retries=0,  # brainkit retries itself, with a bound
        additional_kwargs={"encoding_format": "float"},  # base64, the client's default, is not understood everywhere
        http_client=_http_client(url),
    )
    service = Service(
        f"The embedding API at {shown} (model {name})",
        address_help=f"Start it or check BOR_EMBEDDING_BASE_URL. {_OTHERWISE}",
        missing_help="Check BOR_EMBEDDING_MODEL, and whether BOR_EMBEDDING_BASE_URL must end in /v1.",
        secret=key,
    )
    return _embedder(model, f"openai/{name}", service, settings)


def is_loopback(url: str) -> bool:
    """Whether an address, with or without a scheme, is this machine's own, where a proxy has no business.

    Example:
        >>> is_loopback("http://localhost:11434"), is_loopback("127.0.0.1:8080"), is_loopback("http://192.0.2.7")
        (True, True, False)
    """
    host = urlsplit(url if "://" in url else f"//{url}").hostname or "localhost"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _checked_url(url: str, variable: str, example: str) -> str:
    """The address without user and password."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(f"{variable} is not allowed: it must be an http:// or https:// address, such as {example}.")
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _http_client(url: str) -> Any:
    if not is_loopback(url):
        return None
    import openai

    return openai.DefaultHttpxClient(trust_env=False)


def _embedder(model: Any, name: str, service: Service, settings: Settings) -> Embedder:
    return Embedder(
        model,
        name=name,
        recipe={"provider": settings.embedder},
        expected=settings.embedding_dim,
        profile=profile_of(name.partition("/")[2]),
        service=service,
        batch=settings.embedding_batch,
    )
