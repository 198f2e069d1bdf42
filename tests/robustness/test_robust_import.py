"""Imports that are killed, interrupted or run side by side end in the same tables as one undisturbed run."""

import contextlib
import itertools
import os
import random
import signal
import time

import pytest

from brainkit import Brain, Settings


@pytest.fixture
def folder(tmp_path, write):
    rng = random.Random(5)
    for number in range(60):
        write(tmp_path / "notes", number, 0, rng)
    return tmp_path / "notes"


@pytest.fixture
def undisturbed(new_database, tables, tmp_path):
    """Tables after one undisturbed import of a folder into a new database."""

    def imported(folder):
        with new_database() as url, Brain.open(settings(url, tmp_path)) as brain:
            brain.import_paths([folder])
            return tables(brain)

    return imported


@pytest.fixture
def actor(start, actors, database_url, tmp_path):
    """Starts another process that imports folders once it is told to ``go``."""
    values = {"home": tmp_path / "home", "database_url": database_url, "embedder": "wordllama"}
    return lambda *folders: start(values, actors.import_folders, *folders)


def settings(url, tmp_path):
    return Settings(home=tmp_path / "home", database_url=url, embedder="wordllama")


@pytest.mark.slow
def test_what_kills_and_edits_leave_is_found_at_once_and_one_run_completes_it(
    actor, folder, slow, open_brain, undisturbed, new_database, tables, write, tmp_path
):
    rng = random.Random(time.time_ns())
    with new_database() as url, Brain.open(settings(url, tmp_path)) as other:
        started = time.monotonic()
        other.import_paths([folder])
        duration = time.monotonic() - started
    brain = open_brain()
    for version in range(1, 31 if slow else 3):
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
def test_an_interrupt_loses_nothing(folder, open_brain, undisturbed, tables, where):
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


def test_control_c_at_any_moment_loses_nothing(actor, folder, open_brain, undisturbed, tables):
    child = actor(folder)
    child.go()
    time.sleep(random.Random(time.time_ns()).uniform(0, 0.3))
    with contextlib.suppress(ProcessLookupError):  # it may have finished first
        os.kill(child.pid, signal.SIGINT)
    child.join()
    brain = open_brain()
    assert brain.import_paths([folder]).complete
    assert tables(brain) == undisturbed(folder)


def test_importers_side_by_side(actor, folder, open_brain, undisturbed, tables):
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
