"""brainkit itself: its store filled with given chunks and vectors, searched through its searcher."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from brainkit.chunking import Chunk
from brainkit.embedding import ModelIdentity
from brainkit.readers import Document
from brainkit.retrieval import RetrievalSettings, Searcher
from brainkit.settings import Settings
from brainkit.store import Database, DocumentStore, VectorStore, make_entry
from brainkit.store.hnsw import build_index
from brainkit.store.lexicon import refresh_lexicon
from eval.benchmarks.common import Size, database_size
from eval.benchmarks.corpus import Piece, embedder_of
from eval.benchmarks.peers import POOL, Place, Way, documents

_PAGE = 5000
_CONVEX = f"hybrid(dense={POOL},lexical={POOL},fusion=convex,alpha=0.5)"
_WAYS = {
    Way("brainkit"): _CONVEX,
    Way("brainkit, fusion=rrf", scale=False): f"hybrid(dense={POOL},lexical={POOL},fusion=rrf,k=60)",
    Way("brainkit, by meaning alone", scale=False): f"dense({POOL})",
    Way("brainkit, by words alone", scale=False): f"lexical({POOL})",
    Way("brainkit, +maxsim(10)", scale=False): f"{_CONVEX}+maxsim(10)",
}


class BrainkitPeer:
    """brainkit with its default retrieval, without the reranker unless it is named."""

    ways = tuple(_WAYS)

    def __init__(self, place: Place) -> None:
        address = place.server.url(place.database).replace("+psycopg", "", 1)
        settings = Settings.model_validate({"home": place.folder, "database_url": address})
        self._place = place
        self._database = Database(settings)
        self._documents = DocumentStore(self._database)
        self._settings = RetrievalSettings()

    def load(self, pieces: Sequence[Piece], vectors: np.ndarray) -> None:
        """Store documents one by one, as an import does, then their vectors, then the counts of words."""
        source, _ = self._documents.source_for("/benchmark")
        for name, group in groupby(pieces, key=lambda piece: piece.document):
            chunks = [Chunk(position, "", piece.text) for position, piece in enumerate(group)]
            content = "\n\n".join(chunk.content for chunk in chunks)
            document = Document(name, name, "", content, name, "text", (), None, (), {}, "", "")
            entry = make_entry(document, chunks)
            self._documents.put(source, name, entry, index_version="", size=len(content), mtime_ns=0, replaces=False)
        identity = ModelIdentity(f"given {self._place.embedder}", vectors.shape[1], "0" * 64)
        self._vectors = VectorStore(self._database, identity)
        number = {piece.text: row for row, piece in enumerate(pieces)}
        after = 0
        while page := self._vectors.pending(_PAGE, after=after):
            self._vectors.put(page, vectors[[number[chunk.text] for chunk in page]], {})
            after = page[-1].chunk_ids[0]
        refresh_lexicon(self._database)
        build_index(self._database, self._vectors)
        embedder = embedder_of(self._place.embedder)
        self._searcher = Searcher(self._database, embedder, self._vectors, self._documents)

    def use(self, way: Way) -> None:
        """Choose the retrieval string."""
        self._settings = RetrievalSettings.parse(_WAYS[way])

    def search(self, question: str, vector: np.ndarray, k: int) -> list[str]:
        """One recall."""
        recall = self._searcher.recall(question, self._settings, k=k, vector=vector)
        return documents([document.path for document in recall.documents], k)

    def size(self) -> Size:
        """Tables and indexes."""
        return database_size(self._place.conninfo)

    def close(self) -> None:
        """Give back the connections."""
        self._database.close()


PEER = BrainkitPeer
