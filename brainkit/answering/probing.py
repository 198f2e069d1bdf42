"""Asks the embedder and the language model for real, and tells what they are and how quick."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, TypeVar

from brainkit.answering.llm import LLM, Ended, Message
from brainkit.answering.thinking import Part
from brainkit.embedding import Embedder
from brainkit.errors import EmbeddingError, LLMUnavailableError

T = TypeVar("T")
TEXTS: Final = 16
_TEXT: Final = "the battery of the UPS in the cellar was changed in spring, and the NAS did not notice. " * 4
_TASK: Final = "Count from one to twenty in English words, separated by commas. Nothing else."
MOST: Final = 512


class Probe(NamedTuple):
    """What came of asking: the part's name, whether it works, and what was found or what to do."""

    name: str
    passed: bool
    detail: str


def probe_embedder(embedder: Embedder) -> Probe:
    """Embed a question and a few texts."""
    try:
        start = time.monotonic()
        dimensions = len(embedder.base.get_query_embedding("ping"))
        first = time.monotonic()
        # The time makes them new to a cache.
        failures = embedder.embed_documents([f"Note {first}-{number}: {_TEXT}" for number in range(TEXTS)]).failures
        rate = TEXTS / max(time.monotonic() - first, 1e-9)
    except EmbeddingError as error:
        return Probe("probe embedder", passed=False, detail=str(error))
    if failures:
        return Probe("probe embedder", passed=False, detail=f"{embedder.name}: {next(iter(failures.values()))}")
    window = embedder.window_tokens
    read = f"reads {window} tokens at once" if window else "reads any length"
    detail = (
        f"{embedder.name}, {dimensions} dimensions, {read}, a question in {1000 * (first - start):.0f} ms, "
        f"{rate:.0f} texts/s"
    )
    return Probe("probe embedder", passed=True, detail=detail)


def probe_llm(llm: LLM | None) -> Probe:
    """Let the model say a few words; without one that is told, and no fault."""
    if llm is None:
        return Probe("probe llm", passed=True, detail="none: notes are quoted (BOR_LLM_BASE_URL is not set)")
    try:
        pieces, ended = _run(lambda: _said(llm))
        window = _run(llm.window)
    except LLMUnavailableError as error:
        return Probe("probe llm", passed=False, detail=str(error))
    usage = ended.usage
    said = usage.completion_tokens or pieces
    seconds = max((usage.total_ms - usage.first_ms) / 1000, 1e-9)
    told = f"the server says {window}" if window else "the server does not say"
    detail = (
        f"{llm.model} at {llm.address}, window {llm.context} tokens (BOR_LLM_CONTEXT; {told}), "
        f"first token after {usage.first_ms:.0f} ms, {said / seconds:.0f} tokens/s"
    )
    if window and window < llm.context:
        return Probe("probe llm", passed=False, detail=f"{detail}: set BOR_LLM_CONTEXT={window}")
    return Probe("probe llm", passed=True, detail=detail)


async def _said(llm: LLM) -> tuple[int, Ended]:
    pieces = 0
    ended: Ended | None = None
    async for part in llm.stream([Message("user", _TASK)], MOST):
        if isinstance(part, Part):
            pieces += 1
        else:
            ended = part
    assert ended is not None
    return pieces, ended


def _run(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """The result of a coroutine, also where an event loop is running already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(make())).result()
