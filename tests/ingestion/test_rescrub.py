"""Newer scrub rules on what is stored already: in every table, in names and labels, and on the disk itself."""

from pathlib import Path

import pytest

from brainkit import Brain, Settings
from brainkit.store.server import EmbeddedServer

WORD = "Korall" + "enriff77"  # no rule knows it until a user's rule names it
RULES = f"""
[[rule]]
kind = "codename"
pattern = '''{WORD}'''
"""


@pytest.fixture
def home(tmp_path):
    server = EmbeddedServer(tmp_path / "home")
    yield tmp_path / "home"
    server.erase()


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    (folder / WORD).mkdir(parents=True)
    (folder / WORD / "plan.md").write_text(f"# The plan\n\nWe meet at {WORD} at noon.\n")
    (folder / "title.md").write_text(f"---\ntitle: About {WORD}\ntags: [{WORD.lower()}, sea]\n---\n\nSee [[{WORD}]].\n")
    (folder / "ups.md").write_text("# UPS\n\nThe battery was changed in May.\n")
    return folder


def raw_hits(folder: Path, text: str) -> list[str]:
    needle = text.encode()
    return [str(path) for path in sorted(folder.rglob("*")) if path.is_file() and needle in path.read_bytes()]


def everything(brain):
    tables = {
        "documents": "documents",
        "chunks": "chunks",
        "labels": "labels",
        "query_log": "query_log",
        "sources": "sources",
        "links": "links",
    }
    with brain._database.connection() as connection:
        return {name: str(connection.execute(f"select * from {name}").fetchall()) for name in tables}


def test_newer_rules_reach_every_table_and_the_disk(home, notes, tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES)
    with Brain.open(Settings(home=home, embedder="wordllama")) as brain:
        brain.import_paths([notes])
        brain.ask(f"Where is {WORD}?")
        gold = [{"doc": f"{WORD}/plan.md"}]
        brain.calibrate([{"id": "q1", "question": f"Who meets at {WORD}?", "answerable": True, "relevant": gold}])
        assert all(WORD in text for name, text in everything(brain).items() if name not in {"sources", "links"})
        with brain._database.connection() as connection:
            ids = [key for (key,) in connection.execute("select id from documents limit 1").fetchall()]
            row = (ids[0], "wikilink", f"{WORD}/plan", WORD, f"names {WORD}")
            connection.execute(
                "insert into links (from_id, kind, target, heading, reason) values (%s, %s, %s, %s, %s)", row
            )
        with brain._database.connection() as connection:
            connection.execute("checkpoint")
        assert raw_hits(brain._database.server.data_dir, WORD)
    with Brain.open(Settings(home=home, embedder="wordllama", scrub_rules=rules)) as brain:
        report = brain.rescrub()
        assert report.documents == 3
        assert sorted(report.changed) == ["notes:[REDACTED:codename]/plan.md", "notes:title.md"]
        assert report.rewritten, report.note
        assert report.others == 2
        assert not [name for name, text in everything(brain).items() if WORD in text]
        assert raw_hits(brain._database.server.data_dir, WORD) == []
        assert raw_hits(home, WORD) == []
        assert (
            brain.recall("Where do we meet at noon?").chunks[0].text.endswith("We meet at [REDACTED:codename] at noon.")
        )
        assert brain.status()["pending"] == 2  # of the changed texts; the third kept its vector
        again = brain.rescrub()
        assert (again.changed, again.others) == ([], 0)
        unchanged = brain.import_paths([notes])
        assert len(unchanged.indexed) == 0
        assert len(unchanged.unchanged) == 3
        brain.calibrate()  # the label names the document as it is called now
        assert brain.document_names()["[REDACTED:codename]/plan.md"]
