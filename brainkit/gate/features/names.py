"""Names, numbers and identifiers of a question that the best document does not hold."""

from __future__ import annotations

import re

from brainkit.retrieval.late import fold, name_words


def missing_names(question: str, text: str) -> float:
    """Share of the question's names, numbers and identifiers that the text lacks, 0..1; 0 if it has none.

    Source: entity coverage as an answerability signal, after Rajpurkar et al. 2018, arXiv:1806.03822, whose
    unanswerable questions are often made by swapping an entity or a number.

    Example:
        >>> missing_names("Which port does Grafana use on node7?", "Grafana listens on 3000.")
        0.5
        >>> missing_names("what is it", "")
        0.0
    """
    wanted = name_words(question)
    held = {fold(word) for word in re.findall(r"[^\W_]+", text)}
    return len(wanted - held) / len(wanted) if wanted else 0.0
