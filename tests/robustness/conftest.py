"""Other processes that work on a brain and are killed, and its tables as they can be compared."""

import contextlib
import functools
import multiprocessing
import os
import random
import signal
import sys
from pathlib import Path

import psutil
import pytest
from psycopg import sql

sys.path.insert(0, str(Path(__file__).parent))  # other processes import it by its name
import import_actors

WORDS = ["pool", "tank", "disk", "backup", "restore", "resolver", "router", "battery", "heat", "pump", "filter"]
OLD = 1_700_000_000
TABLES = {
    "sources": "select to_jsonb(s) from sources s",
    "documents": "select to_jsonb(d) - 'indexed_at' from documents d",
    "chunks": "select {at}, c.heading, c.content, c.content_hash from {chunks}",
    "lexemes": "select {at}, l.document_id = d.id, l.language, l.length, l.tsv::text"
    " from {chunks} left join lexemes l on c.id = l.chunk_id",
    "lexeme_stats": "select * from lexeme_stats",
    "lexicon": "select chunks, mean_length, newest_chunk = (select coalesce(max(id), 0) from chunks) from lexicon",
    "unposted": "select block from unposted",
    "failures": "select {at}, f.model_id, f.error, f.attempts"
    " from {chunks} join embedding_failures f on f.chunk_id = c.id",
    "models": "select to_jsonb(m) from embedding_models m",
    "view": "select pg_get_viewdef('data_brain')",
    "labels": "select id, label from labels",
    "query_log": "select question, sources from query_log",
}
VECTORS = "select {at}, v.embedding::text from {chunks} join {vectors} v on v.chunk_id = c.id"
PARTS = {
    "at": sql.SQL("d.source, d.path, c.position"),
    "chunks": sql.SQL("chunks c join documents d on d.id = c.document_id"),
}


def tables_of(database):
    """All that a brain holds but for ids and times that differ from run to run."""
    with database.connection() as connection:
        models = [row[0] for row in connection.execute("select id from embedding_models")]
        queries = {name: sql.SQL(query).format(**PARTS) for name, query in TABLES.items()}
        for model in models:
            name = f"vectors_{model}"
            queries[name] = sql.SQL(VECTORS).format(vectors=sql.Identifier(name), **PARTS)
        return {name: sorted(map(str, connection.execute(query))) for name, query in queries.items()}


def write_note(folder, number, version, rng):
    """A note that can be told by its word, long enough for several chunks, now and then a copy of another."""
    path = folder / f"area{number % 5}" / f"note{number:03}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    shared = number % 7 == 0
    head = "# Copy\n" if shared else f"# Note {number}\n\ntoken{number:03}v{version}\n"
    seed = random.Random(version if shared else rng.random())
    parts = [f"## Part {n}\n\n" + " ".join(seed.choices(WORDS, k=80)) for n in range(3)]
    path.write_text(head + "\n\n".join(parts))
    os.utime(path, (OLD + version, OLD + version))


@pytest.fixture(scope="session")
def tables():
    """Gives all that an open brain holds, fit to be compared."""
    return lambda brain: tables_of(brain._database)


@pytest.fixture(scope="session")
def write():
    """Writes a note of a number and version into a folder."""
    return write_note


@pytest.fixture(scope="session")
def actors():
    """The module of what other processes can be asked to do."""
    return import_actors


@pytest.fixture
def slow(request):
    """Whether the tests run in full."""
    return request.config.getoption("markexpr") == "slow"


@pytest.fixture(scope="session")
def processes():
    """Makes processes from one that has imported everything already, since so many are wanted."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["brainkit.brain", "brainkit.embedding.wordllama", "sqlalchemy", "import_actors"])
    return context


@pytest.fixture
def start(processes):
    """Starts another process that does something to a brain once it is told to ``go``; it is killed at the end."""
    started = []

    def run(settings, work, *arguments):
        here, there = processes.Pipe()
        child = processes.Process(target=import_actors.act, args=(there, settings, work, *arguments))
        child.start()
        started.append(child)
        there.close()
        assert here.recv() == "ready"
        child.go, child.wait = functools.partial(here.send, "go"), here.recv
        return child

    yield run
    for child in started:
        child.kill()
        child.join()


@pytest.fixture(scope="session")
def kill():
    """Kills a process, alone or with all of its group; returns whether it was still at work."""

    def killed(child, *, group):
        workers, working = [], child.is_alive()
        with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):  # it may end at this very moment
            workers = psutil.Process(child.pid).children(recursive=True)
            if group:
                os.killpg(child.pid, signal.SIGKILL)
        child.kill()
        child.join()
        _, left = psutil.wait_procs(workers, timeout=20)
        assert not left, f"outlived the import: {[process.cmdline() for process in left]}"
        return working

    return killed
