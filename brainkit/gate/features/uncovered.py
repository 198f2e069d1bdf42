"""The rarest word of a question that the best document's found chunks lack: a name that is not there says much."""

from __future__ import annotations

from brainkit.retrieval import Recall


def rarest_uncovered(recall: Recall) -> float:
    """Highest idf of a term that no found chunk of the first document holds, at least 0; 0 if none is lacking.

    Source: idf as in Robertson and Spärck Jones 1976, doi:10.1002/asi.4630270302.
    """
    if not recall.documents:
        return max(recall.weights.values(), default=0.0)
    first = recall.documents[0].id
    held = {number for chunk in recall.chunks if chunk.document_id == first for number in chunk.matched}
    return max((idf for number, idf in enumerate(recall.weights.values()) if number not in held), default=0.0)
