"""What is said when the notes hold nothing: honestly, warmly, with questions they can answer."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

OPENINGS: Final = {
    "english": (
        "I haven't done anything like that, as far as these notes go.",
        "I haven't done anything like that yet: these notes hold no answer.",
        "I haven't done anything like that, and I'd rather say so than guess.",
    ),
    "german": (
        "So etwas habe ich noch nicht gemacht, jedenfalls steht davon nichts in diesen Notizen.",
        "So etwas habe ich noch nicht gemacht: in diesen Notizen steht keine Antwort.",
        "So etwas habe ich noch nicht gemacht, und raten möchte ich nicht.",
    ),
}
_EMPTY: Final = {
    "english": "There are no notes in here yet: `brainkit import FOLDER` brings some in.",
    "german": "Hier sind noch gar keine Notizen: `brainkit import ORDNER` holt welche herein.",
}
_NEAR: Final = {"english": "The nearest notes are", "german": "Am nächsten kommen"}
_OFFER: Final = {"english": "These I can answer:", "german": "Das hier kann ich beantworten:"}


def deflection(
    question: str, language: str, near: Sequence[str], suggestions: Sequence[str], *, empty: bool = False
) -> str:
    """The text of a deflection: an opening (the same for the same question), titles of weak hits, suggestions.

    Args:
        question: what was asked.
        language: "german" or anything else for English.
        near: titles of the nearest documents; never their text.
        suggestions: questions the notes can answer.
        empty: whether there are no notes at all.
    """
    language = "german" if language == "german" else "english"
    openings = OPENINGS[language]
    lines = [openings[zlib.crc32(question.encode("utf-8", "replace")) % len(openings)]]
    if empty:
        lines.append(_EMPTY[language])
    if near:
        lines.append(f"{_NEAR[language]}: {', '.join(near)}.")
    if suggestions:
        lines += ["", _OFFER[language], *(f"- {suggestion}" for suggestion in suggestions)]
    return "\n".join(lines)
