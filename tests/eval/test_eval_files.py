"""The files of a report where something is in the way, and pictures of few scores."""

import re
import struct
from pathlib import Path

import pytest

from brainkit.eval.files import _point_at
from brainkit.eval.journal import new_folder
from brainkit.eval.picture import histogram
from brainkit.labels import Label


def test_folders_of_the_same_second_are_told_apart(tmp_path):
    names = [new_folder(tmp_path / "out").name for _ in range(3)]
    assert len(set(names)) == 3
    assert all(re.fullmatch(r"\d{8}-\d{6}(-\d+)?", name) for name in names)


def test_latest_moves_on_and_survives_a_half_made_link(tmp_path):
    link = tmp_path / "latest"
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        _point_at(link, tmp_path / name)
        assert link.resolve() == tmp_path / name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", "one", "two"]


def test_where_there_are_no_symbolic_links_a_text_file_says_it(tmp_path, monkeypatch):
    def none(*_, **__):
        raise OSError("not supported")

    monkeypatch.setattr(Path, "symlink_to", none)
    _point_at(tmp_path / "latest", tmp_path / "one")
    assert (tmp_path / "latest").read_text() == "one\n"


YES, NO = Label("y", "?", True), Label("n", "?", False, kind="off_topic")


@pytest.mark.parametrize("labels", [[YES], [NO], [YES, NO]], ids=["yes", "no", "both"])
@pytest.mark.parametrize("threshold", [None, 0.4])
def test_few_and_equal_scores_make_a_picture_all_the_same(tmp_path, labels, threshold):
    file = tmp_path / "p.png"
    histogram({label.id: 0.5 for label in labels}, labels, threshold, "score", file)
    raw = file.read_bytes()
    assert raw.startswith(b"\x89PNG")
    assert struct.unpack(">II", raw[16:24]) == (960, 552)
