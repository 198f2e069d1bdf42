"""The tokenizer of MiniLM: uncased WordPiece, built from the vocabulary file kept beside this module."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from brainkit.embedding.packaged import verified

VOCABULARY = Path(__file__).with_name("data") / "minilm-vocab.txt"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
CLS, SEP = 101, 102
"""Ids of the tokens that open and close a sequence; the tokenizer leaves adding them to the model."""


def wordpiece() -> Tokenizer:
    """Tokenizer without special tokens, padding or truncation.

    Raises:
        EmbeddingError: the vocabulary file is missing or changed.

    Example:
        >>> wordpiece().encode("hello world").ids
        [7592, 2088]
    """
    # Not splitlines(): entries such as U+2028 are line ends to it, and every later id would shift.
    entries = verified(VOCABULARY, VOCABULARY_SHA256).decode().rstrip("\n").split("\n")
    vocabulary = {entry: number for number, entry in enumerate(entries)}
    unknown = "[UNK]"
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=unknown, max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer
