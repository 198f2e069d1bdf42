"""Documents of files that are gone: removed only on request, and only where the folder was really read."""

import shutil

import pytest

from brainkit.errors import UsageError


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    for path in ("ups.md", "net/dns.md", "net/deep/vlan.md", "network/switch.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"text of {path}")
    return folder


@pytest.fixture
def brain(open_brain, notes):
    brain = open_brain()
    brain.import_paths([notes])
    return brain


def paths(brain):
    return [name.removeprefix("notes:") for name in brain.list_documents()]


EVERYTHING = ["net/deep/vlan.md", "net/dns.md", "network/switch.md", "ups.md"]


def test_without_prune_nothing_is_removed(brain, notes):
    (notes / "ups.md").unlink()
    report = brain.import_paths([notes])
    assert report.removed == []
    assert paths(brain) == EVERYTHING


def test_a_file_that_is_gone_is_removed_with_all_that_hangs_on_it(brain, notes):
    (notes / "ups.md").unlink()
    shutil.rmtree(notes / "net" / "deep")
    report = brain.import_paths([notes], prune=True)
    assert report.removed == ["notes:net/deep/vlan.md", "notes:ups.md"]
    assert report.changed == 2
    assert report.chunks == 2
    assert paths(brain) == ["net/dns.md", "network/switch.md"]
    assert brain.recall("text of ups.md", retrieval="lexical").evidence.unknown_terms > 0
    assert brain.import_paths([notes], prune=True).removed == []


def test_a_missing_folder_is_an_error_and_removes_nothing(brain, notes):
    shutil.rmtree(notes)
    with pytest.raises(UsageError, match="no such folder"):
        brain.import_paths([notes], prune=True)
    assert paths(brain) == EVERYTHING


@pytest.mark.parametrize("left", [None, "picture.png", "empty.md"])
def test_a_folder_without_any_file_to_read_removes_nothing(brain, notes, left):
    shutil.rmtree(notes)
    notes.mkdir()
    if left:
        (notes / left).touch()
    assert brain.import_paths([notes], prune=True).removed == []
    assert paths(brain) == EVERYTHING


def test_a_part_that_could_not_be_read_is_kept(brain, notes):
    shutil.rmtree(notes / "net" / "deep")
    (notes / "ups.md").unlink()
    (notes / "net" / ".brainignore").mkdir()  # cannot be read, so what it keeps out is not known
    report = brain.import_paths([notes], prune=True)
    assert [path for path, _ in report.skipped] == ["notes:net"]
    assert report.removed == ["notes:ups.md"]
    assert paths(brain) == ["net/deep/vlan.md", "net/dns.md", "network/switch.md"]


@pytest.mark.parametrize("text", ["", "x" * 3000, "\x89PNG" + "\x00" * 50])
def test_a_file_that_is_there_but_not_taken_any_more_keeps_its_document(brain, notes, open_brain, text):
    (notes / "ups.md").write_bytes(text.encode("latin-1"))
    report = open_brain(max_file_mb=0.002).import_paths([notes], prune=True)
    assert [path for path, _ in report.skipped] == ["notes:ups.md"]
    assert paths(brain) == EVERYTHING


def test_files_the_owner_leaves_out_now_are_removed(brain, notes):
    (notes / ".brainignore").write_text("net/\n")
    assert brain.import_paths([notes], prune=True).removed == ["notes:net/deep/vlan.md", "notes:net/dns.md"]


def test_pruning_a_sub_folder_stays_inside_it(brain, notes):
    shutil.rmtree(notes / "network")
    (notes / "ups.md").unlink()
    (notes / "net" / "dns.md").unlink()
    assert brain.import_paths([notes / "net"], prune=True).removed == ["notes:net/dns.md"]
    assert paths(brain) == ["net/deep/vlan.md", "network/switch.md", "ups.md"]
    (notes / "net" / "deep" / "vlan.md").rename(notes / "net" / "vlan.md")
    assert brain.import_paths([notes / "net"], prune=True).removed == ["notes:net/deep/vlan.md"]


def test_pruning_with_a_single_file_removes_nothing(brain, notes):
    (notes / "net" / "dns.md").unlink()
    assert brain.import_paths([notes / "ups.md"], prune=True).removed == []
    assert paths(brain) == EVERYTHING


def test_pruning_one_source_leaves_another_of_the_same_name_alone(brain, notes, tmp_path):
    other = tmp_path / "other" / "notes"
    other.mkdir(parents=True)
    (other / "ups.md").write_text("another")
    (other / "fan.md").write_text("fan")
    brain.import_paths([other])
    (other / "ups.md").unlink()
    (notes / "ups.md").unlink()
    assert brain.import_paths([other], prune=True).removed == ["notes-2:ups.md"]
    assert "ups.md" in paths(brain)
    assert brain.import_paths([notes], prune=True).removed == ["notes:ups.md"]


def test_a_renamed_file_keeps_its_vectors(brain, notes):
    (notes / "ups.md").rename(notes / "usv.md")
    (notes / "usv.md").write_text("# UPS\n\nThe same words")
    brain.import_paths([notes])
    (notes / "usv.md").rename(notes / "power.md")
    report = brain.import_paths([notes], prune=True)
    assert report.indexed == ["notes:power.md"]
    assert report.removed == ["notes:ups.md", "notes:usv.md"]
    assert (report.embedded, report.pending) == (0, 0)
