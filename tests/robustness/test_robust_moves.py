"""Files and folders that move, sources inside others, roots that look alike: nothing twice, nothing embedded again."""

import random
import shutil
import subprocess

import pytest

from brainkit import Brain, Settings
from brainkit.embedding import Embedder

SECRETS = [
    "ghp" + "_" + "".join(random.Random(seed).choices("abcdefghjkmnpqrstuvwxyz23456789", k=36)) for seed in (1, 2)
]


@pytest.fixture
def notes(tmp_path, write):
    rng = random.Random(3)
    for number in range(10):
        write(tmp_path / "notes", number, 0, rng)
    return tmp_path / "notes"


@pytest.fixture
def embedded(monkeypatch):
    """Every text an embedder was given."""
    texts, embed = [], Embedder.embed_documents

    def recorded(self, given, *args, **keywords):
        texts.extend(given)
        return embed(self, given, *args, **keywords)

    monkeypatch.setattr(Embedder, "embed_documents", recorded)
    return texts


def chunk_ids(brain):
    with brain._database.connection() as connection:
        return {row[0] for row in connection.execute("select id from chunks")}


def test_files_that_move_are_not_embedded_again(open_brain, notes, embedded, tmp_path):
    brain, other = open_brain(), tmp_path / "other"
    other.mkdir()
    brain.import_paths([notes, other])
    first = len(embedded)
    assert first == len(set(embedded)) == brain.counts()["chunks"] - 3  # note 7 is a copy of note 0
    (notes / "area1").rename(notes / "area8")
    (notes / "area2" / "note002.md").rename(notes / "area2" / "renamed.md")
    shutil.copy2(notes / "area3" / "note003.md", notes / "copy.md")
    shutil.move(notes / "area4", other)  # from one source to another, which is read later
    report = brain.import_paths([notes, other], prune=True)
    assert len(embedded) == first
    assert (len(report.indexed), len(report.removed), report.pending) == (6, 5, 0)


def test_an_edited_section_embeds_only_its_own_chunks(open_brain, notes, embedded):
    brain = open_brain()
    brain.import_paths([notes])
    path = notes / "area3" / "note003.md"
    edited = path.read_text().replace("## Part 1\n\n", "## Part 1\n\nA sentence that is new.\n\n")
    path.write_text(edited)
    del embedded[:]
    assert brain.import_paths([notes]).reindexed == ["notes:area3/note003.md"]
    assert len(embedded) == 1
    assert "A sentence that is new." in embedded[0]


def test_a_folder_inside_becomes_part_of_the_source_around_it(
    open_brain, notes, embedded, tables, new_database, tmp_path
):
    brain = open_brain()
    brain.import_paths([notes / "area2"])
    brain.import_paths([notes / "area3" / "note003.md"])
    label = {"id": "q1", "question": "Which?", "answerable": True, "relevant": [{"doc": "note002.md"}]}
    brain.calibrate([label, {**label, "id": "q2", "relevant": [{"doc": "area3:note003.md"}]}])
    before = chunk_ids(brain)
    dry = brain.import_paths([notes], dry_run=True)
    assert (len(dry.unchanged), len(dry.indexed)) == (3, 7)
    assert brain.list_documents() == ["area2:note002.md", "area2:note007.md", "area3:note003.md"]
    report = brain.import_paths([notes], prune=True)
    assert (len(report.unchanged), len(report.indexed), report.removed) == (3, 7, [])
    assert {name.split(":")[0] for name in brain.list_documents()} == {"notes"}
    assert before < chunk_ids(brain)
    assert len(embedded) == len(set(embedded))
    brain.calibrate()  # its labels name documents that are there
    found = tables(brain)
    docs = [relevant["doc"] for stored in brain._labels.all() for relevant in stored["relevant"]]
    assert sorted(docs) == ["area2/note002.md", "notes:area3/note003.md"]
    with new_database() as url, Brain.open(Settings(home=tmp_path, database_url=url, embedder="wordllama")) as other:
        other.import_paths([notes])
        expected = tables(other)
    assert {name for name in found if found[name] != expected[name]} == {"labels"}


def test_a_hidden_folder_that_is_given_too_stays(open_brain, notes, embedded):
    (notes / ".private").mkdir()
    (notes / ".private" / "diary.md").write_text("It rained on Tuesday.")
    brain = open_brain()
    brain.import_paths([notes / ".private"])
    assert brain.import_paths([notes], prune=True).removed == []
    assert ".private:diary.md" in brain.list_documents()
    del embedded[:]
    for _ in range(2):
        assert brain.import_paths([notes, notes / ".private"], prune=True).removed == []
    assert embedded == []
    assert brain.counts()["documents"] == 11


def test_a_hidden_folder_of_a_source_is_not_removed_while_it_is_given(open_brain, notes):
    (notes / ".private").mkdir()
    (notes / ".private" / "diary.md").write_text("It rained on Tuesday.")
    brain = open_brain()
    brain.import_paths([notes, notes / ".private"])
    report = brain.import_paths([notes, notes / ".private"], prune=True)
    assert (report.indexed, report.removed, len(report.unchanged)) == ([], [], 11)


def test_roots_that_look_alike_are_told_apart(open_brain, tmp_path):
    roots = [tmp_path / secret / "notes" for secret in SECRETS]
    for number, root in enumerate(roots):
        root.mkdir(parents=True)
        (root / "ups.md").write_text(f"# UPS {number}\n\nBattery {number}.\n")
    brain = open_brain()
    brain.import_paths([roots[0]])
    brain.import_paths([roots[1]], prune=True)
    assert brain.list_documents() == ["notes:ups.md", "notes-2:ups.md"]
    for root in roots:
        assert brain.import_paths([root], prune=True).changed == 0
    with brain._database.connection() as connection:
        stored = str(connection.execute("select * from sources").fetchall())
    assert not [secret for secret in SECRETS if secret in stored]
    assert stored.count("[REDACTED") == 2
    assert (tmp_path / "home" / "paths.key").stat().st_mode & 0o777 == 0o600
    brain.import_paths([tmp_path], prune=True)  # both become part of one
    assert {name.split(":")[0] for name in brain.list_documents()} == {tmp_path.name}
    assert sorted(brain._documents.contents([row.id for row in brain._documents.rows().values()]).values()) == [
        "# UPS 0\n\nBattery 0.\n",
        "# UPS 1\n\nBattery 1.\n",
    ]


def test_newer_rules_reach_the_names_of_sources(open_brain, tmp_path, embedded):
    word = "Korall" + "enriff77"
    rules = tmp_path / "rules.toml"
    rules.write_text(f'[[rule]]\nkind = "codename"\npattern = "{word}"\n')
    roots = [tmp_path / word, tmp_path / "shelf" / word, tmp_path / word / "inner" / "notes"]
    for number, root in enumerate(roots):
        root.mkdir(parents=True, exist_ok=True)
        (root / f"ups{number}.md").write_text(f"# UPS\n\nBattery {number}.\n")
    brain = open_brain()
    brain.import_paths([roots[2]])
    brain.import_paths([roots[1]])
    label = {"id": "q1", "question": "Which?", "answerable": True, "relevant": [{"doc": f"{word}:ups1.md"}]}
    brain.calibrate([label])
    brain.ask("Which battery?")
    before = chunk_ids(brain)
    del embedded[:]
    brain = open_brain(scrub_rules=rules)
    brain.rescrub()
    with brain._database.connection() as connection:
        stored = [connection.execute(f"select * from {name}").fetchall() for name in ("sources", "labels", "query_log")]
    assert word not in str(stored)
    brain.calibrate()  # its label names the document as it is called now
    assert len(chunk_ids(brain)) == len(before)
    report = brain.import_paths(roots)
    assert (len(report.indexed), len(report.unchanged)) == (1, 2)
    assert len(embedded) == 1


def test_the_history_of_a_repository_inside_moves_with_it(open_brain, notes, tmp_path):
    def git(folder, *command):
        who = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
        subprocess.run(["git", "-C", str(folder), *who, *command], check=True, capture_output=True)

    for folder in (notes / "area2", notes):
        git(folder, "init")
        git(folder, "add", "-A", ".")
        git(folder, "commit", "-m", f"What changed in {folder.name}")
    brain = open_brain()
    assert len(brain.import_paths([notes / "area2"], git_log=True).indexed) == 3
    report = brain.import_paths([notes], git_log=True, prune=True)
    assert (len(report.unchanged), len(report.indexed), report.removed) == (2, 9, [])
    for folder in (notes / "area2", notes, notes / "area3"):
        assert brain.import_paths([folder], git_log=True, prune=True).changed == 0
    assert len([name for name in brain.list_documents() if name.startswith("notes:area2/.git-log/")]) == 1
