"""Every setting of brainkit, once: a field here is a BOR_* variable and a keyword of ``Settings``."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self
from urllib.parse import urlsplit

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from brainkit.errors import SettingsError

PREFIX = "BOR_"
CHUNK_CAP_CHARS = 1200
"""No chunk is longer than this many characters, whatever BOR_CHUNK_TARGET_CHARS says (MiniLM reads about 1,000)."""


class Described(NamedTuple):
    """One setting as ``brainkit doctor`` prints it; ``value`` is masked when it is a secret."""

    variable: str
    value: str
    origin: Literal["keyword", "environment", "default"]
    help: str


class Settings(BaseSettings):
    """Where the brain lives and how it works; frozen.

    Keywords win over environment variables, those over the defaults.

    Raises:
        SettingsError: a value is not allowed; the message names the variable and what is.

    Example:
        >>> Settings(embedder="wordllama", chunk_target_chars=800).embedder
        'wordllama'
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True, populate_by_name=True
    )

    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("brainkit")),
        description="Folder of the brain: database, certificate, logs.",
    )
    database_url: SecretStr | None = Field(
        None, description="postgresql:// address of a server to use instead of the embedded one."
    )
    pg_bin: Path | None = Field(None, description="Directory with PostgreSQL's programs for the embedded server.")
    pg_osuser: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_-]{0,30}$")] = Field(
        "brainkit", description="System user the embedded server runs as when brainkit is run by root."
    )

    embedder: Literal["minilm", "wordllama", "ollama", "openai"] = Field(
        "minilm", description="What turns text into vectors: minilm, wordllama, ollama or openai (any compatible API)."
    )
    embedding_model: str | None = Field(None, description="Model name for ollama or openai.")
    embedding_dim: Annotated[int, Field(ge=1, le=4000)] | None = Field(
        None, description="Dimension the model must have; anything else fails before a row is written."
    )
    embedding_base_url: str | None = Field(
        None,
        description="Base URL of the openai embedder, such as http://host/v1; of several, the first that answers.",
    )
    embedding_api_key: SecretStr | None = Field(None, description="Key for the openai embedder, if it wants one.")
    embedding_timeout: Annotated[float, Field(gt=0, le=3600)] = Field(
        60.0, description="Seconds one embedding call may take."
    )
    embedding_batch: Annotated[int, Field(ge=1, le=1024)] = Field(32, description="Texts in one embedding call.")
    ollama_url: str = Field(
        "http://127.0.0.1:11434",
        validation_alias=AliasChoices("BOR_OLLAMA_URL", "OLLAMA_URL", "ollama_url"),
        description="Address of Ollama, or several (commas between them); OLLAMA_URL is read too.",
    )
    vector_cache: Path | Literal["off"] | None = Field(
        None, description="File that keeps vectors by content hash; off keeps none; in BOR_HOME if unset."
    )
    threads: Annotated[int, Field(ge=1, le=256)] | None = Field(
        None, description="Threads of the embedded embedder; the machine's cores if unset."
    )

    import_extensions: Annotated[tuple[str, ...], NoDecode] = Field(
        ("md", "markdown", "txt", "yaml", "yml", "json", "py"),
        description="File endings to import, separated by commas.",
    )
    max_file_mb: Annotated[float, Field(gt=0, le=100_000)] = Field(
        20.0, description="Larger files are skipped, and named."
    )
    chunk_target_chars: Annotated[int, Field(ge=200, le=20000)] = Field(
        1000, description=f"Characters a chunk aims at; never more than {CHUNK_CAP_CHARS} come out."
    )
    chunk_overlap_chars: Annotated[int, Field(ge=0, le=600)] = Field(
        200, description="Characters shared by neighbouring pieces of one over-long section."
    )
    scrub_email: bool = Field(False, description="Also redact e-mail addresses.")
    scrub_rules: Path | None = Field(None, description="TOML file with more scrub rules and an allow-list.")

    retrieval: str = Field(
        "",
        description="Retrieval settings as one string; used by recall, decide and ask.",
    )
    rerank_url: str | None = Field(None, description="Address of a server with /v1/rerank, for `+rerank(20)`.")
    rerank_key: SecretStr | None = Field(None, description="Key for that server, if it wants one.")
    gate: str = Field("", description="Gate that decides between answer and deflection.")
    relevance_threshold: float | None = Field(
        None, allow_inf_nan=False, description="Overrides the certified threshold of the gate."
    )
    llm_base_url: str | None = Field(
        None, description="Base URL of an OpenAI-compatible API that writes the answers; unset, notes are quoted."
    )
    llm_model: str | None = Field(None, description="Name of the model at that address.")
    llm_api_key: SecretStr | None = Field(None, description="Key for that address, if it wants one.")
    llm_timeout: Annotated[float, Field(gt=0, le=3600)] = Field(
        120.0, description="Seconds the model may be silent: before its first word, and between two."
    )
    llm_context: Annotated[int, Field(ge=1024, le=10_000_000)] = Field(
        8192, description="Tokens the model takes in and gives out together; as many documents are given as fit."
    )
    stream_thinking: bool = Field(True, description="Pass a model's thinking on to the reader.")
    log: Literal["debug", "info", "warning", "error"] = Field("error", description="How much the command line logs.")
    steering_max_chars: Annotated[int, Field(ge=0, le=100_000)] = Field(
        4000, description="Budget of the owner's steering text."
    )

    http_port: Annotated[int, Field(ge=0, le=65535)] = Field(
        8710, description="Port of `brainkit serve`; 0 takes a free one."
    )
    http_token: Annotated[SecretStr, Field(min_length=16, max_length=512)] | None = Field(
        None,
        description="Token that may ask `brainkit serve`, 16 characters or more; made anew at each start if unset.",
    )
    http_admin_token: Annotated[SecretStr, Field(min_length=16, max_length=512)] | None = Field(
        None, description="Token that may also see the catalogue and steer; made anew at each start if unset."
    )
    mcp_roots: Annotated[tuple[Path, ...], NoDecode] = Field(
        (),
        description=f"Folders that an agent may import by `brainkit mcp`, with {os.pathsep} between them.",
    )

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise SettingsError(_explain(error)) from None

    @field_validator("import_extensions", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            value = value.split(",")
        if isinstance(value, (list, tuple)):
            endings = tuple(dict.fromkeys(str(v).strip().lower().lstrip(".") for v in value if str(v).strip()))
            if not endings:
                raise ValueError("give at least one file ending, such as md,yaml")
            return endings
        return value

    @field_validator("mcp_roots", mode="before")
    @classmethod
    def _folders(cls, value: object) -> object:
        if isinstance(value, str):
            value = [part for part in value.split(os.pathsep) if part.strip()]
        if not isinstance(value, (list, tuple)):
            return value
        folders = tuple(_at_home(Path(part)) for part in value)
        if relative := [folder for folder in folders if not folder.is_absolute()]:
            raise ValueError(f"{relative[0]} is relative, and an agent starts brainkit anywhere")
        return folders

    @field_validator("http_token", "http_admin_token")
    @classmethod
    def _sendable(cls, value: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if value is not None and not re.fullmatch(r"[A-Za-z0-9._~+/=-]+", value.get_secret_value()):
            raise ValueError("letters, digits and . _ ~ + / = - only, as a header can hold them")
        if value is not None and value == info.data.get("http_token"):
            raise ValueError("another one than BOR_HTTP_TOKEN, which may do less")
        return value

    @model_validator(mode="after")
    def _defaults_of_the_embedder(self) -> Self:
        for name, default in (("retrieval", default_retrieval), ("gate", default_gate)):
            if name not in self.model_fields_set:
                self.__dict__[name] = default(self.embedder)  # still counts as not given
        return self

    @field_validator("home", "pg_bin", "scrub_rules", "vector_cache")
    @classmethod
    def _expand(cls, value: Path | str | None) -> Path | str | None:
        return _at_home(value).absolute() if isinstance(value, Path) else value

    @field_validator("llm_base_url")
    @classmethod
    def _one_address(cls, value: str | None) -> str | None:
        if value is not None and "," in value:
            raise ValueError("one address, without commas")
        return cls._http_only(value)

    @field_validator("ollama_url", "embedding_base_url")
    @classmethod
    def _http_only(cls, value: str | None) -> str | None:
        """One address, or several separated by commas."""
        if value is not None:
            try:
                parts = [urlsplit(url.strip()) for url in value.rstrip(", ").split(",")]
                usable = all(p.scheme in {"http", "https"} and bool(p.hostname) and p.port != 0 for p in parts)
            except ValueError:
                usable = False
            if not usable:
                raise ValueError("an address that starts with http:// or https:// and names a host")
        return value

    @field_validator("database_url")
    @classmethod
    def _postgres_only(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().startswith(("postgresql://", "postgres://")):
            raise ValueError("an address that starts with postgresql://")
        return value

    def describe(self) -> list[Described]:
        """Every setting with its value (secrets masked) and where it came from."""
        return [
            Described(variable_of(name), _shown(getattr(self, name)), self._origin(name), field.description or "")
            for name, field in type(self).model_fields.items()
        ]

    def _origin(self, name: str) -> Literal["keyword", "environment", "default"]:
        if name not in self.model_fields_set:
            return "default"
        variables = [variable_of(name)] + (["OLLAMA_URL"] if name == "ollama_url" else [])
        seen = {key.upper(): value for key, value in os.environ.items()}
        for variable in variables:
            with contextlib.suppress(SettingsError):  # what stands there was not allowed, and a keyword went before it
                if seen.get(variable) and type(self)(**{name: seen[variable]}).__dict__[name] == self.__dict__[name]:
                    return "environment"
        return "keyword"

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Fields as ``repr`` shows them: nothing that a log must not hold."""
        return [(name, _without_password(value)) for name, value in super().__repr_args__()]


def default_retrieval(embedder: str) -> str:
    """Retrieval string for an embedder: with late interaction for the one that gives vectors of single tokens.

    Example:
        >>> default_retrieval("ollama")
        'hybrid(dense=30,lexical=30,fusion=convex,alpha=0.5,docs=2)'
    """
    return "hybrid(dense=30,lexical=30,fusion=convex,alpha=0.5,docs=2)" + "+maxsim(10)" * (embedder == "minilm")


def default_gate(embedder: str) -> str:
    """Gate for an embedder: that which looks at single tokens where there are vectors of them.

    Example:
        >>> default_gate("minilm"), default_gate("ollama")
        ('evidence', 'score')
    """
    return "evidence" if embedder == "minilm" else "score"


def variable_of(field: str) -> str:
    """Name of a setting's environment variable: ``variable_of("home") == "BOR_HOME"``."""
    return PREFIX + field.upper()


def unknown_variables() -> dict[str, str]:
    """BOR_* variables in the environment that are no setting, each with the nearest name that is (or '')."""
    known = [variable_of(name) for name in Settings.model_fields]
    return {
        key: next(iter(difflib.get_close_matches(key, known, 1)), "")
        for key in sorted(os.environ)
        if key.startswith(PREFIX) and key not in known
    }


def _at_home(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # pydantic passes on nothing but ValueError
        raise ValueError(f"there is no user {path.parts[0]}") from None


def _shown(value: object) -> str:
    if isinstance(value, SecretStr):
        return "********"
    if isinstance(value, tuple):
        return (os.pathsep if any(isinstance(part, Path) for part in value) else ",").join(map(str, value))
    return "" if value is None else str(_without_password(value))


def _without_password(value: object) -> object:
    """A URL's ``user:password@`` masked; everything else as it is."""
    return re.sub(r"(?<=://)[^/@]*@", "********@", value) if isinstance(value, str) else value


def _explain(error: ValidationError) -> str:
    """The first faults as lines that name the variable and what is allowed; never the value of a secret."""
    lines = []
    for fault in error.errors():
        name = str(fault["loc"][0]) if fault["loc"] else "?"
        field = Settings.model_fields.get(name.lower().removeprefix("bor_"))
        if fault["type"] == "extra_forbidden" or field is None:
            near = difflib.get_close_matches(name, list(Settings.model_fields), 1)
            lines.append(f"{name} is not a setting" + (f"; did you mean {near[0]}?" if near else ""))
            continue
        secret = "SecretStr" in str(field.annotation)
        given = "" if secret else f" = {_without_password(fault['input'])!r}"
        reason = fault["msg"].removeprefix("Value error, ")
        variable = variable_of(name.lower().removeprefix("bor_"))
        lines.append(f"{variable}{given} is not allowed: {reason[0].lower()}{reason[1:]}. {field.description}")
    return "\n".join(lines)
