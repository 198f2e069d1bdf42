"""Labels on disk."""

import os

import pytest

from brainkit.errors import LabelsError
from brainkit.labels import Label, Relevant, load, merge, save

B = Label("b", "Wie heißt der Port? \u2028 Zeile", True, (Relevant("ü.md", "„5335“"),), tags=("german",))
A = Label("a", "Who?", False, kind="off_topic")


def test_saved_sorted_in_utf8_one_object_a_line_in_fixed_order(tmp_path):
    path = tmp_path / "questions.jsonl"
    save(path, [B, A])
    lines = path.read_bytes().split(b"\n")
    assert lines[0].decode() == (
        '{"id": "a", "question": "Who?", "answerable": false, "relevant": [], "reference": "", "kind": "off_topic", '
        '"tags": [], "must_pass": false, "source": ""}'
    )
    assert "heißt" in lines[1].decode()
    assert lines[2:] == [b""]
    assert load(path) == [A, B]
    save(path, load(path))
    assert path.read_bytes().split(b"\n") == lines


def test_bom_crlf_and_blank_lines_are_tolerated(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"id":"a","question":"q","answerable":true}\r\n\r\n{"id":"b","question":"q","answerable":true}'
    )
    assert [label.id for label in load(path)] == ["a", "b"]
    path.write_bytes(b"")
    assert load(path) == []


@pytest.mark.parametrize(
    ("second_line", "message"),
    [
        (b"{oops}", r"q\.jsonl:2: not JSON"),
        (b"[" * 200_000, r"q\.jsonl:2: not JSON"),
        (b"[]", r"q\.jsonl:2 = \[\] is not allowed: give an object"),
        (b'{"id": "b"}', r"q\.jsonl:2: question is missing; fields given: id"),
        (b'{"id": "\xff"}', r"q\.jsonl:2: byte 9 is not UTF-8"),
    ],
)
def test_errors_name_the_line(tmp_path, second_line, message):
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'{"id":"a","question":"q","answerable":true}\n' + second_line + b"\n")
    with pytest.raises(LabelsError, match=message):
        load(path)


def test_a_missing_file_and_a_missing_folder_are_named(tmp_path):
    with pytest.raises(LabelsError, match=r"none\.jsonl cannot be read: No such file"):
        load(tmp_path / "none.jsonl")
    with pytest.raises(LabelsError, match=r"cannot be written: No such file"):
        save(tmp_path / "none" / "q.jsonl", [A])


def test_a_failed_save_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "q.jsonl"
    save(path, [A])
    before = path.read_bytes()

    def full_disk(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(LabelsError, match="No space left on device"):
        save(path, [A, B])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_save_keeps_a_link_a_link_and_the_files_rights(tmp_path):
    path = tmp_path / "real.jsonl"
    save(path, [A])
    path.chmod(0o640)
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    save(link, [A, B])
    assert link.is_symlink()
    assert load(path) == [A, B]
    assert path.stat().st_mode & 0o777 == 0o640


def test_merge_replaces_the_same_id_and_sorts():
    newer = Label("a", "Who else?", False, kind="off_topic")
    assert merge([B, A], [newer]) == [newer, B]
    assert merge([], [A, newer]) == [newer]
    assert merge([], []) == []
