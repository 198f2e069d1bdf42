"""Many retrieval settings at one go: both channels are searched once, as deep as any of them goes, and fused here.

The order of either channel does not depend on how deep it is searched, and every candidate has its exact score from
both: so what a setting would have found is the part of the pool within its own depths, ranked by its own fusion.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from brainkit.retrieval.recall import RecalledChunk
from brainkit.retrieval.settings import RetrievalSettings

_ABSENT = int(np.iinfo(np.int64).max)


class Pool:
    """Candidates of both channels, searched deep, from which each setting takes its own.

    Args:
        chunks: candidates of one question under ``deepest(...)``.
        embedded: whether the question has an embedding; without, every mode is lexical.
    """

    def __init__(self, chunks: Sequence[RecalledChunk], *, embedded: bool) -> None:
        self._chunks, self._embedded = chunks, embedded
        self._ids = np.array([chunk.chunk_id for chunk in chunks], np.int64)
        self._dense = _ranks(chunk.dense_rank for chunk in chunks)
        self._lexical = _ranks(chunk.lexical_rank for chunk in chunks)
        self._cosine = np.array([np.nan if chunk.cosine is None else chunk.cosine for chunk in chunks], np.float64)
        self._share = np.array([chunk.lexical_share for chunk in chunks], np.float64)

    def fused(self, settings: RetrievalSettings) -> list[RecalledChunk]:
        """What ``search`` gives for these settings: the same chunks, ranks and scores, in the same order."""
        by_meaning = self._embedded and settings.mode != "lexical"
        by_words = not self._embedded or settings.mode != "dense"
        dense = np.where(self._dense <= (settings.dense if by_meaning else 0), self._dense, _ABSENT)
        lexical = np.where(self._lexical <= (settings.lexical if by_words else 0), self._lexical, _ABSENT)
        kept = np.flatnonzero((dense != _ABSENT) | (lexical != _ABSENT))
        dense, lexical = dense[kept], lexical[kept]
        scores = self._scores(settings, kept, dense, lexical)
        order = np.lexsort((self._ids[kept], -scores))
        columns = (column[order].tolist() for column in (kept, scores, dense, lexical))
        return [
            _copy(self._chunks[place], score, None if d == _ABSENT else d, None if x == _ABSENT else x)
            for place, score, d, x in zip(*columns, strict=True)
        ]

    def _scores(
        self, settings: RetrievalSettings, kept: np.ndarray, dense: np.ndarray, lexical: np.ndarray
    ) -> np.ndarray:
        """The statement's formulas, operation by operation, so that ties stay ties."""
        cosine, share = self._cosine[kept], self._share[kept]
        scores: np.ndarray
        if settings.mode == "lexical" or not self._embedded:
            scores = share if settings.rank == "bm25" else 1.0 / (1 + lexical.astype(np.float64))
        elif settings.mode == "dense":
            scores = np.where(np.isnan(cosine), -1.0, cosine)
        elif settings.fusion == "rrf":
            weighed = ((settings.dense_weight, dense), (settings.lexical_weight, lexical))
            one, other = (
                np.where(ranks == _ABSENT, 0.0, weight / (settings.k + ranks.astype(np.float64)))
                for weight, ranks in weighed
            )
            scores = one + other
        else:
            scores = settings.alpha * np.nan_to_num(cosine, nan=0.0) + (1 - settings.alpha) * share
        return scores


def deepest(settings: Iterable[RetrievalSettings], *, indexed: bool) -> dict[RetrievalSettings, list[int]]:
    """Searches that serve all settings, each with the places of those it serves.

    Args:
        settings: any.
        indexed: whether the dense channel goes through an approximate index: what that finds depends on the depth.
    """
    groups: defaultdict[tuple[Literal["bm25", "ts_rank", "ts_rank_cd"], int], list[tuple[int, RetrievalSettings]]] = (
        defaultdict(list)
    )
    for place, one in enumerate(settings):
        groups[one.rank, one.dense if indexed else 0].append((place, one))
    found = {}
    for (rank, _), members in groups.items():
        dense, lexical = (max(getattr(one, name) for _, one in members) for name in ("dense", "lexical"))
        found[RetrievalSettings(dense=dense, lexical=lexical, rank=rank)] = [place for place, _ in members]
    return found


def _copy(chunk: RecalledChunk, score: float, dense_rank: int | None, lexical_rank: int | None) -> RecalledChunk:
    """The chunk with another score and ranks; ``dataclasses.replace`` takes several times as long, and this is all."""
    copy = object.__new__(RecalledChunk)
    copy.__dict__.update(chunk.__dict__, score=score, dense_rank=dense_rank, lexical_rank=lexical_rank)
    return copy


def _ranks(ranks: Iterable[int | None]) -> np.ndarray:
    return np.array([_ABSENT if rank is None else rank for rank in ranks], np.int64)
