"""The embedder the rest of brainkit uses: prefixes, windows and checks around any LlamaIndex embedding."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from brainkit.embedding.cache import VectorCache
from brainkit.embedding.faults import Fault, Kind
from brainkit.embedding.fence import Fence, Row, Service
from brainkit.embedding.hosts import Host
from brainkit.embedding.hurry import QUERY_SECONDS, Hurry, Runner
from brainkit.embedding.identity import ModelIdentity, fingerprint
from brainkit.embedding.profiles import CHARS_PER_TOKEN, Profile
from brainkit.embedding.text import BLANK, MAX_WINDOWS, clean, normalised, windows
from brainkit.errors import DimensionMismatchError, EmbedderUnavailableError, EmbeddingError

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from brainkit.embedding.minilm import TokenVectors

T = TypeVar("T")

OVERLAP_SHARE = 1 / 8
"""Part of a window of characters that the next one repeats."""
SHORTEST = 64
"""Characters below which a text that a server calls too long is not halved any more."""


class EmbedResult(NamedTuple):
    """Vectors of texts.

    Attributes:
        vectors: float32 ``[texts, dimensions]``, rows of length 1; a row of NaN where a text failed.
        failures: Index of each failed text with the reason.
    """

    vectors: NDArray[np.float32]
    failures: dict[int, str]


class Embedder:
    """Checked vectors of texts, safe to call from several threads.

    Args:
        model: Any LlamaIndex embedding, or the places where the same one runs, the preferred first.
        name: Name in the identity; the model's own if None.
        recipe: What shapes the vectors beyond name, prefixes and windows, for the fingerprint.
        dimensions: Length of its vectors; None asks the model at first use.
        expected: Length they must have (BOR_EMBEDDING_DIM).
        profile: Prefixes and window.
        service: How errors speak of it.
        batch: Texts in one call.
        cache: File of vectors made earlier (:class:`VectorCache`); None keeps none.

    Raises:
        DimensionMismatchError: ``expected`` is not the model's dimension; at once if ``dimensions`` is given.
    """

    def __init__(
        self,
        model: BaseEmbedding | Sequence[Host],
        *,
        name: str | None = None,
        recipe: Mapping[str, object] | None = None,
        dimensions: int | None = None,
        expected: int | None = None,
        profile: Profile = Profile(),  # noqa: B008 - immutable
        service: Service | None = None,
        batch: int = 32,
        cache: Path | None = None,
    ) -> None:
        hosts = [*model] if isinstance(model, Sequence) else [Host(model)]
        self._model = hosts[0].model
        self.name = name or self._model.model_name
        self._recipe = dict(recipe or {"class": self._model.class_name()})
        self._expected = expected
        self._profile = profile
        self._batch = min(batch, self._model.embed_batch_size)
        self._cache_file = cache
        service = service or Service(self.name)
        self._fence = Fence(hosts, service)
        self._single = [Fence([host], service) for host in hosts]
        self._hurry = Hurry(service.query_seconds, service.late) if service.query_seconds else None
        self._lock = threading.Lock()
        self._assumed: ModelIdentity | None = None
        self._identity = None if dimensions is None else self._identify(dimensions, "")

    @property
    def identity(self) -> ModelIdentity:
        """The model's identity; a server is asked at first use, with the short patience of a question.

        Raises:
            EmbedderUnavailableError: the server does not answer in time or lacks the model. The next access asks again,
                but fails at once for some seconds after a failure.
            DimensionMismatchError: the model's dimension is not BOR_EMBEDDING_DIM.
        """
        return self._identity or self._hurried(lambda fence: self._identity or self._found_out(fence))

    def assume(self, identity: ModelIdentity) -> None:
        """Say which model this was when its server last answered: should it turn out another, no vector is given."""
        self._assumed = identity

    def forget(self) -> None:
        """Forget the vectors in the cache."""
        if self._cache_file is not None:
            VectorCache(self._cache_file, "").clear()

    def identify(self) -> ModelIdentity:
        """The identity, with the patience of an import: a server may need BOR_EMBEDDING_TIMEOUT to load its model.

        Raises:
            EmbedderUnavailableError: the server does not answer or lacks the model.
            DimensionMismatchError: the model's dimension is not BOR_EMBEDDING_DIM.
        """
        self._assumed = None
        return self._identity or self._patient(lambda: self._found_out(self._fence))

    @property
    def window_tokens(self) -> int | None:
        """Tokens the model reads at once; longer texts are read in windows. None: there is no limit to heed here."""
        return self._profile.window_tokens

    @property
    def base(self) -> BaseEmbedding:
        """The same vectors as a LlamaIndex embedding: prefixes, windows and checks included; a failure raises."""
        from brainkit.embedding.adapter import EmbedderEmbedding

        return EmbedderEmbedding(self)

    def embed_documents(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> EmbedResult:
        """Vectors of texts to be stored; a text that cannot be embedded is named in ``failures``, the others go on.

        NUL, lone surrogates, blank and very long texts are no failure: see :mod:`brainkit.embedding.text`. With a cache
        only texts that it does not know go to the model; vectors out of it were rounded to float16.

        Args:
            texts: Any number of texts of any length.
            progress: Called after each batch with the number of texts done so far.

        Raises:
            EmbedderUnavailableError: the model does not answer at all; nothing of this call is returned.
            DimensionMismatchError: the model's dimension is not BOR_EMBEDDING_DIM, or changed since first use.
        """
        identity = self.identify()
        if self._cache_file is None:
            return self._patient(lambda: self._embed(texts, identity.dimensions, progress))
        cache = VectorCache(self._cache_file, identity.fingerprint)
        known = cache.get(texts)
        missing = [index for index in range(len(texts)) if index not in known]

        def after_known(done: int) -> None:
            if progress is not None:
                progress(len(known) + done)

        fresh = self._patient(
            lambda: self._embed([texts[index] for index in missing], identity.dimensions, after_known)
        )
        cache.put([texts[index] for index in missing], fresh.vectors)
        if not missing:
            after_known(0)
        vectors = np.empty((len(texts), identity.dimensions), np.float32)
        vectors[missing] = fresh.vectors
        for index, vector in known.items():
            vectors[index] = vector
        return EmbedResult(vectors, {missing[index]: reason for index, reason in fresh.failures.items()})

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a question: float32 ``[dimensions]``, of length 1; within 2 seconds, or not at all.

        Raises:
            EmbedderUnavailableError: the model does not answer in time, or did not a few seconds ago.
            EmbeddingError: it answers, but has no vector for this text.
        """
        return self._hurried(partial(self._query, text))

    def similarity(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Cosine of a question with each text, ``[texts]``; NaN for all where the model cannot be had."""
        try:
            return self.embed_documents(texts).vectors @ self.embed_query(question)
        except EmbeddingError:
            return np.full(len(texts), np.nan, np.float32)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors] | None:
        """Wordpieces and their vectors for late interaction, or None for a model that does not show them."""
        token_vectors: Callable[[list[str]], list[TokenVectors]] | None = getattr(self._model, "token_vectors", None)
        return None if token_vectors is None else token_vectors(list(texts))

    def close(self) -> None:
        """Close connections to a server; the packaged models have none."""
        for host in self._fence.hosts:
            close: Callable[[], Any] | None = getattr(host.model, "close", None)
            if close is not None:
                close()

    def _hurried(self, work: Callable[[Fence], T]) -> T:
        if self._hurry is None:
            return work(self._fence)
        fences = [fence for fence in self._single if not fence.hosts[0].resting] or self._single
        return self._hurry.run([Runner(partial(work, fence), fence.hosts[0].failed) for fence in fences])

    def _patient(self, work: Callable[[], T]) -> T:
        try:
            done = work()
        except EmbedderUnavailableError as error:
            if self._hurry:
                self._hurry.failed(error)
            raise
        if self._hurry:
            self._hurry.worked()
        return done

    def _query(self, text: str, fence: Fence) -> NDArray[np.float32]:
        identity = self._identity or self._found_out(fence)
        if self._assumed not in (None, identity):
            raise EmbeddingError(f"{self.name} is another model than it was for these notes: run `brainkit embed`.")
        dimensions = identity.dimensions
        rows = []
        for piece in self._pieces(text):
            row = _whole(piece, lambda part: fence.query(self._profile.query_prefix + part, dimensions))
            if isinstance(row, Fault):
                raise EmbeddingError(f"{fence.name} gives no vector for this question ({row.detail}).")
            rows.append(row)
        return rows[0] if len(rows) == 1 else normalised(np.sum(rows, axis=0))

    def _embed(self, texts: Sequence[str], dimensions: int, progress: Callable[[int], None] | None) -> EmbedResult:
        prefix = self._profile.document_prefix
        pieces = [(owner, piece) for owner, text in enumerate(texts) for piece in self._pieces(text)]
        sums = np.zeros((len(texts), dimensions), np.float32)
        failures: dict[int, str] = {}
        slow: list[str] = []

        def alone(piece: str) -> Row:
            return self._fence.documents([prefix + piece], dimensions, slow)[0]

        for start in range(0, len(pieces), self._batch):
            part = pieces[start : start + self._batch]
            rows = self._fence.documents([prefix + piece for _, piece in part], dimensions, slow)
            for (owner, piece), row in zip(part, rows, strict=True):
                whole = _whole(piece, alone, row)
                if isinstance(whole, Fault):
                    failures[owner] = whole.detail
                else:
                    sums[owner] += whole
            if progress is not None:
                after = start + len(part)
                progress(pieces[after][0] if after < len(pieces) else len(texts))
        vectors = normalised(sums)
        vectors[list(failures)] = np.nan
        return EmbedResult(vectors, failures)

    def _pieces(self, text: str) -> list[str]:
        text = clean(text)
        size = self._profile.window_chars(text)
        # A window may be all blanks; it has nothing to add, and a server may refuse it.
        pieces = [text[span] for span in windows(len(text), size, int(size * OVERLAP_SHARE))]
        return [piece for piece in pieces if piece.strip()] or [BLANK]

    def _found_out(self, fence: Fence) -> ModelIdentity:
        # One thread asks a host, the others wait for it, though not for ever: it may hang.
        lock = fence.hosts[0].lock
        asking = lock.acquire(timeout=QUERY_SECONDS)
        try:
            if self._identity is not None:
                return self._identity
            dimensions, digest = fence.probe(), fence.digest()
        finally:
            if asking:
                lock.release()
        with self._lock:
            if self._identity is None:
                self._identity = self._identify(dimensions, digest)
                for host in self._fence.hosts:
                    host.expect(digest)
        return self._identity

    def _identify(self, dimensions: int, digest: str) -> ModelIdentity:
        if self._expected not in (None, dimensions):
            raise DimensionMismatchError(
                f"{self.name} gives vectors of {dimensions} dimensions, but BOR_EMBEDDING_DIM = {self._expected}. "
                f"Set BOR_EMBEDDING_DIM={dimensions} or unset it, or choose another model."
            )
        recipe = {
            **self._recipe,
            "name": self.name,
            "dimensions": dimensions,
            "prefixes": [self._profile.document_prefix, self._profile.query_prefix],
            "windows": self._profile.window_tokens
            and [self._profile.window_tokens, CHARS_PER_TOKEN, OVERLAP_SHARE, MAX_WINDOWS, BLANK],
            "digest": digest,
        }
        return ModelIdentity(self.name, dimensions, fingerprint(recipe))


def _whole(piece: str, embed: Callable[[str], Row], row: Row | None = None) -> Row:
    """The vector of a piece; when the server finds it too long, the mean of its halves' ones, and so on."""
    row = embed(piece) if row is None else row
    if not isinstance(row, Fault) or row.kind is not Kind.TOO_LONG or len(piece) <= SHORTEST:
        return row
    size = math.ceil(len(piece) * (1 + OVERLAP_SHARE) / 2)
    halves = (piece[span] for span in windows(len(piece), size, int(size * OVERLAP_SHARE)))
    rows = []
    for half in halves:
        if half.strip():
            part = _whole(half, embed)
            if isinstance(part, Fault):
                return part
            rows.append(part)
    return normalised(np.sum(rows, axis=0))
