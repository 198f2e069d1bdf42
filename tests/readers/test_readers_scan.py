"""Which files of a folder are read, and what is said about the others."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from brainkit.errors import UsageError
from brainkit.readers import FoundFile, Skipped, scan


@pytest.fixture
def look(tmp_path, scrubber):
    """Scans a folder; returns the paths found and {path: reason} of the skipped."""

    def run(root=tmp_path, extensions=("md", "yaml", "py"), max_bytes=1000):
        items = list(scan(root, extensions=extensions, max_bytes=max_bytes, scrubber=scrubber))
        assert all(isinstance(item, FoundFile | Skipped) for item in items)
        found = [item.path.as_posix() for item in items if isinstance(item, FoundFile)]
        return found, {item.path: item.reason for item in items if isinstance(item, Skipped)}

    return run


@pytest.fixture
def put(tmp_path):
    def write(name, text="text"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


def test_found_sorted_by_path_with_size_and_time(tmp_path, put, scrubber):
    for name in ("z.md", "a/b.md", "a.md", "a/B.MD", "a/c.Yaml"):
        put(name)
    os.utime(tmp_path / "z.md", ns=(5, 1_700_000_000_000_000_000))
    items = list(scan(tmp_path, extensions=("MD", ".yaml"), max_bytes=9, scrubber=scrubber))
    assert [i.path.as_posix() for i in items] == ["a/B.MD", "a/b.md", "a/c.Yaml", "a.md", "z.md"]
    assert items[-1] == FoundFile(Path("z.md"), tmp_path / "z.md", 4, 1_700_000_000_000_000_000)


def test_other_endings_are_passed_over_in_silence(put, look):
    put("a.md"), put("b.png"), put("c"), put("mdx.mdx"), put("notmd")
    assert look() == (["a.md"], {})


def test_folders_are_excluded_by_their_whole_name_only(put, look):
    for folder in ("node_modules", "__pycache__", ".pytest_cache", "dist", "build", ".git", "sub/dist"):
        put(f"{folder}/a.md")
    for folder in ("node_modules_notes", "distribution", "rebuild", "env", "venv"):
        put(f"{folder}/a.md")
    put(".hidden.md"), put("myenv/pyvenv.cfg"), put("myenv/lib/a.py"), put(".venv/a.py")
    found, skipped = look()
    assert found == sorted([
        ".hidden.md", "distribution/a.md", "env/a.md", "node_modules_notes/a.md", "rebuild/a.md", "venv/a.md",
    ])  # fmt: skip
    assert skipped == {}


def test_a_root_is_read_whatever_its_name(tmp_path, put, look):
    put("build/a.md"), put("build/pyvenv.cfg")
    assert look(tmp_path / "build")[0] == ["a.md"]


def test_brainignore_follows_gitignore(put, look):
    put(".brainignore", "# comment\n*.yaml\nprivate/\n/top.md\ndeep/**/x.md\n!keep.yaml\n")
    put("sub/.brainignore", "!wanted.yaml\nonly-here.md\n")
    for name in (
        "a.yaml", "keep.yaml", "private/a.md", "sub/private/a.md", "top.md", "sub/top.md", "deep/1/2/x.md", "deep/y.md",
        "sub/wanted.yaml", "sub/other.yaml", "sub/only-here.md", "only-here.md", "sub/sub/wanted.yaml",
    ):  # fmt: skip
        put(name)
    found, skipped = look()
    assert set(found) == {
        "keep.yaml", "sub/top.md", "deep/y.md", "sub/wanted.yaml", "only-here.md", "sub/sub/wanted.yaml",
    }  # fmt: skip
    assert skipped == {}


def test_a_line_that_is_no_pattern_is_named_and_the_rest_holds(put, look):
    put(".brainignore", "!\nsecret.md\n"), put("secret.md"), put("a.md")
    found, skipped = look()
    assert found == ["a.md"]
    assert list(skipped) == [".brainignore"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "binary"])
def test_a_folder_whose_brainignore_cannot_be_read_is_not_read(tmp_path, put, look, kind):
    put("sub/a.md"), put("b.md")
    ignore = tmp_path / "sub/.brainignore"
    if kind == "folder":
        ignore.mkdir()
    elif kind == "pipe":
        os.mkfifo(ignore)
    else:
        ignore.write_bytes(b"\0" * 99)
    found, skipped = look()
    assert found == ["b.md"]
    assert skipped["sub"].startswith("its .brainignore cannot be read: not ")


def test_links_inside_are_followed_once(tmp_path, put, look):
    put("real/a.md"), put(".hidden/inner/b.md"), put("README", "no ending"), put(".hidden/.brainignore", "no.md")
    put(".hidden/no.md")
    (tmp_path / "a-link").symlink_to("real")
    (tmp_path / "shown").symlink_to(".hidden")
    (tmp_path / "again").symlink_to(".hidden/inner")
    (tmp_path / "real/loop").symlink_to("..")
    (tmp_path / "real/self").symlink_to("self")
    (tmp_path / "real/self.md").symlink_to("self.md")
    (tmp_path / "copy.md").symlink_to("real/a.md")
    (tmp_path / "README.md").symlink_to("README")
    found, skipped = look()
    assert found == ["README.md", "again/b.md", "real/a.md"]
    assert skipped == {
        "a-link": "symlink to a folder that is read under its own name",
        "copy.md": "symlink to a file that is read under its own name",
        "real/loop": "symlink to a folder that is read under its own name",
        "real/self.md": "symlink loop",
    }


def test_links_that_leave_the_folder_or_lead_nowhere(tmp_path, put, look):
    put("outside/secret.md"), put("root/a.md")
    root = tmp_path / "root"
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "out.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "out.png").symlink_to(tmp_path / "outside/secret.md")
    (root / "nowhere.md").symlink_to("gone.md")
    (root / "nowhere").symlink_to("gone")
    (root / "dist").symlink_to(".")
    (root / "up").symlink_to("..")
    assert look(root) == (
        ["a.md"],
        {
            "out": "symlink leaves the folder",
            "out.md": "symlink leaves the folder",
            "up": "symlink leaves the folder",
            "nowhere.md": "symlink to nothing that can be read",
        },
    )


def test_a_link_does_not_lead_around_brainignore(tmp_path, put, look):
    put(".brainignore", "private/\nlinked/\n"), put("private/deep/a.md"), put(".h/a.md")
    (tmp_path / "p").symlink_to("private")
    (tmp_path / "q").symlink_to("private/deep")
    (tmp_path / "r.md").symlink_to("private/deep/a.md")
    (tmp_path / "linked").symlink_to(".h")
    assert look() == ([], {})


def test_a_linked_root_is_a_root(tmp_path, put, look):
    put("real/a.md")
    (tmp_path / "root").symlink_to("real")
    assert look(tmp_path / "root") == (["a.md"], {})


def test_what_is_no_ordinary_file(tmp_path, put, look):
    put("empty.md", ""), put("large.md", "x" * 1001), put("exact.md", "x" * 1000), (tmp_path / "dir.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as sock:
        here = Path.cwd()
        os.chdir(tmp_path)  # a socket's name may be no longer than 107 bytes
        sock.bind("socket.md")
        os.chdir(here)
        found, skipped = look()
    assert found == ["exact.md"]
    assert skipped == {
        "empty.md": "empty",
        "large.md": "too large: 0.0 MB, and 0.001 MB may be read (BOR_MAX_FILE_MB)",
        "pipe.md": "not a regular file",
        "socket.md": "not a regular file",
    }


def test_unreadable_folders_and_files_do_not_stop_a_scan(tmp_path, put, look, monkeypatch):
    put("a/x.md"), put("b/y.md"), put("c.md")
    scandir, path_stat = os.scandir, Path.stat

    def refuse(path):
        if Path(path).name == "a":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    def refuse_stat(self, **options):
        if self.name == "c.md":
            raise OSError(5, "Input/output error")
        return path_stat(self, **options)

    monkeypatch.setattr(os, "scandir", refuse)
    monkeypatch.setattr(Path, "stat", refuse_stat)
    assert look() == (
        ["b/y.md"],
        {"a": "cannot be read: Permission denied", "c.md": "cannot be read: Input/output error"},
    )
    assert look(tmp_path / "a") == ([], {".": "cannot be read: Permission denied"})


def test_deeper_than_recursion_allows(tmp_path, look, monkeypatch):
    depth = 1200
    monkeypatch.chdir(tmp_path)
    for _ in range(depth):
        Path("d").mkdir()
        os.chdir("d")
    Path("a.md").write_text("deep")
    found, skipped = look()
    Path("a.md").unlink()
    for _ in range(depth):  # by hand: what cleans temporary folders recurses
        os.chdir("..")
        Path("d").rmdir()
    assert found == ["d/" * depth + "a.md"]
    assert skipped == {}


def test_odd_names_and_secrets_in_names(tmp_path, put, look):
    odd = ["with space.md", "new\nline.md", "emoji 🦉.md", "\u200emark.md", "back\\slash.md"]
    for name in odd:
        put(name)
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
    put("tok-abc/tok-def.md", "")
    found, skipped = look()
    assert sorted(found) == sorted([*odd, "caf\udce9.md"])
    assert list(skipped) == ["[REDACTED:token]/[REDACTED:token].md"]


def test_a_root_that_is_a_file(tmp_path, put, look):
    put("sub/a.md"), put("sub/.brainignore", "a.md"), put("b.png")
    assert look(tmp_path / "sub/a.md") == (["a.md"], {})
    found, skipped = look(tmp_path / "b.png")
    assert found == []
    assert list(skipped) == ["b.png"]


def test_no_root_is_an_error_at_once(tmp_path, scrubber):
    with pytest.raises(UsageError, match=r"\[REDACTED:token\]: no such file or folder"):
        scan(tmp_path / "tok-abc", extensions=("md",), max_bytes=9, scrubber=scrubber)
