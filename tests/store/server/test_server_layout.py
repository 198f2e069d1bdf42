"""Where things lie: pointers, moved and copied homes, long paths."""

import os
import stat
import tempfile
from pathlib import Path

import psycopg
import pytest

from brainkit.errors import ServerStartError
from brainkit.store.server import EmbeddedServer, account, layout


@pytest.fixture
def me():
    return account.Account("me", os.getuid(), os.getgid(), separate=False, me="me")


@pytest.fixture
def as_root(tmp_path, monkeypatch):
    """Root's rules in a system folder of the test's own."""
    if os.geteuid() != 0:
        pytest.skip("needs root to give folders away")
    monkeypatch.setattr(layout, "SYSTEM_ROOT", tmp_path / "var")
    return account.Account("nobody", 65534, os.getgid(), separate=True, me="root")


@pytest.fixture
def as_user(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 12345)


def make(path):
    path.mkdir()
    return path


def with_data(home, owner):
    found = layout.prepare(home, owner)
    found.data(18).mkdir()
    return found


def test_a_users_server_lies_below_the_home(me, as_user):
    with tempfile.TemporaryDirectory(prefix="bk") as short:  # a longer one has its socket elsewhere
        home = Path(short)
        found = layout.prepare(home, me)
        assert found.state == home / "postgresql"
        assert found.data(18) == home / "postgresql" / "pg18"
        for folder in (found.state, found.socket, found.programs):
            assert folder.is_relative_to(home)
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_newest_data_count(tmp_path, me, as_user):
    found = layout.prepare(tmp_path, me)
    assert found.data_major() is None
    for name in ("pg9", "pg18", "pg17", "pg19.unfinished"):
        (found.state / name).mkdir()
    assert found.data_major() == 18


@pytest.mark.parametrize("name", ["x" * 80, "notes, mine", os.fsdecode(b"caf\xe9")])
def test_a_home_no_socket_fits_in_gets_a_short_private_folder(tmp_path, me, as_user, name):
    home = make(tmp_path / name)
    found = layout.prepare(home, me)
    try:
        assert found.socket.parent == Path("/tmp")
        assert len(os.fsencode(found.socket / ".s.PGSQL.5432")) <= 100
        assert stat.S_IMODE(found.socket.stat().st_mode) == 0o700
        assert layout.locate(home).socket == found.socket
        assert layout.locate(tmp_path / "other").socket != found.socket
    finally:
        found.socket.rmdir()


def test_a_path_that_pg_ctl_would_hand_to_a_shell_is_refused(tmp_path, as_user):
    with pytest.raises(ServerStartError, match=r"has '\$' in it"):
        layout.locate(tmp_path / "$HOME")


def test_roots_server_lies_in_a_system_folder_that_the_home_points_to(tmp_path, as_root):
    home = make(tmp_path / "home")
    found = layout.prepare(home, as_root)
    assert found.state.parent == tmp_path / "var"
    assert (home / layout.POINTER).read_text() == f"{found.state}\n"
    assert layout.prepare(home, as_root) == found == layout.locate(home)
    assert found.socket.stat().st_uid == as_root.uid
    assert stat.S_IMODE(found.state.stat().st_mode) == 0o750


def test_a_moved_home_keeps_its_data_and_its_old_place_can_be_used_again(tmp_path, as_root):
    home = make(tmp_path / "home")
    found = with_data(home, as_root)
    moved = home.rename(tmp_path / "moved")
    assert layout.prepare(moved, as_root) == found
    assert layout.prepare(make(home), as_root).state != found.state
    assert layout.prepare(moved, as_root) == found


def test_a_copied_home_is_refused_and_the_original_still_works(tmp_path, as_root):
    home, copy = make(tmp_path / "home"), make(tmp_path / "copy")
    found = with_data(home, as_root)
    (copy / layout.POINTER).write_bytes((home / layout.POINTER).read_bytes())
    with pytest.raises(ServerStartError, match=f"{copy} is a copy of {home}"):
        layout.prepare(copy, as_root)
    assert layout.prepare(home, as_root) == found


def test_a_home_whose_data_are_gone_is_no_empty_brain(tmp_path, as_root):
    home = make(tmp_path / "home")
    layout.prepare(home, as_root)
    (tmp_path / "var").rename(tmp_path / "lost")
    with pytest.raises(ServerStartError, match=r"is gone: .* to begin with an empty brain"):
        layout.prepare(home, as_root)


def test_a_deleted_home_begins_anew_and_the_old_data_are_named_not_deleted(tmp_path, as_root, caplog):
    home = make(tmp_path / "home")
    found = with_data(home, as_root)
    (home / layout.POINTER).unlink()
    fresh = layout.prepare(home, as_root)
    assert fresh.state != found.state
    assert found.data(18).is_dir()
    assert str(found.state) in caplog.text


def test_a_pointer_is_not_believed_beyond_the_system_folder(tmp_path, as_root):
    for elsewhere in ("/etc", f"{tmp_path}/var/../../etc", f"{tmp_path}/var/programs"):
        (tmp_path / layout.POINTER).write_text(elsewhere)
        with pytest.raises(ServerStartError, match="does not name a folder of brainkit"):
            layout.locate(tmp_path)


def test_a_server_runs_with_a_socket_in_the_short_folder(tmp_path_factory, monkeypatch):
    """The whole life in a folder too deep for a socket, also as root."""
    deep = Path(tempfile.mkdtemp(prefix="brainkit-test-", dir="/tmp"))
    deep.chmod(0o755)
    if os.geteuid() == 0:
        monkeypatch.setattr(layout, "SYSTEM_ROOT", deep / ("d" * 100))
    server = EmbeddedServer(deep / ("h" * 100))
    try:
        with server, psycopg.connect(server.conninfo()) as connection:
            folder = Path(connection.execute("SHOW unix_socket_directories").fetchone()[0])
            assert folder.parent == Path("/tmp")
    finally:
        server.erase()
        assert not folder.exists()
        layout_root = layout.SYSTEM_ROOT if os.geteuid() == 0 else deep
        for path in {layout_root, deep}:
            account.shutil.rmtree(path, ignore_errors=True)
