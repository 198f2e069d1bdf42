"""Features of a recall for research on gates: what else could tell answerable questions from others, one a module.

The default gate looks at none of these. ``features`` gives all of them beside the numbers of ``Evidence`` (best cosine,
margin, coverage by the best document and chunk, BM25, agreement, late interaction). The clarity score is missing: it
needs the term statistics of the whole collection, which a recall does not hold.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Final

from brainkit.gate.features.expected import expected_answer
from brainkit.gate.features.magnitude import score_magnitude_and_variance
from brainkit.gate.features.names import missing_names
from brainkit.gate.features.spread import normalised_spread
from brainkit.gate.features.top import mean_of_top
from brainkit.gate.features.uncovered import rarest_uncovered
from brainkit.gate.features.weighted import weighted_gain
from brainkit.retrieval import Evidence, Recall, absolute_score

__all__ = ["FEATURES", "features"]

_OWN: Final = (
    "mean_of_top", "spread", "weighted_gain", "magnitude", "rarest_uncovered", "missing_names", "expected_answer",
)  # fmt: skip
FEATURES: Final = (*(field.name for field in fields(Evidence)), *_OWN)
"""Names of all of them."""


def features(recall: Recall) -> dict[str, float]:
    """Every feature of a recall by its name, all finite.

    Those of the score distribution are of the chunks the recall gives, so ask for many (``brain.recall(q, k=30)``); the
    text of the best document is loaded.
    """
    scores = [absolute_score(chunk.cosine, chunk.lexical_share) for chunk in recall.chunks]
    best = recall.documents[0].content if recall.documents else ""
    own = (
        mean_of_top(scores), normalised_spread(scores), weighted_gain(scores, len(recall.weights)),
        score_magnitude_and_variance(scores), rarest_uncovered(recall), missing_names(recall.question, best),
        expected_answer(recall.question, recall.chunks[0].text if recall.chunks else ""),
    )  # fmt: skip
    measured = {name: float(value) for name, value in asdict(recall.evidence).items() if name in FEATURES}
    return {**measured, **dict(zip(_OWN, own, strict=True))}
