"""What the benchmarks search: question sets with their documents, and any number of chunks of real, varied text."""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import platformdirs

from brainkit.chunking import chunk
from brainkit.embedding import Embedder, make_embedder
from brainkit.settings import Settings
from brainkit.store.vectors import embedding_text
from eval.benchmarks.common import CACHE

SETS: Final = ("til_jbranchaud", "clapnq", "squad2_part")
FORMATS: Final = {".md": "markdown", ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".py": "python", ".txt": "text"}
PER_DOCUMENT: Final = 5
"""Chunks of one document in the corpus at scale, as many as real notes have."""
_SWAPPED: Final = 0.05
_MOST_BYTES: Final = 400_000


class Piece(NamedTuple):
    """A chunk as every peer is given it: the id of its document and the text that was embedded."""

    document: str
    text: str


class QuestionSet(NamedTuple):
    """Chunks, questions and what is relevant to them: {document: grade} for each question."""

    name: str
    pieces: list[Piece]
    questions: list[str]
    qrels: list[Mapping[str, int]]


def data_folder() -> Path:
    """Folder of the question sets and corpora: BRAINKIT_SHARED_DATA, else brainkit-shared-data in the user's cache."""
    given = os.environ.get("BRAINKIT_SHARED_DATA")
    return Path(given) if given else Path(platformdirs.user_cache_dir("brainkit-shared-data"))


def question_set(name: str, limit: int = 400) -> QuestionSet:
    """A question set, its documents in chunks; at most ``limit`` of its answerable questions, always the same ones.

    Raises:
        FileNotFoundError: there is no such set.
    """
    root = data_folder() / "questions" / name
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (root / "qrels.tsv").read_text("utf-8").splitlines():
        question, document, grade = [*line.split("\t"), "", ""][:3]
        if grade.isdigit() and int(grade) > 0:
            qrels[question][document] = int(grade)
    asked = [q for q in _lines(root / "queries.jsonl") if q["answerable"] and qrels.get(q["_id"])]
    if len(asked) > limit:
        asked = random.Random(0).sample(asked, limit)  # noqa: S311 - the same ones in each run
    pieces = [
        Piece(document, embedding_text("", part.heading, part.content))
        for document, kind, text in _documents(root)
        for part in chunk(text, kind)
    ]
    return QuestionSet(name, pieces, [q["text"] for q in asked], [qrels[q["_id"]] for q in asked])


def mixed_questions(count: int) -> list[str]:
    """Questions of all sets, mixed."""
    asked = [question for name in SETS for question in question_set(name, count).questions]
    return random.Random(3).sample(asked, min(count, len(asked)))  # noqa: S311


def _documents(root: Path) -> Iterator[tuple[str, str, str]]:
    """(id, format, text) of each document of a set or of a folder of files."""
    if (root / "corpus.jsonl").exists():
        for line in _lines(root / "corpus.jsonl"):
            yield line["_id"], "text", f"{line.get('title') or ''}\n\n{line['text']}".strip()
        return
    root = root / "corpus" if (root / "corpus").is_dir() else root
    for path in sorted(root.rglob("*")):
        if path.suffix in FORMATS and path.is_file() and path.stat().st_size < _MOST_BYTES:
            yield str(path.relative_to(root)), FORMATS[path.suffix], path.read_text("utf-8", "replace")


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def real_chunks() -> list[str]:
    """Every distinct chunk of the corpora and question sets, in an order that mixes them.

    Raises:
        FileNotFoundError: the data are not there.
    """
    folders = [path for top in ("corpora", "questions") for path in sorted((data_folder() / top).glob("*"))]
    texts = [
        embedding_text("", part.heading, part.content)
        for folder in folders
        if folder.is_dir()
        for _, kind, text in _documents(folder)
        for part in chunk(text, kind)
    ]
    if not texts:
        raise FileNotFoundError(f"no corpora in {data_folder()}: set BRAINKIT_SHARED_DATA to their folder")
    distinct = list(dict.fromkeys(texts))
    random.Random(1).shuffle(distinct)  # noqa: S311
    return distinct


def varied(texts: Sequence[str], count: int) -> list[Piece]:
    """``count`` distinct chunks: the texts as they are, then the first half of one with the second half of another.

    In those one word in twenty gives way to a word from anywhere, drawn as often as it occurs: rare words stay as rare
    as in real text, however many chunks there are.
    """
    choose = random.Random(2)  # noqa: S311
    words = [word for text in choose.sample(texts, min(len(texts), 5000)) for word in text.split()]
    seen: set[bytes] = set()
    pieces: list[Piece] = []
    number = 0
    while len(pieces) < count:
        own, turn = number % len(texts), number // len(texts)
        number += 1
        text = texts[own] if turn == 0 else _mixed(texts[own], texts[(own + 7919 * turn) % len(texts)], words, choose)
        key = hashlib.md5(text.encode(), usedforsecurity=False).digest()
        if key not in seen:
            seen.add(key)
            pieces.append(Piece(f"d{len(pieces) // PER_DOCUMENT:07d}", text))
    return pieces


def _mixed(first: str, second: str, words: Sequence[str], choose: random.Random) -> str:
    halves = (first.split(" "), second.split(" "))
    text = [*halves[0][: len(halves[0]) // 2 + 1], *halves[1][len(halves[1]) // 2 :]]
    for _ in range(max(1, int(_SWAPPED * len(text)))):
        text[choose.randrange(len(text))] = choose.choice(words)
    return " ".join(text)[:1200]


def embedder_of(name: str) -> Embedder:
    """The embedder ``minilm`` or ``wordllama``, as brainkit makes it, without a cache."""
    batch = 256 if name == "wordllama" else 16
    return make_embedder(Settings.model_validate({"embedder": name, "embedding_batch": batch, "vector_cache": "off"}))


def embed(texts: Sequence[str], embedder: str) -> np.ndarray:
    """Vectors [n, d] of texts by ``minilm`` or ``wordllama``; MiniLM's are kept for the next run."""
    key = hashlib.sha256("\0".join([embedder, *texts]).encode()).hexdigest()[:24]
    kept = CACHE / f"{embedder}-{key}.npy"
    if kept.exists():
        return np.asarray(np.load(kept))
    found = embedder_of(embedder).embed_documents(list(texts))
    if found.failures:
        raise RuntimeError(f"{len(found.failures)} texts could not be embedded: {next(iter(found.failures.values()))}")
    vectors = np.asarray(found.vectors, np.float32)
    if embedder == "minilm":
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, vectors)
    return vectors
