"""Models behind a server: Ollama and any OpenAI-compatible API, through LlamaIndex's integrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.embeddings.ollama import OllamaEmbedding
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from ollama import ResponseError

from brainkit.embedding.cache import cache_file
from brainkit.embedding.embedder import Embedder
from brainkit.embedding.fence import Service
from brainkit.embedding.hosts import Host, is_loopback
from brainkit.embedding.hurry import QUERY_SECONDS
from brainkit.embedding.profiles import profile_of
from brainkit.errors import SettingsError

if TYPE_CHECKING:
    from brainkit.settings import Settings

OLLAMA_MODEL = "nomic-embed-text"
"""Used when BOR_EMBEDDING_MODEL is unset."""
_OTHERWISE = "Or set BOR_EMBEDDER=minilm to embed without a server."


class _Ollama(OllamaEmbedding):
    _old: bool = PrivateAttr(default=False)
    """Whether the server has only /api/embeddings, one text a call, as before Ollama 0.3."""

    def get_general_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        """Vectors of texts; a text beyond the model's window is an error and not cut, as it would be unasked."""
        if not self._old:
            try:
                reply = self._client.embed(self.model_name, texts, truncate=False, keep_alive=self.keep_alive)
                return [list(row) for row in reply.embeddings]
            except ResponseError as error:
                # A model that is not there is a 404 too, and names itself.
                if error.status_code != 404 or "model" in str(error.error).lower():
                    raise
        rows = [self._client.embeddings(self.model_name, text, keep_alive=self.keep_alive).embedding for text in texts]
        self._old = True
        return [list(row) for row in rows]

    def get_general_text_embedding(self, texts: str) -> list[float]:
        """Vector of one text."""
        (row,) = self.get_general_text_embeddings([texts])
        return row

    def digest(self) -> str:
        """Digest of the weights Ollama runs under this name, "" if it does not say."""
        names = {self.model_name, f"{self.model_name}:latest"}
        return next((model.digest or "" for model in self._client.list().models if model.model in names), "")

    def close(self) -> None:
        self._client.close()  # type: ignore[no-untyped-call]  # ships no types


class _OpenAILike(OpenAILikeEmbedding):
    api_key: str = Field(repr=False)

    def close(self) -> None:
        self._get_client().close()


def ollama_embedder(settings: Settings) -> Embedder:
    """Embedder over Ollama at BOR_OLLAMA_URL; nothing is sent before the first use.

    Raises:
        SettingsError: BOR_OLLAMA_URL is no address.
    """
    name = settings.embedding_model or OLLAMA_MODEL
    hosts = [
        Host(
            _Ollama(
                model_name=name,
                base_url=url,
                embed_batch_size=settings.embedding_batch,
                client_kwargs={"timeout": settings.embedding_timeout, "trust_env": not is_loopback(url)},
            ),
            _checked_url(url if "://" in url else f"http://{url}", "BOR_OLLAMA_URL", "http://127.0.0.1:11434"),
        )
        for url in addresses(settings.ollama_url)
    ]
    service = Service(
        f"Ollama at {_shown(hosts)} (model {name})",
        address_help=f"Start it with `ollama serve` or check BOR_OLLAMA_URL. {_OTHERWISE}",
        missing_help=f"Run `ollama pull {name}` or check BOR_EMBEDDING_MODEL.",
        query_seconds=min(settings.embedding_timeout, QUERY_SECONDS),
    )
    return _embedder(hosts, f"ollama/{name}", service, settings)


def openai_embedder(settings: Settings) -> Embedder:
    """Embedder over an OpenAI-compatible API at BOR_EMBEDDING_BASE_URL; nothing is sent before the first use.

    Raises:
        SettingsError: the address or the model is not set, or the address is none.
    """
    urls, name = settings.embedding_base_url, settings.embedding_model
    if not urls:
        raise SettingsError(
            "BOR_EMBEDDING_BASE_URL is not set: BOR_EMBEDDER=openai needs the address of the API, such as "
            "http://127.0.0.1:8080/v1. There is no default, so that no text goes where you did not send it."
        )
    if not name:
        raise SettingsError("BOR_EMBEDDING_MODEL is not set: BOR_EMBEDDER=openai needs the name of the model.")
    key = settings.embedding_api_key.get_secret_value() if settings.embedding_api_key else ""
    hosts = [
        Host(
            _OpenAILike(
                model_name=name,
                api_base=url,
                # Not empty: the client would then take OPENAI_API_KEY and hand it to whatever server this is.
                api_key=key or "none",
                embed_batch_size=settings.embedding_batch,
                timeout=settings.embedding_timeout,
                max_retries=0,  # brainkit retries itself, with a bound
                additional_kwargs={"encoding_format": "float"},  # base64, the client's default, is not known everywhere
                http_client=_http_client(url),
            ),
            _checked_url(url, "BOR_EMBEDDING_BASE_URL", "http://127.0.0.1:8080/v1"),
        )
        for url in addresses(urls)
    ]
    service = Service(
        f"The embedding API at {_shown(hosts)} (model {name})",
        address_help=f"Start it or check BOR_EMBEDDING_BASE_URL. {_OTHERWISE}",
        missing_help="Check BOR_EMBEDDING_MODEL, and whether BOR_EMBEDDING_BASE_URL must end in /v1.",
        secret=key,
        query_seconds=min(settings.embedding_timeout, QUERY_SECONDS),
    )
    return _embedder(hosts, f"openai/{name}", service, settings)


def addresses(urls: str) -> list[str]:
    """The addresses of a setting that may hold several.

    Example:
        >>> addresses("http://eule:11434, http://amsel:11434,")
        ['http://eule:11434', 'http://amsel:11434']
    """
    return [url.strip() for url in urls.split(",") if url.strip()]


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


def _shown(hosts: list[Host]) -> str:
    return " or ".join(host.name for host in hosts)


def _embedder(hosts: list[Host], name: str, service: Service, settings: Settings) -> Embedder:
    return Embedder(
        hosts,
        name=name,
        recipe={"provider": settings.embedder},
        expected=settings.embedding_dim,
        profile=profile_of(name.partition("/")[2]),
        service=service,
        batch=settings.embedding_batch,
        cache=cache_file(settings),
    )
