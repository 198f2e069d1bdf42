"""Ingestion beside LlamaIndex's IngestionPipeline + PGVectorStore: the same files and embedder, one database server.

    python -m eval.benchmarks.ingest                    1,000 files of real text
    python -m eval.benchmarks.ingest --files 10000      more files: words of the real ones swapped
    python -m eval.benchmarks.ingest --folder ~/notes   files of your own

brainkit also takes secrets out, indexes words and keeps whole documents; the pipeline does none of that. Embedding
(wordllama) is measured inside both and given apart, since it is the same work. Then the same files are imported again,
unchanged. Writes results/ingest.json and .md.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import PrivateAttr

from brainkit.embedding import Embedder, wordllama
from brainkit.ingestion import Importer, embed_pending
from brainkit.scrub import Scrubber
from brainkit.settings import Settings
from brainkit.store import Database, DocumentStore, VectorStore
from brainkit.store.server import EmbeddedServer
from eval.benchmarks.common import (
    RESULTS,
    Meter,
    Spent,
    benchmark_server,
    database_size,
    machine,
    new_database,
    number,
    table,
    write_json,
)
from eval.benchmarks.corpus import FORMATS, data_folder
from eval.benchmarks.report import header

_CAP: Final = 1000
"""Characters at which both cut; brainkit's target."""
_OVERLAP: Final = 200
_WORD: Final = re.compile(r"\b[a-z]{5,}\b")
_BATCH: Final = 256


class TimedEmbedding(wordllama.WordLlamaEmbedding):
    """wordllama that adds up the CPU seconds it takes."""

    _seconds: float = PrivateAttr(default=0.0)

    @property
    def seconds(self) -> float:
        """CPU seconds spent in the model so far."""
        return self._seconds

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        """L2-normalised vectors."""
        started = time.process_time()
        vectors = super().embed(texts)
        self._seconds += time.process_time() - started
        return vectors


def lay_out(folder: Path, count: int) -> None:
    """``count`` files of the corpora in a folder; beyond the real ones, copies with a tenth of their words swapped."""
    sources = [
        path
        for path in sorted((data_folder() / "corpora").rglob("*"))
        if path.suffix in FORMATS and path.is_file() and not any(part.startswith(".") for part in path.parts[-6:])
    ]
    if not sources:
        raise FileNotFoundError(f"no corpora in {data_folder()}: set BRAINKIT_SHARED_DATA to their folder")
    choose = random.Random(5)  # noqa: S311
    choose.shuffle(sources)
    words = [word for path in sources[:300] for word in _WORD.findall(path.read_text("utf-8", "replace"))]

    def swapped(found: re.Match[str]) -> str:
        return choose.choice(words) if choose.random() < 0.1 else found[0]

    for n in range(count):
        path = sources[n % len(sources)]
        text = path.read_text("utf-8", "replace")
        target = folder / f"part{n // 200:03d}" / f"{n:05d}-{path.name}"
        target.parent.mkdir(exist_ok=True)
        target.write_text(text if n < len(sources) else _WORD.sub(swapped, text), "utf-8")


def brainkit(folder: Path, server: EmbeddedServer) -> dict[str, Any]:
    """Import and embed, then import again."""
    conninfo = new_database(server, "bench_brainkit")
    address = server.url("bench_brainkit").replace("+psycopg", "", 1)
    with tempfile.TemporaryDirectory() as home, _opened(Path(home), address) as database:
        settings = Settings.model_validate({"home": home, "database_url": address})
        model = TimedEmbedding(embed_batch_size=_BATCH)
        embedder = Embedder(
            model, name=wordllama.NAME, recipe=wordllama.RECIPE, dimensions=wordllama.DIMENSIONS, batch=_BATCH
        )
        documents, vectors = DocumentStore(database), VectorStore(database, embedder.identity)
        importer = Importer(database, documents, Scrubber(), settings)

        def run() -> int:
            importer.run([folder])
            embed_pending(embedder, vectors)
            return vectors.count()

        return _row("brainkit", run, model, server, conninfo)


def _opened(home: Path, address: str) -> Database:
    return Database(Settings.model_validate({"home": home, "database_url": address}))


def pipeline(folder: Path, server: EmbeddedServer) -> dict[str, Any]:
    """SimpleDirectoryReader, SentenceSplitter, the embedder and PGVectorStore in an IngestionPipeline, twice.

    The splitter counts characters, as brainkit does; the document store lets the second run find what is unchanged.
    """
    from llama_index.core import SimpleDirectoryReader
    from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.storage.docstore import SimpleDocumentStore
    from llama_index.vector_stores.postgres import PGVectorStore

    conninfo = new_database(server, "bench_pipeline")
    url = server.url("bench_pipeline")
    store = PGVectorStore.from_params(
        connection_string=url.replace("+psycopg:", "+psycopg2:"),
        async_connection_string=url,
        table_name="notes",
        embed_dim=wordllama.DIMENSIONS,
        hybrid_search=True,
        text_search_config="english",
    )
    model = TimedEmbedding(embed_batch_size=_BATCH)
    splitter = SentenceSplitter(
        tokenizer=list, chunk_size=_CAP, chunk_overlap=_OVERLAP, include_metadata=False, include_prev_next_rel=False
    )
    chain = IngestionPipeline(
        transformations=[splitter, model],
        vector_store=store,
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS,
        disable_cache=True,
    )
    reader = SimpleDirectoryReader(str(folder), recursive=True, required_exts=list(FORMATS), filename_as_id=True)
    chunks = 0

    def run() -> int:
        nonlocal chunks
        chunks += len(chain.run(documents=reader.load_data()))
        return chunks

    try:
        return _row("LlamaIndex IngestionPipeline + PGVectorStore", run, model, server, conninfo)
    finally:
        asyncio.run(store.close())


def _row(
    name: str, run: Callable[[], int], model: TimedEmbedding, server: EmbeddedServer, conninfo: str
) -> dict[str, Any]:
    meter = Meter(server)
    model.embed(["warm"])
    before = model.seconds
    chunks, first = _measured(run, meter)
    embedding = model.seconds - before
    after, again = _measured(run, meter)
    return {
        "way": name, "chunks": chunks, "cpu_s": first.cpu, "embedding_cpu_s": embedding,
        "other_cpu_s": first.cpu - embedding, "wall_s": first.wall,
        "chunks_per_cpu_s": chunks / (first.cpu - embedding),
        "again_cpu_s": again.cpu, "again_s": again.wall, "chunks_after": after,
        "total_mb": database_size(conninfo).total_mb,
    }  # fmt: skip


def _measured(run: Callable[[], int], meter: Meter) -> tuple[int, Spent]:
    with meter.measure() as spent:
        chunks = run()
    return chunks, spent[0]


def shown(results: dict[str, Any]) -> str:
    """The table."""
    columns = {
        "chunks": "chunks", "cpu_s": "CPU s", "embedding_cpu_s": "of it embedding", "other_cpu_s": "of it the rest",
        "chunks_per_cpu_s": "chunks per CPU s of the rest", "wall_s": "s", "again_cpu_s": "again, unchanged: CPU s",
        "again_s": "again: s", "total_mb": "MB",
    }  # fmt: skip
    lines = [
        [row["way"], f"{row['chunks']:,}", *(number(row[key]) for key in list(columns)[1:])] for row in results["ways"]
    ]
    about = f"{results['files']:,} files, {number(results['megabytes'])} MB of text.\n"
    return (
        "\n".join(["# Ingestion, side by side\n", header(results), about, table(["way", *columns.values()], lines)])
        + "\n"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Import the files both ways, write and print the table."""
    about, _, examples = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        prog="python -m eval.benchmarks.ingest", description=about, epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--files", type=int, default=1000, help="number of files")
    parser.add_argument("--folder", type=Path, help="files of your own instead")
    parser.add_argument("--only", choices=["brainkit", "pipeline"], help="one of the two")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="brainkit-bench-") as made, benchmark_server() as server:
        folder = options.folder or Path(made)
        if options.folder is None:
            lay_out(folder, options.files)
        files = [path for path in folder.rglob("*") if path.suffix in FORMATS and path.is_file()]
        size = sum(path.stat().st_size for path in files) / 1e6
        results: dict[str, Any] = {"machine": machine(server), "files": len(files), "megabytes": size, "ways": []}
        for measure in (brainkit, pipeline):
            if options.only in (None, measure.__name__):
                results["ways"].append(measure(folder, server))
                write_json(options.out / "ingest.json", results)
    (options.out / "ingest.md").write_text(shown(results), "utf-8")
    print((options.out / ("ingest.json" if options.json else "ingest.md")).read_text("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
