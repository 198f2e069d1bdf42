"""What a server's model wants to be told: the prefixes it was trained with and how much text it reads at once.

Prefixes are those of the models' cards. Where a card names none, none is sent.
"""

from __future__ import annotations

import re
from typing import NamedTuple

CHARS_PER_TOKEN = 2.4
"""Deliberately low: English prose has 4 to 5, German or YAML about 3, and what exceeds a window is lost silently."""


class Profile(NamedTuple):
    """How one family of models is called.

    Attributes:
        document_prefix: Put before every stored text.
        query_prefix: Put before every question.
        window_tokens: Longest input in tokens; longer texts are embedded in windows and averaged. None: no limit here.
    """

    document_prefix: str = ""
    query_prefix: str = ""
    window_tokens: int | None = None

    def window_chars(self, text: str) -> int:
        """Characters of this text that surely fit; one beyond ASCII counts by its UTF-8 bytes, as tokenizers do.

        Example:
            >>> Profile(window_tokens=500).window_chars("a" * 9), Profile(window_tokens=500).window_chars("\u6f22" * 9)
            (1200, 400)
        """
        if self.window_tokens is None or not text:
            return max(1, len(text))
        return max(1, int(self.window_tokens * CHARS_PER_TOKEN * len(text) / len(text.encode())))


_RETRIEVAL_SENTENCE = "Represent this sentence for searching relevant passages: "
_PROFILES: tuple[tuple[str, Profile], ...] = (
    (r"nomic-embed-text", Profile("search_document: ", "search_query: ", 2048)),
    (r"mxbai-embed", Profile("", _RETRIEVAL_SENTENCE, 512)),
    (r"bge-m3", Profile("", "", 2048)),
    (r"bge-(small|base|large)", Profile("", _RETRIEVAL_SENTENCE, 512)),
    (r"snowflake-arctic-embed2|arctic-embed-[lm]-v2", Profile("", "query: ", 2048)),
    (r"arctic-embed", Profile("", _RETRIEVAL_SENTENCE, 512)),
    (r"(^|[-/])e5-", Profile("passage: ", "query: ", 512)),
    (r"embeddinggemma", Profile("title: none | text: ", "task: search result | query: ", 2048)),
    (r"all-minilm", Profile("", "", 256)),
    (r"text-embedding-3|text-embedding-ada", Profile("", "", 8191)),
)
_UNKNOWN = Profile("", "", 512)


def profile_of(model: str) -> Profile:
    """Prefixes and window of a model by its name, whatever registry path or tag surrounds it.

    Example:
        >>> profile_of("nomic-embed-text:v1.5").query_prefix
        'search_query: '
        >>> profile_of("my-own-model")
        Profile(document_prefix='', query_prefix='', window_tokens=512)
    """
    return next((profile for pattern, profile in _PROFILES if re.search(pattern, model.lower())), _UNKNOWN)
