"""kill -9 at random moments of everything that writes; one clean run later nothing is lost and nothing double."""

import os
import random
import shutil
import time
from collections import Counter
from typing import NamedTuple

import psycopg
import pytest

from brainkit import Brain, Settings

CODENAME = "Korall" + "enriff77"  # no rule knows it until a user's rule names it
NOTES = 24
OLD = 1_700_000_000


class Phase(NamedTuple):
    """Work that is killed: what was done before it, what happened to the files since, and who does it."""

    before: str
    edited: bool
    work: str
    embedder: str = "wordllama"
    rules: bool = False


PHASES = {
    "first import": Phase("nothing", False, "first_import"),
    "first import, workers": Phase("nothing", False, "import_with_workers"),
    "embed": Phase("import", False, "embed"),
    "re-import": Phase("import, embed", True, "again"),
    "prune": Phase("import, embed", False, "again"),
    "model change": Phase("import, embed", False, "embed", "minilm"),
    "rescrub": Phase("import, embed", False, "rescrub", rules=True),
}


SHORT = ["first import, workers", "re-import", "rescrub"]


def pytest_generate_tests(metafunc):
    """All phases with many kills under ``-m slow``, else three kills in all."""
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", PHASES if metafunc.config.getoption("markexpr") == "slow" else SHORT)


@pytest.fixture
def folder(tmp_path, write):
    rng = random.Random(5)
    for number in range(NOTES):
        write(tmp_path / "notes", number, 0, rng)
    for plain in sorted((tmp_path / "notes").rglob("*.md"))[::6]:
        path = plain.rename(plain.with_stem(f"{plain.stem} {CODENAME}"))
        path.write_text(path.read_text() + f"\n\n## Plan\n\nWe meet at {CODENAME}.\n")
        os.utime(path, (OLD, OLD))  # of a file as new as its import the time is not kept
    return tmp_path / "notes"


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(f'[[rule]]\nkind = "codename"\npattern = "{CODENAME}"\n')
    return path


def edit(folder, write):
    """Change some notes, rename and move others, remove some, add one."""
    rng = random.Random(7)
    files = sorted(folder.rglob("*.md"))
    for number in range(0, NOTES, 3):
        write(folder, number, 1, rng)
    files[1].rename(files[1].with_name("renamed.md"))
    (folder / "elsewhere").mkdir()
    files[5].rename(folder / "elsewhere" / files[5].name)
    shutil.copy2(files[8], folder / "elsewhere" / "copy.md")
    for path in files[10:12]:
        path.unlink(missing_ok=True)
    write(folder, NOTES + 1, 1, rng)


def counts(url):
    with psycopg.connect(url) as connection:
        found = [connection.execute(f"select count(*) from {name}").fetchone()[0] for name in ("documents", "chunks")]
        for (model,) in connection.execute("select id from embedding_models order by id").fetchall():
            found.append(connection.execute(f"select count(*) from vectors_{model}").fetchone()[0])
        return found


@pytest.fixture
def copies(server):
    """Makes a copy of a brain's database; dropped after the test."""
    made = []
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:

        def copy(url):
            name = f"copy_{len(made)}_{time.monotonic_ns()}"
            connection.execute(f"create database {name} template {psycopg.conninfo.conninfo_to_dict(url)['dbname']}")
            made.append(name)
            return server.url(name).replace("postgresql+psycopg://", "postgresql://")

        yield copy
        for name in made:
            connection.execute(f"drop database {name} with (force)")


@pytest.mark.slow
def test_killed_work_ends_as_if_undisturbed(
    name, folder, rules, slow, start, kill, tables, write, actors, copies, database_url, tmp_path, capsys
):
    phase = PHASES[name]
    work = getattr(actors, phase.work)
    settings = {"home": tmp_path / "home", "embedder": phase.embedder}
    if phase.rules:
        settings["scrub_rules"] = rules
    if phase.before != "nothing":
        with Brain.open(Settings(home=tmp_path / "home", database_url=database_url, embedder="wordllama")) as brain:
            brain.import_paths([folder], embed="embed" in phase.before)
            brain.ask(f"Who meets at {CODENAME}?")
            doc = next(name for name in brain.list_documents() if CODENAME in name)
            brain.calibrate([{"id": "q1", "question": "Where?", "answerable": True, "relevant": [{"doc": doc}]}])
    if phase.edited:
        edit(folder, write)
    if name == "prune":
        for path in sorted(folder.rglob("*.md"))[::4]:
            path.unlink()

    undisturbed = copies(database_url)
    with Brain.open(Settings(**settings, database_url=undisturbed)) as brain:
        brain.recall("warm up")
        started = time.monotonic()
        work(brain, folder)
        duration = time.monotonic() - started
        undisturbed_ms = duration * 1000
        expected = tables(brain)
    assert any(expected["chunks"])

    rng, results = random.Random(time.time_ns()), []
    for number in range(30 if slow else 1):
        url, moments, states = copies(database_url), [], []
        for _ in range(rng.choice([1, 1, 2, 3]) if slow else 1):  # what a killed run left may be killed again
            child = start({**settings, "database_url": url}, work, folder)
            child.go()
            began = time.monotonic()
            if phase.work == "import_with_workers" and number % 3:  # most of its time the workers are only starting
                assert child.wait() == "storing"
                time.sleep(rng.uniform(0, 0.3))
            else:
                time.sleep(rng.uniform(0, duration * 1.1))
            moments.append(time.monotonic() - began)
            states.append("killed" if kill(child, group=number % 2 == 0) else "done")
            duration *= 0.85 if states[-1] == "done" else 1.05  # the machine may have other things to do as well
        left = counts(url)
        with Brain.open(Settings(**settings, database_url=url)) as brain:
            work(brain, folder)
            found = tables(brain)
        different = [table for table in expected if found[table] != expected[table]]
        results.append((moments, states, left, different))
    if slow:
        with capsys.disabled():
            print(f"\n{name}: undisturbed {undisturbed_ms:.0f} ms; documents, chunks, vectors left by the last kill")
            for moments, states, left, different in results:
                told = ", ".join(
                    f"{state} at {moment * 1000:.0f} ms" for moment, state in zip(moments, states, strict=True)
                )
                print(f"  {told:60} {left!s:24} {'DIFFERENT: ' + str(different) if different else 'identical'}")
            print(f"  {Counter(state for _, states, _, _ in results for state in states)}")
    assert not [different for *_, different in results if different]
