"""Folders on disk into the brain: every file in one list, nothing read twice, nothing of a known file lost."""

import os
import time

import psycopg
import pytest

from brainkit.errors import DatabaseError, UsageError
from brainkit.ingestion import ImportReport, prepare, sync
from brainkit.scrub import Scrubber
from brainkit.store import DocumentStore
from brainkit.store.documents import document_id

OLD = 1_700_000_000


def write(path, text, when=OLD):
    """A file as if it had been written long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (when, when))
    return path


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    write(folder / "ups.md", "# UPS\n\nThe battery was swapped.\n")
    write(folder / "net" / "dns.md", "# DNS\n\nThe resolver is eule.\n")
    write(folder / "net" / "zones.yaml", "zones:\n  - lan\n")
    return folder


def lists(report):
    """Every name of a report with the list it is in."""
    found = []
    for name in ("indexed", "unchanged", "reindexed", "removed", "skipped", "failed"):
        found += [(item if isinstance(item, str) else item.path, name) for item in getattr(report, name)]
    assert len({path for path, _ in found}) == len(found), "a file is in two lists"
    return dict(found)


def contents(brain):
    rows = brain._documents.rows()
    texts = brain._documents.contents([row.id for row in rows.values()])
    return {name: texts[row.id] for name, row in rows.items()}


def test_first_run_indexes_second_run_finds_nothing_to_do(open_brain, notes):
    brain = open_brain()
    report = brain.import_paths([notes])
    names = ["notes:net/dns.md", "notes:net/zones.yaml", "notes:ups.md"]
    assert lists(report) == dict.fromkeys(names, "indexed")
    assert (report.changed, report.chunks, report.pending, report.embedded, report.complete) == (3, 3, 0, 3, True)
    again = brain.import_paths([notes])
    assert lists(again) == dict.fromkeys(names, "unchanged")
    assert (again.changed, again.chunks, again.embedded) == (0, 3, 0)


def test_every_file_is_in_exactly_one_list(open_brain, notes):
    write(notes / "empty.md", "")
    write(notes / "blank.md", " \n\t\n")
    write(notes / "picture.md", b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    write(notes / "nul.md", "before\0after\n")
    write(notes / "latin.md", "Grüße".encode("cp1252"))
    write(notes / "broken.json", '{"a": ')
    write(notes / "broken.py", "def f(:\n")
    write(notes / "huge.md", "x" * 2000)
    write(notes / "picture.png", b"\x89PNG")
    (notes / "link.md").symlink_to("nowhere.md")
    (notes / "pipe.md").unlink(missing_ok=True)
    os.mkfifo(notes / "pipe.md")
    report = open_brain(max_file_mb=0.001).import_paths([notes])
    assert lists(report) == {
        "notes:blank.md": "skipped",
        "notes:broken.json": "indexed",
        "notes:broken.py": "indexed",
        "notes:empty.md": "skipped",
        "notes:huge.md": "skipped",
        "notes:latin.md": "indexed",
        "notes:link.md": "skipped",
        "notes:net/dns.md": "indexed",
        "notes:net/zones.yaml": "indexed",
        "notes:nul.md": "indexed",
        "notes:picture.md": "skipped",
        "notes:pipe.md": "skipped",
        "notes:ups.md": "indexed",
    }
    assert {(path, note) for path, note in report.notes} == {
        ("notes:broken.json", "invalid JSON: chunked as text"),
        ("notes:broken.py", "not parsed as Python: chunked as text"),
        ("notes:latin.md", "decoded as windows-1252"),
        ("notes:nul.md", "1 NUL character removed"),
    }
    assert all(reason for _, reason in report.skipped)


def test_a_changed_file_is_read_again_and_a_touched_one_stays(open_brain, notes):
    brain = open_brain()
    brain.import_paths([notes])
    write(notes / "ups.md", "# UPS\n\nThe battery was swapped again.\n", OLD + 100)
    write(notes / "net" / "dns.md", "# DNS\n\nThe resolver is eule.\n", OLD + 200)
    write(notes / "new.md", "new")
    assert lists(brain.import_paths([notes])) == {
        "notes:ups.md": "reindexed",
        "notes:net/dns.md": "unchanged",
        "notes:net/zones.yaml": "unchanged",
        "notes:new.md": "indexed",
    }
    assert contents(brain)["notes:ups.md"].endswith("swapped again.\n")


def test_files_that_look_the_same_are_not_even_opened(open_brain, notes, monkeypatch):
    brain = open_brain()
    brain.import_paths([notes])
    write(notes / "ups.md", "# UPS\n\nThe battery was swapped.\n", time.time() - 60)  # touched since the import
    opened, read_all = [], prepare.read_all
    monkeypatch.setattr(prepare, "read_all", lambda file, **_: opened.append(file.path.name) or read_all(file, **_))
    brain.import_paths([notes])
    assert opened == ["ups.md"]
    brain.import_paths([notes])
    assert opened == ["ups.md"]


def test_a_touched_file_keeps_its_new_time(open_brain, notes):
    brain = open_brain()
    brain.import_paths([notes])
    write(notes / "ups.md", "# UPS\n\nThe battery was swapped.\n", OLD + 500)
    brain.import_paths([notes])
    row = brain._documents.rows("notes")["ups.md"]
    assert row.mtime_ns == (OLD + 500) * 10**9
    with brain._database.connection() as connection:
        ((when,),) = connection.execute("select ts from documents where path = 'ups.md'").fetchall()
    assert when.timestamp() == OLD + 500


def test_a_file_changed_right_after_it_was_read_is_found_though_size_and_time_are_the_same(open_brain, notes):
    brain = open_brain()
    now = time.time()
    write(notes / "ups.md", "state: one", now)
    brain.import_paths([notes])
    write(notes / "ups.md", "state: two", now)
    assert lists(brain.import_paths([notes]))["notes:ups.md"] == "reindexed"
    write(notes / "ups.md", "state: six", now + 3600)  # a clock that runs ahead
    brain.import_paths([notes])
    write(notes / "ups.md", "state: ten", now + 3600)
    assert lists(brain.import_paths([notes]))["notes:ups.md"] == "reindexed"
    assert contents(brain)["notes:ups.md"] == "state: ten"


@pytest.mark.parametrize("change", ["chunk_target_chars", "chunk_overlap_chars", "scrub_email", "scrub_rules"])
def test_other_rules_index_everything_anew(open_brain, notes, tmp_path, change):
    open_brain().import_paths([notes])
    rules = write(tmp_path / "rules.toml", '[[rule]]\nkind = "host"\npattern = "eule"\n')
    value = {"chunk_target_chars": 500, "chunk_overlap_chars": 0, "scrub_email": True, "scrub_rules": rules}[change]
    brain = open_brain(**{change: value})
    report = brain.import_paths([notes])
    assert set(lists(report).values()) == {"reindexed"}
    assert set(lists(brain.import_paths([notes])).values()) == {"unchanged"}
    assert ("eule" in contents(brain)["notes:net/dns.md"]) == (change != "scrub_rules")


def test_a_smaller_chunk_target_keeps_the_text_and_cuts_it_finer(open_brain, tmp_path):
    text = "\n\n".join(f"Paragraph {n} about the heat pump and its filter." * 4 for n in range(12))
    write(tmp_path / "n" / "a.md", text)
    few = open_brain().import_paths([tmp_path / "n"]).chunks
    brain = open_brain(chunk_target_chars=300)
    assert brain.import_paths([tmp_path / "n"]).chunks > few
    assert contents(brain) == {"n:a.md": text}


def test_a_sub_folder_or_a_single_file_belongs_to_the_known_source(open_brain, notes):
    brain = open_brain()
    brain.import_paths([notes])
    write(notes / "net" / "vlan.md", "VLAN 30")
    assert lists(brain.import_paths([notes / "net"])) == {
        "notes:net/dns.md": "unchanged",
        "notes:net/vlan.md": "indexed",
        "notes:net/zones.yaml": "unchanged",
    }
    write(notes / "net" / "vlan.md", "VLAN 40", OLD + 1)
    assert lists(brain.import_paths([notes / "net" / "vlan.md"])) == {"notes:net/vlan.md": "reindexed"}
    assert len(contents(brain)) == 4


def test_a_file_alone_is_a_document_of_its_folder(open_brain, notes):
    brain = open_brain()
    assert lists(brain.import_paths([notes / "ups.md"])) == {"notes:ups.md": "indexed"}
    assert lists(brain.import_paths([notes]))["notes:ups.md"] == "unchanged"
    assert lists(brain.import_paths([write(notes / "x.png", "x")])) == {"notes:x.png": "skipped"}


def test_paths_that_overlap_are_imported_once_under_the_outer_one(open_brain, notes, monkeypatch):
    brain = open_brain()
    monkeypatch.chdir(notes)
    report = brain.import_paths(["net/dns.md", "net", notes, "../notes", notes / "net"])
    names = ["notes:net/dns.md", "notes:net/zones.yaml", "notes:ups.md"]
    assert lists(report) == dict.fromkeys(names, "indexed")
    assert lists(brain.import_paths("net")) == dict.fromkeys(names[:2], "unchanged")


def test_two_folders_of_the_same_name_are_two_sources(open_brain, notes, tmp_path):
    write(tmp_path / "other" / "notes" / "ups.md", "another")
    brain = open_brain()
    report = brain.import_paths([notes, tmp_path / "other" / "notes"])
    assert report.indexed == ["notes:net/dns.md", "notes:net/zones.yaml", "notes:ups.md", "notes-2:ups.md"]
    assert contents(brain)["notes-2:ups.md"] == "another"


def test_ids_are_the_same_in_every_brain(open_brain, notes, server, tmp_path):
    brain = open_brain()
    brain.import_paths([notes / "ups.md"])
    brain.import_paths([notes])
    assert {name: row.id for name, row in brain._documents.rows().items()} == {
        f"notes:{path}": document_id("notes", path) for path in ("ups.md", "net/dns.md", "net/zones.yaml")
    }


def test_paths_that_do_not_exist_are_refused_before_anything_is_read(open_brain, notes):
    brain = open_brain()
    for path in (notes / "missing", notes.parent / "nul\0"):
        with pytest.raises(UsageError, match="no such folder or file"):
            brain.import_paths([notes, path])
    assert brain.counts()["documents"] == 0


def secret_name(value):
    return "password" + "=" + value


def test_paths_that_scrub_to_the_same_name_are_told_apart_by_the_same_number_every_time(open_brain, tmp_path):
    folder = tmp_path / "notes"
    one, two = (secret_name(value) + ".md" for value in ("Herbst2026!", "Winter2027!"))
    write(folder / one, "first")
    write(folder / two, "second")
    write(folder / secret_name("Sommer2025!") / "a.md", "third")
    write(folder / secret_name("Sprung2024!") / "a.md", "fourth")
    brain = open_brain()
    report = brain.import_paths([folder])
    held = contents(brain)
    assert len(report.indexed) == len(held) == 4
    assert sorted(held.values()) == ["first", "fourth", "second", "third"]
    assert not [name for name in held if "2026" in name or "2027" in name or "2024" in name or "2025" in name]
    assert sum("~2" in name for name in held) == 2
    assert lists(brain.import_paths([folder])) == dict.fromkeys(held, "unchanged")
    for part in (folder / two, folder / secret_name("Sprung2024!"), folder / secret_name("Sommer2025!") / "a.md"):
        assert set(lists(brain.import_paths([part])).values()) == {"unchanged"}
    assert contents(brain) == held


def test_a_file_that_vanishes_between_scan_and_read_is_skipped_and_kept_for_now(open_brain, notes, monkeypatch):
    brain = open_brain()
    brain.import_paths([notes])
    write(notes / "ups.md", "changed", OLD + 1)
    scan = sync.scan

    def vanishing(*args, **keywords):
        found = list(scan(*args, **keywords))
        (notes / "ups.md").unlink()
        return iter(found)

    monkeypatch.setattr(sync, "scan", vanishing)
    report = brain.import_paths([notes], prune=True)
    assert lists(report)["notes:ups.md"] == "skipped"
    assert "No such file" in report.skipped[0].reason
    monkeypatch.undo()
    assert lists(brain.import_paths([notes], prune=True))["notes:ups.md"] == "removed"


def test_a_file_that_cannot_be_indexed_is_named_scrubbed_and_the_others_go_on(open_brain, notes, monkeypatch, caplog):
    secret = "Herbst" + "2026!"
    write(notes / "odd.md", "odd")
    chunk = prepare.chunk

    def failing(content, *args, **keywords):
        if content == "odd":
            raise RuntimeError(f"password={secret} \ud800")
        return chunk(content, *args, **keywords)

    monkeypatch.setattr(prepare, "chunk", failing)
    brain = open_brain()
    report = brain.import_paths([notes])
    assert len(report.indexed) == 3
    ((path, reason),) = report.failed
    assert path == "notes:odd.md"
    assert reason.startswith("RuntimeError: password=")
    assert secret not in reason
    assert not report.complete
    monkeypatch.undo()
    assert lists(brain.import_paths([notes]))["notes:odd.md"] == "indexed"


@pytest.mark.parametrize("cuts", [1, 2])
def test_a_database_that_restarts_is_waited_for_and_one_that_stays_away_ends_the_run(
    open_brain, notes, monkeypatch, cuts
):
    brain = open_brain()
    put, calls = DocumentStore.put, []

    def cut(self, *args, **keywords):
        calls.append(1)
        if 2 <= len(calls) < 2 + cuts:
            with psycopg.connect(brain._database._conninfo, autocommit=True) as connection:
                connection.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity "
                    "where datname = current_database() and pid <> pg_backend_pid()"
                )
            raise DatabaseError("gone")
        return put(self, *args, **keywords)

    monkeypatch.setattr(DocumentStore, "put", cut)
    if cuts == 1:
        assert sorted(lists(brain.import_paths([notes])).values()) == ["indexed"] * 3
        return
    with pytest.raises(DatabaseError):
        brain.import_paths([notes])
    monkeypatch.undo()
    report = brain.import_paths([notes])
    assert sorted(lists(report).values()) == ["indexed", "indexed", "unchanged"]
    assert report.complete


def test_progress_counts_files_then_chunks(open_brain, notes):
    told = []
    open_brain().import_paths([notes], progress=lambda *step: told.append(step))
    assert told == [("import", 1, 3), ("import", 2, 3), ("import", 3, 3), ("embed", 3, 3)]


def test_redactions_are_counted_by_kind(open_brain, tmp_path):
    write(
        tmp_path / "n" / "a.md", "db_password: " + "Winter" + "2027!x\n" + "api_key: " + "k9J2m4N6p8Q0r2S4t6V8" + "\n"
    )
    brain = open_brain()
    report = brain.import_paths([tmp_path / "n"])
    assert sum(report.redactions.values()) == 2
    assert list(report.redactions) == sorted(report.redactions)
    assert brain.counts()["redactions"] == 2
    assert sum(brain.import_paths([tmp_path / "n"]).redactions.values()) == 0


def test_without_embedding_everything_is_pending(open_brain, notes):
    brain = open_brain()
    report = brain.import_paths([notes], embed=False)
    assert (report.pending, report.embedded, report.complete) == (3, 0, False)
    assert brain.embed().embedded == 3
    assert brain.import_paths([notes], embed=False).pending == 0


def test_an_importer_can_be_used_alone(database, notes):
    from brainkit import Settings
    from brainkit.ingestion import Importer

    report = Importer(database, DocumentStore(database), Scrubber(), Settings(embedder="wordllama")).run([notes])
    assert isinstance(report, ImportReport)
    assert report.indexed == ["notes:net/dns.md", "notes:net/zones.yaml", "notes:ups.md"]


@pytest.mark.parametrize("path", ["", "  ", "~nobody-of-that-name/x", "x" * 5000, "a\0b", "/no/such/folder"])
def test_what_cannot_be_a_path_is_a_usage_error_and_imports_nothing(open_brain, path):
    brain = open_brain()
    with pytest.raises(UsageError):
        brain.import_paths([path])
    assert brain.counts()["documents"] == 0
