"""The embedder the rest of brainkit uses: prefixes, windows and checks around any LlamaIndex embedding."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainkit.embedding.faults import Fault
from brainkit.embedding.fence import Fence, Service
from brainkit.embedding.identity import ModelIdentity, fingerprint
from brainkit.embedding.profiles import CHARS_PER_TOKEN, Profile
from brainkit.embedding.text import BLANK, MAX_WINDOWS, clean, normalised, windows
from brainkit.errors import DimensionMismatchError

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from brainkit.embedding.minilm import TokenVectors

OVERLAP_SHARE = 1 / 8
"""Part of a window of characters that the next one repeats."""


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
        model: Any LlamaIndex embedding.
        name: Name in the identity; the model's own if None.
        recipe: What shapes the vectors beyond name, prefixes and windows, for the fingerprint.
        dimensions: Length of its vectors; None asks the model at first use.
        expected: Length they must have (BOR_EMBEDDING_DIM).
        profile: Prefixes and window.
        service: How errors speak of it.
        batch: Texts in one call.

    Raises:
        DimensionMismatchError: ``expected`` is not the model's dimension; at once if ``dimensions`` is given.
    """

    def __init__(
        self,
        model: BaseEmbedding,
        *,
        name: str | None = None,
        recipe: Mapping[str, object] | None = None,
        dimensions: int | None = None,
        expected: int | None = None,
        profile: Profile = Profile(),  # noqa: B008 - immutable
        service: Service | None = None,
        batch: int = 32,
    ) -> None:
        self.name = name or model.model_name
        self._model = model
        self._recipe = dict(recipe or {"class": model.class_name()})
        self._expected = expected
        self._profile = profile
        self._batch = min(batch, model.embed_batch_size)
        self._fence = Fence(model, service or Service(self.name))
        self._lock = threading.Lock()
        self._identity = None if dimensions is None else self._identify(dimensions)

    @property
    def identity(self) -> ModelIdentity:
        """The model's identity; a server is asked once, at first use.

        Raises:
            EmbedderUnavailableError: the server does not answer or lacks the model; the next access asks again.
            DimensionMismatchError: the model's dimension is not BOR_EMBEDDING_DIM.
        """
        with self._lock:
            if self._identity is None:
                self._identity = self._identify(self._fence.probe())
            return self._identity

    @property
    def base(self) -> BaseEmbedding:
        """The same vectors as a LlamaIndex embedding: prefixes, windows and checks included; a failure raises."""
        from brainkit.embedding.adapter import EmbedderEmbedding

        return EmbedderEmbedding(self)

    def embed_documents(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> EmbedResult:
        """Vectors of texts to be stored; a text that cannot be embedded is named in ``failures``, the others go on.

        NUL, lone surrogates, blank and very long texts are no failure: see :mod:`brainkit.embedding.text`.

        Args:
            texts: Any number of texts of any length.
            progress: Called after each batch with the number of texts done so far.

        Raises:
            EmbedderUnavailableError: the model does not answer at all; nothing of this call is returned.
            DimensionMismatchError: the model's dimension is not BOR_EMBEDDING_DIM, or changed since first use.
        """
        dimensions = self.identity.dimensions
        pieces = [
            (owner, self._profile.document_prefix + piece)
            for owner, text in enumerate(texts)
            for piece in self._pieces(text)
        ]
        sums = np.zeros((len(texts), dimensions), np.float32)
        failures: dict[int, str] = {}
        slow: list[str] = []
        for start in range(0, len(pieces), self._batch):
            part = pieces[start : start + self._batch]
            rows = self._fence.documents([piece for _, piece in part], dimensions, slow)
            for (owner, _), row in zip(part, rows, strict=True):
                if isinstance(row, Fault):
                    failures[owner] = row.detail
                else:
                    sums[owner] += row
            if progress is not None:
                after = start + len(part)
                progress(pieces[after][0] if after < len(pieces) else len(texts))
        vectors = normalised(sums)
        vectors[list(failures)] = np.nan
        return EmbedResult(vectors, failures)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a question: float32 ``[dimensions]``, of length 1.

        Raises:
            EmbedderUnavailableError: the model does not answer.
            EmbeddingError: it answers, but has no vector for this text.
        """
        dimensions = self.identity.dimensions
        prefix = self._profile.query_prefix
        rows = [self._fence.query(prefix + piece, dimensions) for piece in self._pieces(text)]
        return rows[0] if len(rows) == 1 else normalised(np.sum(rows, axis=0))

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors] | None:
        """Wordpieces and their vectors for late interaction, or None for a model that does not show them."""
        token_vectors: Callable[[list[str]], list[TokenVectors]] | None = getattr(self._model, "token_vectors", None)
        return None if token_vectors is None else token_vectors(list(texts))

    def close(self) -> None:
        """Close connections to a server; the packaged models have none."""
        close: Callable[[], Any] | None = getattr(self._model, "close", None)
        if close is not None:
            close()

    def _pieces(self, text: str) -> list[str]:
        text = clean(text)
        size = self._profile.window_chars(text)
        # A window may be all blanks; it has nothing to add, and a server may refuse it.
        pieces = [text[span] for span in windows(len(text), size, int(size * OVERLAP_SHARE))]
        return [piece for piece in pieces if piece.strip()] or [BLANK]

    def _identify(self, dimensions: int) -> ModelIdentity:
        if self._expected not in (None, dimensions):
            raise DimensionMismatchError(
                f"{self.name} gives vectors of {dimensions} dimensions, but BOR_EMBEDDING_DIM = {self._expected}. "
                f"Set BOR_EMBEDDING_DIM={dimensions} or unset it, or choose another model."
            )
        digest: Callable[[], str] | None = getattr(self._model, "digest", None)
        recipe = {
            **self._recipe,
            "name": self.name,
            "dimensions": dimensions,
            "prefixes": [self._profile.document_prefix, self._profile.query_prefix],
            "windows": self._profile.window_tokens
            and [self._profile.window_tokens, CHARS_PER_TOKEN, OVERLAP_SHARE, MAX_WINDOWS, BLANK],
            "digest": self._fence.ask(digest) if digest else "",
        }
        return ModelIdentity(self.name, dimensions, fingerprint(recipe))
