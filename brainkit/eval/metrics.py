"""Retrieval metrics, a number per question: how far up the ranking the relevant documents stand.

The rank is the place in the list the retriever gave; scores are not looked at, a document named twice counts at its
first place only. All values run from 0 to 1, higher is better.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from brainkit.errors import UsageError

Grades = Mapping[str, int]
"""Relevant document -> grade; 0 and below, like a document that is not named, means not relevant."""


@dataclass(frozen=True)
class Metric:
    """A metric of the first ``k`` documents; prints as ``nDCG@10`` and is called with a ranking and grades."""

    k: int
    name: ClassVar[str]

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"{self.name}@{self.k} is not allowed: give a depth from 1 up, such as {self.name}@10")

    def __str__(self) -> str:
        return f"{self.name}@{self.k}"

    def __call__(self, ranking: Sequence[str], grades: Grades) -> float:
        """Value for one question; 0 if nothing is relevant to it, as in trec_eval."""
        relevant = {doc: grade for doc, grade in grades.items() if grade > 0}
        gains = [relevant.get(doc, 0) for doc in dict.fromkeys(ranking)]
        return self._value(gains[: self.k], sorted(relevant.values(), reverse=True)) if relevant else 0.0

    def _value(self, gains: Sequence[int], ideal: Sequence[int]) -> float:
        """From the grades found at ranks 1..k, and all grades there are, best first."""
        raise NotImplementedError


class NDCG(Metric):
    """Discounted cumulative gain with linear gain, divided by that of the best possible ranking.

    Source: Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418, with the discount log2(1 + rank) of trec_eval.

    Example:
        >>> round(NDCG(10)(["x", "a", "y", "b"], {"a": 1, "b": 1}), 4)
        0.6509
    """

    name = "nDCG"

    def _value(self, gains: Sequence[int], ideal: Sequence[int]) -> float:
        return _dcg(gains) / _dcg(ideal[: self.k])


class Recall(Metric):
    """Share of all relevant documents that stand among the first k (trec_eval's recall; R@k in ir_measures).

    Example:
        >>> Recall(2)(["x", "a", "y", "b"], {"a": 1, "b": 1})
        0.5
    """

    name = "recall"

    def _value(self, gains: Sequence[int], ideal: Sequence[int]) -> float:
        return sum(gain > 0 for gain in gains) / len(ideal)


class MRR(Metric):
    """1 / rank of the first relevant document among the first k, 0 if there is none (RR@k in ir_measures).

    Source: Kantor and Voorhees 2000, doi:10.1023/A:1009902609570.

    Example:
        >>> MRR(10)(["x", "a", "y", "b"], {"a": 1, "b": 1})
        0.5
    """

    name = "MRR"

    def _value(self, gains: Sequence[int], ideal: Sequence[int]) -> float:  # noqa: ARG002  one signature for all
        return next((1 / rank for rank, gain in enumerate(gains, start=1) if gain > 0), 0.0)


class Hit(Metric):
    """1 if a relevant document stands among the first k, else 0 (trec_eval's success; Success@k in ir_measures).

    Example:
        >>> Hit(1)(["x", "a"], {"a": 1}), Hit(2)(["x", "a"], {"a": 1})
        (0.0, 1.0)
    """

    name = "hit"

    def _value(self, gains: Sequence[int], ideal: Sequence[int]) -> float:  # noqa: ARG002  one signature for all
        return float(any(gain > 0 for gain in gains))


_METRICS: dict[str, type[Metric]] = {metric.name.lower(): metric for metric in (NDCG, Recall, MRR, Hit)}
_OTHER_NAMES: dict[str, type[Metric]] = {"r": Recall, "rr": MRR, "success": Hit}


def parse_metric(text: str) -> Metric:
    """The metric a string such as ``nDCG@10`` names; case does not matter, ir_measures' names are understood.

    Raises:
        UsageError: there is no such metric, or its depth is no whole number from 1 up.

    Example:
        >>> str(parse_metric("ndcg@10")), str(parse_metric("Success@2"))
        ('nDCG@10', 'hit@2')
    """
    found = re.fullmatch(r"\s*([A-Za-z]+)@([0-9]{1,9})\s*", text)
    name = found[1].lower() if found else text.strip().lower().partition("@")[0]
    metric = _METRICS.get(name) or _OTHER_NAMES.get(name)
    if metric is None or found is None:
        near = difflib.get_close_matches(name, _METRICS, 1)
        hint = f", did you mean {_METRICS[near[0]].name}@10?" if near else ""
        raise UsageError(f"metric {text!r} is not known{hint}; allowed are nDCG@k, recall@k, MRR@k and hit@k")
    return metric(int(found[2]))


def per_question(
    metric: Metric, rankings: Mapping[str, Sequence[str]], qrels: Mapping[str, Grades]
) -> dict[str, float]:
    """Value of each question that has something relevant, sorted by question; one without a ranking gets 0."""
    judged = sorted(question for question, grades in qrels.items() if any(grade > 0 for grade in grades.values()))
    return {question: metric(rankings.get(question, ()), qrels[question]) for question in judged}


def _dcg(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(1 + rank) for rank, gain in enumerate(gains, start=1))
