"""What is decided when the sufficiency gate's language model does not answer: never more than is certified."""

from __future__ import annotations

from dataclasses import replace

from brainkit.gate.decision import Decision, Threshold, decide
from brainkit.gate.sufficiency import SufficiencyGate
from brainkit.retrieval import Recall


def decide_without_judge(
    recall: Recall, gate: SufficiencyGate, asked: Threshold, stand_in: Threshold, why: str
) -> Decision:
    """The evidence gate decides if it has a certificate of its own; else nothing is answered.

    The language model's threshold is for another score, and a shipped one holds no promise: a question that the one
    gate was calibrated to let through must not be answered on the word of another that was not.

    Args:
        recall: what was found.
        gate: whose model does not answer.
        asked: the threshold of ``gate``.
        stand_in: the threshold of its evidence gate.
        why: what went wrong.
    """
    note = f"the sufficiency gate cannot ask its model: {why}"
    if stand_in.origin == "certificate":
        decision = decide(recall, gate.evidence, stand_in)
        return replace(decision, reason=f"{decision.reason}; {note}")
    reason = f"uncalibrated: nothing is answered, as {note} `brainkit calibrate --gate evidence` gives it a stand-in."
    return Decision(False, 0.0, asked.value, gate.name, reason, recall)
