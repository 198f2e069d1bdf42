"""Decision -> Reply: a model's answer from whole notes, sentences quoted from them, or an honest deflection."""

from __future__ import annotations

from brainkit.answering.bridge import iterate
from brainkit.answering.deflect import deflection
from brainkit.answering.extractive import Quote, extract
from brainkit.answering.llm import LLM, Message, make_llm
from brainkit.answering.logged import logged
from brainkit.answering.reply import Reply, Source, Usage, reply_to
from brainkit.answering.speaking import Speaker
from brainkit.answering.steering import Steering
from brainkit.answering.streaming import DeltaEvent, DoneEvent, StreamEvent, ThinkingEvent
from brainkit.answering.suggestions import suggest

__all__ = [
    "LLM",
    "DeltaEvent",
    "DoneEvent",
    "Message",
    "Quote",
    "Reply",
    "Source",
    "Speaker",
    "Steering",
    "StreamEvent",
    "ThinkingEvent",
    "Usage",
    "deflection",
    "extract",
    "iterate",
    "logged",
    "make_llm",
    "reply_to",
    "suggest",
]
