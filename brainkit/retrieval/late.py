"""Late evidence: how well the first chunks fit a question word by word, from token vectors retrieval already holds.

Every chunk of a large brain is about something the question names; an answer needs all of its words to find a match,
near each other. So nothing here is a plain mean, which one strong match can carry: all are smooth minima or penalties.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

CHUNKS: Final = 2
"""Chunks that are looked at, from the first: five or ten cost more and separate no better."""
SHARPNESS: Final = 5.0
"""Of the smooth minimum: 0 would be the mean, infinity the minimum."""
BLOCK: Final = 8
"""Tokens by which a passage moves on through a chunk."""
BLOCKS: Final = 3
"""Blocks in a passage: 24 tokens, about a sentence."""
FUNCTION_SHARE: Final = 0.25
"""Weight of a function word, as a share of the terms' mean idf: "who" and "when" want an answer of a kind."""
MEAN_SHARE: Final = 0.75
"""Weight of the mean match beside a chunk's own score where the better of the chunks is chosen."""
TITLE: Final = 0.7
"""Share of capitals beyond which a question is written like a title, and its capitals mark no names."""

_NAMELIKE = re.compile(r"\d|\w[-_/.@:]\w|[a-zß-ÿ][A-Z]")
_WORD = re.compile(r"[^\W_]+")


class LateEvidence(NamedTuple):
    """How well the first chunks fit; higher means better, 0 where nothing could be compared.

    Attributes:
        passage_cosine: highest cosine of a passage of about a sentence, its token vectors pooled, -1..1.
        passage_match: the best passage's smooth minimum, over all words of the question alike, of the word's best
            match, -1..1. Function words count too: in context "when" is near to a date.
        word_match: the better chunk's smooth minimum of its best match for each word, weighted by idf, -1..1: one rare
            word that finds nothing weighs more than several that do.
        name_match: 1 less the idf share of names, numbers and identifiers times how badly the better chunk matches
            them, -1..1; 1 without any.
    """

    passage_cosine: float = 0.0
    passage_match: float = 0.0
    word_match: float = 0.0
    name_match: float = 0.0


class Words(NamedTuple):
    """A question's words as the embedder's wordpieces spell them.

    Attributes:
        texts: the words, folded, punctuation left out.
        starts: index of each one's first wordpiece [words].
        ends: index after its last one [words].
        idf: weight of each, 0 for a function word [words].
    """

    texts: tuple[str, ...]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    idf: NDArray[np.float64]


def measure_late(
    question: str,
    tokens: Sequence[str],
    vectors: Floats,
    idf: Mapping[str, float],
    chunks: Sequence[Floats],
    scores: Sequence[float],
) -> LateEvidence:
    """Late evidence of a question.

    Args:
        question: as it was asked; its capitals tell names.
        tokens: its wordpieces, "##" before those that continue a word.
        vectors: their normalised vectors [tokens, d].
        idf: inverse document frequency of its terms, by word.
        chunks: normalised token vectors [tokens, d] of the chunks to look at.
        scores: absolute score of each of them.
    """
    words = split_words(tokens, idf)
    asked, weights = vectors.astype(np.float32), _weights(words.idf)
    passages: list[tuple[float, float]] = []
    matches: list[tuple[float, Floats]] = []
    for chunk, score in zip(chunks, scores, strict=True):
        if len(chunk) and words.texts:
            wide = chunk.astype(np.float32)
            cosines = np.einsum("qd,cd->qc", asked, wide)  # "@" wakes all cores, which costs far more than this
            passages.append(passage_fit(asked, wide, cosines, words))
            match = _by_word(cosines.max(axis=1), words)
            matches.append((score + MEAN_SHARE * float(np.average(match, weights=weights)), match))
    if not matches:
        return LateEvidence()
    _, better = max(matches, key=lambda pair: pair[0])
    return LateEvidence(
        passage_cosine=max(cosine for cosine, _ in passages),
        passage_match=max(match for _, match in passages),
        word_match=float(smooth_minimum(better, weights)),
        name_match=name_match(question, words, better),
    )


def smooth_minimum(values: Floats, weights: Floats, sharpness: float = SHARPNESS) -> Floats:
    """Weighted smooth minimum over the first axis, between the minimum and the weighted mean.

    A soft "and", as the p-norm's of Salton, Fox and Wu 1983, doi:10.1145/182.358466, here by LogSumExp, which takes
    values of either sign.

    Example:
        >>> float(smooth_minimum(np.array([0.5, 0.5]), np.array([1.0, 3.0])))
        0.5
        >>> round(float(smooth_minimum(np.array([0.0, 1.0]), np.array([1.0, 1.0]))), 3)
        0.137
    """
    lowest = values.min(axis=0)
    mean = np.tensordot(weights, np.exp(-sharpness * (values - lowest)), axes=1) / weights.sum()
    result: Floats = lowest - np.log(mean) / sharpness
    return result


def passage_fit(question: Floats, chunk: Floats, similarity: Floats, words: Words) -> tuple[float, float]:
    """Highest cosine and highest match of any passage of a chunk, -1..1 each.

    Late interaction: Khattab and Zaharia 2020, arXiv:2004.12832; passages: Callan 1994,
    doi:10.1007/978-1-4471-2099-5_31; pooling their token vectors late: Günther et al. 2024, arXiv:2409.04701.

    Args:
        question: its token vectors [q, d].
        chunk: the chunk's [c, d], c > 0.
        similarity: cosines of the two [q, c].
        words: of the question, at least one.
    """
    starts = np.arange(0, len(chunk), BLOCK)
    pooled = question.mean(axis=0)
    sums = _passages(np.add, np.add.reduceat(chunk, starts, axis=0))
    lengths = np.linalg.norm(sums, axis=1) * np.linalg.norm(pooled)
    cosine = float((np.einsum("pd,d->p", sums, pooled) / np.maximum(lengths, 1e-9)).max())
    best = _passages(np.maximum, np.maximum.reduceat(similarity, starts, axis=1).T).T
    match = smooth_minimum(_by_word(best, words), np.ones(len(words.texts)))
    return cosine, float(match.max())


def name_match(question: str, words: Words, best: Floats) -> float:
    """1 less what a chunk lacks of the question's names, numbers and identifiers, by idf: -1..1.

    Args:
        question: as it was asked.
        words: of the question.
        best: best match of each word in the chunk [words], -1..1.
    """
    names = name_words(question)
    weight = np.where([text in names for text in words.texts], words.idf, 0.0)
    return float(1 - weight @ (1 - best) / words.idf.sum()) if weight.any() else 1.0


def name_words(question: str) -> frozenset[str]:
    """Words, folded, that look like a name, number or identifier; the first word's capital says nothing.

    Example:
        >>> sorted(name_words("Which port does Grafana use on k3s-node-02?"))
        ['02', 'grafana', 'k3s', 'node']
        >>> name_words("Loop Over A List Of Dictionaries")
        frozenset()
    """
    raw = question.split()
    lettered = [word for word in raw[1:] if word[0].isalpha()]
    telling = sum(word[0].isupper() for word in lettered) <= TITLE * len(lettered)
    return frozenset(
        fold(part)
        for place, word in enumerate(raw)
        if _NAMELIKE.search(word) or (telling and place and word.lstrip("\"'(„“«")[:1].isupper())
        for part in _WORD.findall(word)
    )


def split_words(tokens: Sequence[str], idf: Mapping[str, float]) -> Words:
    """Words of a question's wordpieces, each with its idf.

    Example:
        >>> split_words(["back", "##ups", "of", "alpha", "?"], {"backups": 2.0, "alpha": 3.0}).idf.tolist()
        [2.0, 0.0, 3.0]
    """
    texts: list[str] = []
    starts: list[int] = []
    for place, token in enumerate(tokens):
        if token.startswith("##") and texts:
            texts[-1] += token[2:]
        else:
            texts.append(token)
            starts.append(place)
    spans = zip(map(fold, texts), starts, [*starts, len(tokens)][1:], strict=True)
    kept = [(text, start, end) for text, start, end in spans if any(c.isalnum() for c in text)]
    folded = {fold(word): weight for word, weight in idf.items()}
    return Words(
        tuple(text for text, _, _ in kept),
        np.array([start for _, start, _ in kept], np.intp),
        np.array([end for _, _, end in kept], np.intp),
        np.array([folded.get(text, 0.0) for text, _, _ in kept], np.float64),
    )


def fold(word: str) -> str:
    """A word as an uncased tokenizer writes it: without case and accents."""
    return "".join(c for c in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(c))


def _weights(idf: Floats) -> NDArray[np.float64]:
    """Weight of each word [words]; all alike in a question without a term, or of a brain without a chunk."""
    terms = np.count_nonzero(idf)
    return np.where(idf > 0, idf, FUNCTION_SHARE * idf.sum() / terms) if terms else np.ones(len(idf))


def _by_word(values: Floats, words: Words) -> Floats:
    """Mean of each word's wordpieces: [tokens, ...] -> [words, ...]."""
    return np.stack([values[start:end].mean(axis=0) for start, end in zip(words.starts, words.ends, strict=True)])


def _passages(combine: np.ufunc, blocks: Floats) -> Floats:
    """Blocks [blocks, ...] combined over each stretch of ``BLOCKS``, or over all if there are fewer."""
    size = min(BLOCKS, len(blocks))
    count = len(blocks) - size + 1
    result: Floats = combine.reduce([blocks[offset : offset + count] for offset in range(size)], axis=0)
    return result
