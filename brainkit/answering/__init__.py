"""Decision -> Reply: sentences quoted from the notes with their paths, or an honest deflection."""

from __future__ import annotations

from brainkit.answering.deflect import deflection
from brainkit.answering.extractive import Quote, extract
from brainkit.answering.logged import logged
from brainkit.answering.reply import Reply, Source, reply_to
from brainkit.answering.suggestions import suggest

__all__ = ["Quote", "Reply", "Source", "deflection", "extract", "logged", "reply_to", "suggest"]
