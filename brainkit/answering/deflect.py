"""What is said when the notes hold nothing: honestly, warmly, with questions they can answer."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

OPENINGS: Final = {
    "english": (
        "I haven't done anything like that, as far as these notes go.",
        "I haven't done anything like that yet; the notes hold nothing on it.",
        "Honestly, I haven't done anything like that: no note of mine answers it.",
    ),
    "german": (
        "So etwas habe ich noch nicht gemacht, jedenfalls steht davon nichts in diesen Notizen.",
        "Dazu habe ich noch nichts gemacht; in den Notizen findet sich keine Antwort.",
    ),
}
_NEAR: Final = {"english": "The nearest notes are", "german": "Am nächsten kommen"}
_OFFER: Final = {"english": "But ask me one of these:", "german": "Aber danach kannst du fragen:"}


def deflection(question: str, language: str, near: Sequence[str], suggestions: Sequence[str]) -> str:
    """The text of a deflection: an opening (the same for the same question), titles of weak hits, suggestions.

    Args:
        question: what was asked.
        language: "german" or anything else for English.
        near: titles of the nearest documents; never their text.
        suggestions: questions the notes can answer.
    """
    language = "german" if language == "german" else "english"
    openings = OPENINGS[language]
    lines = [openings[zlib.crc32(question.encode("utf-8", "replace")) % len(openings)]]
    if near:
        lines.append(f"{_NEAR[language]}: {', '.join(near)}.")
    if suggestions:
        lines += ["", _OFFER[language], *(f"- {suggestion}" for suggestion in suggestions)]
    return "\n".join(lines)
