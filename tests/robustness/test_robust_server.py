"""The embedded server dies, restarts or runs out of disk in mid-import: at most one clear error; nothing is lost."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from brainkit import Brain, Settings
from brainkit.errors import DatabaseError
from brainkit.store.server import EmbeddedServer

MB = 1 << 20


@pytest.fixture
def home(tmp_path):
    server = EmbeddedServer(tmp_path / "own")
    yield tmp_path / "own"
    server.erase()


@pytest.fixture
def notes(tmp_path, write):
    rng = random.Random(11)
    for number in range(40):
        write(tmp_path / "notes", number, 0, rng)
    return tmp_path / "notes"


@pytest.fixture
def undisturbed(new_database, tables, tmp_path):
    def imported(folder):
        with new_database() as url, Brain.open(settings(tmp_path / "home", database_url=url)) as brain:
            brain.import_paths([folder])
            return tables(brain)

    return imported


def settings(home, **others):
    return Settings(home=home, embedder="wordllama", **others)


def postmaster(server):
    return psutil.Process(int((server.data_dir / "postmaster.pid").read_text().split()[0]))


def test_importers_of_overlapping_folders_and_a_reader(
    start, notes, actors, database_url, undisturbed, tables, tmp_path
):
    shared = {"home": tmp_path / "home", "database_url": database_url, "embedder": "wordllama"}
    children = [
        start(shared, actors.import_folders, notes / "area2"),  # becomes part of the other's source
        start(shared, actors.import_folders, notes),
        start(shared, actors.import_folders, notes, notes / "area1"),
    ]
    with Brain.open(Settings(**shared)) as brain:
        brain.recall("warm up")
        for child in children:
            child.go()
        answers = 0
        while any(child.is_alive() for child in children):
            stored = brain.counts()["chunks"]
            recall = brain.recall("pool tank disk token003v0")
            assert not recall.degraded
            assert recall.chunks or not stored
            answers += 1
        assert answers > 1
        for child in children:
            child.join()
            assert child.exitcode == 0
        brain.import_paths([notes])
        assert tables(brain) == undisturbed(notes)


def test_two_who_scrub_again_at_once(start, notes, actors, database_url, tables, tmp_path):
    rules, shared = tmp_path / "rules.toml", {"home": tmp_path / "home", "database_url": database_url}
    rules.write_text('[[rule]]\nkind = "codename"\npattern = "token00[0-9]v0|note00[0-9]"\n')
    with Brain.open(Settings(**shared, embedder="wordllama")) as brain:
        brain.import_paths([notes])
    shared |= {"embedder": "wordllama", "scrub_rules": rules}
    children = [start(shared, actors.rescrub, notes) for _ in range(2)]
    for child in children:
        child.go()
    for child in children:
        child.join()
        assert child.exitcode == 0
    with Brain.open(Settings(**shared)) as brain:
        found = tables(brain)
        assert len(found["documents"]) == 40
        assert "token001v0" not in str(found)
        brain.rescrub()
        assert tables(brain) == found


@pytest.mark.slow
def test_a_server_that_is_killed_in_mid_import(home, notes, undisturbed, tables, slow, capsys):
    expected, told = undisturbed(notes), []
    for number in range(20 if slow else 1):
        with Brain.open(settings(home)) as brain:
            how = (signal.SIGKILL, signal.SIGQUIT, signal.SIGINT)[number % 3]  # killed, crashed, restarted
            when, server = random.Random(time.time_ns()).randrange(1, 41), brain._database.server

            def disturb(step, done, _, when=when, server=server, how=how):
                if step == "import" and done == when:
                    postmaster(server).send_signal(how)

            try:
                brain.import_paths([notes], progress=disturb)
                outcome = "went on"
            except DatabaseError as error:
                outcome = f"ended: {str(error).replace(str(server.data_dir), '...')}"
            assert "\n" not in outcome
            told.append(f"  {how.name} at file {when}: {outcome}")
        with Brain.open(settings(home)) as brain:
            report = brain.import_paths([notes])
            assert report.complete
            assert tables(brain) == expected
            with brain._database.connection() as connection:
                connection.execute("truncate documents, chunks, lexemes, vectors_1, lexeme_stats, sources cascade")
                connection.execute("truncate postings, unposted")
                connection.execute("update lexicon set (chunks, newest_chunk, mean_length) = (0, 0, 0)")
    if slow:
        with capsys.disabled():
            print("\n" + "\n".join(told))


def test_a_killed_command_leaves_a_server_that_the_next_one_uses(home, notes, start, kill, actors, undisturbed, tables):
    child = start({"home": home, "embedder": "wordllama"}, actors.import_folders, notes)
    child.go()
    time.sleep(random.Random(time.time_ns()).uniform(0, 0.5))
    kill(child, group=True)
    with Brain.open(settings(home)) as brain:
        running = postmaster(brain._database.server)
        brain.import_paths([notes])
        assert tables(brain) == undisturbed(notes)
    assert not running.is_running() or running.status() == psutil.STATUS_ZOMBIE  # nobody uses it any more


@pytest.fixture
def small_disk(home):
    """A file system of its own for the server's data, of 160 MB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system")
    with Brain.open(settings(home)) as brain:
        state = brain._database.server.data_dir.parent
    kept = state.with_name(f"{state.name}.kept")
    subprocess.run(["cp", "-a", state, kept], check=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160m", "test", state], check=False).returncode:
        shutil.rmtree(kept)
        pytest.skip("no file system can be mounted here")
    subprocess.run(["cp", "-a", f"{kept}/.", state], check=True)
    yield state
    subprocess.run(["umount", "--lazy", state], check=True)
    shutil.rmtree(kept)


def fill_disk(file):
    """Write until there is no space left."""
    with file.open("wb", buffering=0) as stream, contextlib.suppress(OSError):
        while True:
            stream.write(bytes(MB))


def test_a_full_disk_is_named_and_the_brain_goes_on_when_there_is_space(small_disk, home, notes, undisturbed, tables):
    filler = small_disk / "filler"

    def fill(step, done, _):
        if step == "import" and done == 5:
            fill_disk(filler)

    with Brain.open(settings(home)) as brain:
        for number in range(400):
            path = notes / f"many{number}.md"
            path.write_text(" ".join(random.Random(number).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=20_000)))
            os.utime(path, (1_700_000_000, 1_700_000_000))
        with pytest.raises(DatabaseError, match="disk") as raised:
            brain.import_paths([notes], progress=fill)
        assert str(small_disk) in str(raised.value)
        assert "\n" not in str(raised.value)
    filler.unlink()
    for path in notes.glob("many*.md"):
        path.unlink()
    with Brain.open(settings(home)) as brain:
        assert brain.import_paths([notes], prune=True).complete
        assert tables(brain) == undisturbed(notes)


@pytest.mark.slow
def test_an_interrupt_ends_the_command_cleanly(home, notes, undisturbed, tables, slow, capsys):
    environment = os.environ | {"BOR_HOME": str(home), "BOR_EMBEDDER": "wordllama"}
    code = (
        "import import_actors as a; a.workers.WORTH_BYTES = 0\n"
        "from brainkit.cli.app import app; print('here', flush=True); app()"
    )
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    rng, told = random.Random(time.time_ns()), []
    with Brain.open(settings(home)) as keeper:  # the server runs already, and has to go on running
        for _ in range(12 if slow else 1):
            command = subprocess.Popen(
                [sys.executable, "-c", code, "import", str(notes)],
                env=environment, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            assert command.stdout.readline() == "here\n"
            moment = rng.uniform(0.0, 6.0)
            time.sleep(moment)
            workers = psutil.Process(command.pid).children(recursive=True) if command.poll() is None else []
            if command.poll() is None:
                os.killpg(command.pid, signal.SIGINT)  # as the terminal does: to all of the group
            _, said = command.communicate(timeout=60)
            assert command.returncode in (0, 130), said
            told.append(f"{command.returncode} after {moment * 1000:.0f} ms")
            assert "Traceback" not in said
            assert not psutil.wait_procs(workers, timeout=10)[1]
        keeper.import_paths([notes])
        assert tables(keeper) == undisturbed(notes)
    if slow:
        with capsys.disabled():
            print("\nCtrl-C: exit " + ", ".join(told))
