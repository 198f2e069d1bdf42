"""What a brain is told to remember: kept, proposed, confirmed, turned down; without secrets, and once."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from brainkit.cli.app import app
from brainkit.errors import UsageError
from brainkit.memory.remembered import Memory

KEY = "The spare key of the rack hangs behind the boiler."
SECRET = "hun" + "ter2-Xq9!zz"


def found(brain, question="Where does the spare key of the rack hang?"):
    return [(chunk.source, chunk.text) for chunk in brain.recall(question).chunks if "boiler" in chunk.text]


def files(brain):
    home = brain.settings.home
    return sorted(file.parent.name for file in home.glob("memory*/*"))


def test_what_a_person_says_is_found_at_once_by_words_and_by_meaning(open_brain):
    brain = open_brain()
    engram = brain.remember(KEY, tags=("home", "rack"))
    assert (engram.state, engram.source, engram.tags, engram.text) == ("kept", "user", ("home", "rack"), KEY)
    assert [source for source, _ in found(brain)] == ["memory"]
    assert brain.recall("spare key rack", retrieval="lexical(5)").chunks
    assert brain.recall("spare key rack", retrieval="dense(5)").chunks
    assert brain.status()["pending"] == 0
    assert brain.ask("Where does the spare key of the rack hang?").text  # it is logged like any question
    assert brain.engrams() == [engram]


def test_the_same_text_is_remembered_once(open_brain):
    brain = open_brain()
    first = brain.remember(KEY)
    assert brain.remember(f"  {KEY.upper()}\n") == first
    assert brain.remember(KEY, source="agent") == first  # what is kept is not proposed again
    assert files(brain) == ["memory"]
    assert brain.counts()["documents"] == 1


def test_an_agents_words_wait_until_a_person_confirms_them(open_brain):
    brain = open_brain()
    proposal = brain.remember(KEY, source="agent", session_id="s1", agent_id="helper")
    assert (proposal.state, proposal.session_id, proposal.agent_id) == ("proposed", "s1", "helper")
    assert found(brain) == []
    assert brain.engrams("proposed") == [proposal]
    kept = brain.confirm(proposal.id)
    assert (kept.id, kept.state, kept.text, kept.agent_id) == (proposal.id, "kept", KEY, "helper")
    assert len(found(brain)) == 1
    with pytest.raises(UsageError, match="no proposal"):
        brain.confirm(proposal.id)


def test_what_was_turned_down_is_neither_found_nor_proposed_again(open_brain):
    brain = open_brain()
    brain.reject(brain.remember(KEY, source="agent").id)
    assert brain.remember(KEY, source="agent").state == "rejected"
    assert brain.engrams("proposed") == []
    assert found(brain) == []
    with pytest.raises(UsageError, match="no proposal"):
        brain.reject("0" * 12)


def test_a_person_who_says_what_an_agent_proposed_keeps_it(open_brain):
    brain = open_brain()
    brain.remember(KEY, source="agent")
    assert brain.remember(KEY).state == "kept"
    assert files(brain) == ["memory"]


def test_no_secret_is_written_anywhere(open_brain):
    brain = open_brain()
    brain.remember(
        f"The NAS: password: {SECRET}", source="agent", tags=[f"password={SECRET}"], session_id=f"password: {SECRET}",
        agent_id=f"password: {SECRET}",
    )  # fmt: skip
    brain.confirm(brain.engrams()[0].id)
    written = "".join(file.read_text() for file in brain.settings.home.rglob("*.md"))
    assert "The NAS" in written
    assert SECRET not in written
    assert not brain.find_texts(SECRET)


def test_newer_rules_reach_the_files(tmp_path):
    Memory(tmp_path, lambda text: text).add("The codename is wolpertinger today.", "agent")
    assert Memory(tmp_path, lambda text: text.replace("wolpertinger", "[REDACTED]")).scrub_again() == 1
    assert next(Memory(tmp_path, str).all()).text == "The codename is [REDACTED] today."
    assert "wolpertinger" not in "".join(file.read_text() for file in tmp_path.rglob("*.md"))


@pytest.mark.parametrize("text", ["", "  \n\0 ", "x" * 20_001])
def test_nothing_and_too_much_is_refused(open_brain, text):
    with pytest.raises(UsageError):
        open_brain().remember(text)


def test_another_source_is_refused_and_a_strange_file_is_no_engram(open_brain):
    brain = open_brain()
    with pytest.raises(UsageError, match="user, agent, web"):
        brain.remember(KEY, source="file")
    folder = brain.settings.home / "memory-proposed"
    folder.mkdir(parents=True)
    (folder / "note.md").write_text("no front matter")
    (folder / "bad.md").write_text("---\n: [\n---\n\nx")
    assert brain.engrams() == []


@pytest.mark.parametrize("text", ["---\na: b\n---\ntext", "# Über Ähren\n\n- eins\n- zwei", "\u200e😀", "a\r\nb"])
def test_any_text_comes_back(tmp_path, text):
    memory = Memory(tmp_path, str)
    memory.add(text, "user")
    assert [one.text.splitlines() for one in memory.all()] == [text.strip().splitlines()]


def test_a_folder_called_memory_of_the_users_own_is_another_source(open_brain, tmp_path):
    brain = open_brain()
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "ram.md").write_text("# RAM\n\nThe NAS has 64 GB of memory.\n")
    brain.import_paths([tmp_path / "memory"])
    brain.remember(KEY)
    assert brain.import_paths([tmp_path / "memory"], prune=True).removed == []
    assert len({source for source, _ in found(brain)}) == 1
    assert brain.counts()["documents"] == 2


def test_a_writer_that_is_killed_leaves_whole_files_only(tmp_path):
    code = (
        "import sys; from pathlib import Path; from brainkit.memory.remembered import Memory\n"
        "memory = Memory(Path(sys.argv[1]), str)\n"
        "for n in range(100000):\n"
        "    memory.add(f'number {n} ' + 'word ' * 2000, 'agent'); print(n, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    said = [process.stdout.readline() for _ in range(20)]
    time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    said += process.communicate()[0].splitlines()
    acknowledged = len([line for line in said if line.strip()])
    kept = list(Memory(tmp_path, str).all())
    assert len(kept) in {acknowledged, acknowledged + 1}
    assert all(one.text.endswith("word") and len(one.text.split()) == 2002 for one in kept)


def test_the_commands(open_brain, monkeypatch):
    brain = open_brain()
    settings = brain.settings
    for name, value in (("HOME", settings.home), ("EMBEDDER", "wordllama")):
        monkeypatch.setenv(f"BOR_{name}", str(value))
    monkeypatch.setenv("BOR_DATABASE_URL", settings.database_url.get_secret_value())
    run = CliRunner().invoke
    said = run(app, ["remember", "-", "--tag", "home", "--json"], input=KEY)
    assert (said.exit_code, json.loads(said.stdout)["state"]) == (0, "kept")
    assert "Nothing waits." in run(app, ["review"]).stdout
    proposal = brain.remember("The fuse box\x1b[31m is in the hall.", source="agent", agent_id="helper")
    listed = run(app, ["review"]).stdout
    assert "proposed, agent helper" in listed
    assert "\x1b" not in listed
    assert run(app, ["review", proposal.id]).exit_code == 2
    assert "kept" in run(app, ["review", proposal.id, "confirm"]).stdout
    assert run(app, ["review", proposal.id, "reject"]).exit_code == 2
