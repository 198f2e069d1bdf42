"""Imports that are killed, interrupted or run side by side end in the same tables as one undisturbed run."""

import functools
import itertools
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import pytest

from brainkit import Brain, Settings

DUMP = {
    "sources": "select * from sources",
    "documents": "select to_jsonb(d) - 'indexed_at' from documents d",
    "chunks": "select document_id, position, heading, content, content_hash from chunks",
    "lexemes": "select c.document_id, c.position, l.document_id, l.language, l.length, l.tsv::text"
    " from lexemes l join chunks c on c.id = l.chunk_id",
    "vectors": "select document_id, position, embedding::text from vectors_1 v join chunks c on c.id = v.chunk_id",
    "lexeme_stats": "select * from lexeme_stats",
    "lexicon": "select chunks, mean_length, newest_chunk = (select max(id) from chunks) from lexicon",
    "failures": "select * from embedding_failures",
    "models": "select id, name, dimensions, fingerprint from embedding_models",
    "orphans": "select id from chunks c where not exists (select from lexemes l where l.chunk_id = c.id)",
}
WORDS = ["pool", "tank", "disk", "backup", "restore", "resolver", "router", "battery", "heat", "pump", "filter"]


def tables(brain):
    with brain._database.connection() as connection:
        return {name: sorted(map(str, connection.execute(query))) for name, query in DUMP.items()}


def write(folder, number, version, rng):
    """A note that can be told by its word, long enough for several chunks, now and then a copy of another."""
    path = folder / f"area{number % 5}" / f"note{number:03}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    shared = number % 7 == 0
    head = "# Copy\n" if shared else f"# Note {number}\n\ntoken{number:03}v{version}\n"
    seed = random.Random(version if shared else rng.random())
    parts = [f"## Part {n}\n\n" + " ".join(seed.choices(WORDS, k=80)) for n in range(3)]
    path.write_text(head + "\n\n".join(parts))
    when = 1_700_000_000 + version
    os.utime(path, (when, when))


@pytest.fixture
def folder(tmp_path):
    rng = random.Random(5)
    for number in range(60):
        write(tmp_path / "notes", number, 0, rng)
    return tmp_path / "notes"


@pytest.fixture
def undisturbed(new_database, tmp_path):
    """Tables after one undisturbed import of a folder into a new database."""

    def imported(folder):
        with new_database() as url, Brain.open(settings(url, tmp_path)) as brain:
            brain.import_paths([folder])
            return tables(brain)

    return imported


@pytest.fixture(scope="session")
def processes():
    """Makes processes from one that has imported everything already, since thirty of them are wanted."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["brainkit.brain", "brainkit.embedding.wordllama", "sqlalchemy"])
    return context


@pytest.fixture
def actor(processes, database_url, tmp_path, monkeypatch):
    """Starts another process that imports once it is told to ``go``; it is killed at the end."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import import_actors

    started = []

    def start(*folders):
        here, there = processes.Pipe()
        arguments = (there, database_url, tmp_path / "home", folders)
        child = processes.Process(target=import_actors.import_folders, args=arguments)
        child.start()
        started.append(child)
        there.close()
        assert here.recv() == "ready"
        child.go = functools.partial(here.send, "go")
        return child

    yield start
    for child in started:
        child.kill()
        child.join()


def settings(url, tmp_path):
    return Settings(home=tmp_path / "home", database_url=url, embedder="wordllama")


@pytest.fixture
def kills(request):
    """How often a process is killed: three times, thirty under ``-m slow``."""
    return 30 if request.config.getoption("markexpr") == "slow" else 3


@pytest.mark.slow
def test_kill_9_loses_nothing_and_doubles_nothing(
    actor, folder, kills, open_brain, undisturbed, new_database, tmp_path
):
    rng = random.Random(time.time_ns())
    with new_database() as url, Brain.open(settings(url, tmp_path)) as other:
        started = time.monotonic()
        other.import_paths([folder])
        duration = time.monotonic() - started
    brain = open_brain()
    for version in range(1, kills + 1):
        child = actor(folder)
        child.go()
        time.sleep(rng.uniform(0, duration))
        child.kill()
        child.join()
        for name in rng.sample(brain.list_documents(), min(3, brain.counts()["documents"])):
            text = brain.document_texts()[name]
            if "token" in text:  # found by its word at once, whatever the counts say
                (word,) = [word for word in text.split() if word.startswith("token")]
                assert f"notes:{brain.recall(word, retrieval='lexical').documents[0].path}" == name
        for number in rng.sample(range(60), 20):
            write(folder, number, version, rng)
        (folder / f"area{version % 5}" / f"note{version % 60:03}.md").unlink(missing_ok=True)
    report = brain.import_paths([folder], prune=True)
    assert report.complete
    assert tables(brain) == undisturbed(folder)
    assert brain.import_paths([folder], prune=True).changed == 0


@pytest.mark.parametrize("where", [("import", 1), ("import", 33), ("import", 60), ("embed", 1)])
def test_an_interrupt_loses_nothing(folder, open_brain, undisturbed, where):
    brain = open_brain()
    steps = {"import": itertools.count(1), "embed": itertools.count(1)}

    def interrupting(step, *_):
        if (step, next(steps[step])) == where:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        brain.import_paths([folder], progress=interrupting)
    stored = brain.counts()["documents"]
    assert stored == (where[1] if where[0] == "import" else 60)
    report = brain.import_paths([folder])
    assert (len(report.unchanged), len(report.indexed), report.complete) == (stored, 60 - stored, True)
    assert tables(brain) == undisturbed(folder)


def test_control_c_at_any_moment_loses_nothing(actor, folder, open_brain, undisturbed):
    child = actor(folder)
    child.go()
    time.sleep(random.Random(time.time_ns()).uniform(0, 0.3))
    os.kill(child.pid, signal.SIGINT)
    child.join()
    brain = open_brain()
    assert brain.import_paths([folder]).complete
    assert tables(brain) == undisturbed(folder)


def test_importers_side_by_side(actor, folder, open_brain, undisturbed):
    children = [actor(folder), actor(folder, folder / "area2")]
    for child in children:
        child.go()
    for child in children:
        child.join()
        assert child.exitcode == 0
    brain = open_brain()
    assert tables(brain) == undisturbed(folder)
    report = brain.import_paths([folder])
    assert (report.changed, len(report.unchanged), report.pending) == (0, 60, 0)
