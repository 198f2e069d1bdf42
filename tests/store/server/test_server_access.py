"""Who gets in: the owner, and nobody else."""

import os
import shutil
import tempfile
from pathlib import Path

import psycopg
import pytest

from brainkit.errors import ServerStartError
from brainkit.store.server import EmbeddedServer, account, cluster, layout, process
from brainkit.store.server.deploy import deploy
from brainkit.store.server.programs import find_programs

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


@pytest.fixture
def nobodys_folder():
    """A folder of the user nobody, below one that everybody may enter."""
    folder = Path(tempfile.mkdtemp(prefix="brainkit-test-", dir="/tmp"))
    folder.chmod(0o755)
    (folder / "own").mkdir()
    shutil.chown(folder / "own", "nobody")
    yield folder
    shutil.rmtree(folder)


@as_root
def test_a_stranger_is_refused_by_the_file_system(server, actor):
    said = actor("stranger", server.conninfo(), "nobody").communicate()[0]
    assert "Permission denied" in said


@as_root
def test_a_stranger_who_reaches_the_socket_is_refused_by_postgresql(server, actor):
    folder = server.data_dir.with_name("run")
    opened = [(path, path.stat().st_mode) for path in (folder.parent, folder, folder / ".s.PGSQL.5432")]
    try:
        for path, _ in opened:
            path.chmod(0o777)
        said = actor("stranger", server.conninfo(), "nobody").communicate()[0]
    finally:
        for path, mode in opened:
            path.chmod(mode)
    assert "Peer authentication failed" in said
    with psycopg.connect(server.conninfo()) as connection:
        peers = {name for (name,) in connection.execute("SELECT sys_name FROM pg_ident_file_mappings")}
    assert peers == {"root", "brainkit"}


@as_root
def test_as_root_the_server_runs_as_its_own_user_in_a_home_others_cannot_enter(server):
    assert server.home.parent.stat().st_mode & 0o777 == 0o700
    running = process.postmaster(server.data_dir)
    assert running.username() == "brainkit"
    assert set(running.uids()) == {server.data_dir.stat().st_uid}
    # what root executes or obeys cannot be changed by the server's user
    for path in (server.data_dir.parent, layout.SYSTEM_ROOT, layout.locate(server.home).programs, server.home):
        assert path.stat().st_uid == 0
        assert not path.stat().st_mode & 0o022


def test_an_ordinary_user_has_everything_below_the_home(request, actor, tmp_path):
    if os.geteuid() != 0:
        said = actor("unprivileged", tmp_path / "home", "-", "-").communicate()[0]
    else:
        folder = request.getfixturevalue("nobodys_folder")
        # The environment's own package, unless it lies where nobody cannot read.
        programs = find_programs()
        readable = all(parent.stat().st_mode & 0o001 for parent in programs.bin.parents)
        bin_dir = "-" if readable else deploy(programs, folder).bin
        said = actor("unprivileged", folder / "own" / "home", "nobody", bin_dir).communicate()[0]
    assert said == "42\n"


def test_the_user_of_a_home_made_by_root_is_told_so(tmp_path, monkeypatch):
    (tmp_path / layout.POINTER).write_text("/var/lib/brainkit/0123456789abcdef\n")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(ServerStartError, match="was made by root"):
        layout.locate(tmp_path)


def test_root_is_told_when_a_home_is_somebody_elses(tmp_path, monkeypatch):
    (tmp_path / layout.FOLDER).mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(ServerStartError, match=f"made by user id {os.getuid()}"):
        layout.locate(tmp_path)


def test_a_planted_folder_is_not_used(tmp_path):
    uid, gid = os.getuid(), os.getgid()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "mine").mkdir(mode=0o700)
    for name, owner in (("link", uid), ("open", uid), ("mine", uid + 1)):
        with pytest.raises(ServerStartError, match=f"/{name} is not a folder that belongs to user id {owner}"):
            layout.make_folder(tmp_path / name, owner, gid, 0o700)
    layout.make_folder(tmp_path / "mine", uid, gid, 0o700)


def test_a_user_without_name_is_told_what_to_do(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 3_999_999)
    with pytest.raises(ServerStartError, match="User id 3999999 has no name"):
        account.account_for("brainkit")


@as_root
def test_the_system_user_is_made_once_and_nothing_else_changes():
    name = f"bktest{os.getpid()}"
    databases = [Path("/etc/passwd"), Path("/etc/group")]
    before = [path.read_text().splitlines() for path in databases]
    try:
        made = account.account_for(name)
        after = [path.read_text().splitlines() for path in databases]
        assert account.account_for(name) == made
        assert [path.read_text().splitlines() for path in databases] == after
        passwd, group = (set(new) - set(old) for new, old in zip(after, before, strict=True))
        assert [line.split(":")[0] for line in (*passwd, *group)] == [name, name]
        assert passwd.pop().endswith("/nologin")
        assert 0 < made.uid < 1000
        assert made.separate
        assert not Path("/home", name).exists()
    finally:
        account.subprocess.run(["userdel", name], check=False, capture_output=True)
    assert [path.read_text().splitlines() for path in databases] == before


def pretend_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(account, "_own_name", lambda: "root")


def test_a_system_without_useradd_is_told_what_to_do(monkeypatch):
    pretend_root(monkeypatch)
    monkeypatch.setattr(account.shutil, "which", lambda *_, **__: None)
    with pytest.raises(ServerStartError, match=r"no useradd .*BOR_PG_OSUSER.*BOR_DATABASE_URL"):
        account.account_for("nobody-has-this-name")


def test_a_failing_useradd_is_quoted(monkeypatch, tmp_path):
    pretend_root(monkeypatch)
    useradd = tmp_path / "useradd"
    useradd.write_text("#!/bin/sh\necho cannot lock /etc/passwd >&2\nexit 1\n")
    useradd.chmod(0o755)
    monkeypatch.setattr(account.shutil, "which", lambda *_, **__: str(useradd))
    with pytest.raises(ServerStartError, match=r"nobody-has-this-name failed: cannot lock /etc/passwd\."):
        account.account_for("nobody-has-this-name")


def test_root_itself_is_refused(monkeypatch):
    pretend_root(monkeypatch)
    with pytest.raises(ServerStartError, match="BOR_PG_OSUSER=root"):
        account.account_for("root")


def test_a_program_that_cannot_run_is_named(tmp_path):
    me = account.Account("me", os.getuid(), os.getgid(), separate=False, me="me")
    with pytest.raises(ServerStartError, match=r"cannot run .*/absent: No such file"):
        me.run(tmp_path / "absent")
    with pytest.raises(ServerStartError, match=r"/bin/sh failed with exit code 3:\nreason"):
        me.run("/bin/sh", "-c", "echo reason; exit 3")


def test_a_link_in_place_of_a_settings_file_is_not_followed(tmp_path):
    (tmp_path / "valuable").write_text("keep")
    (tmp_path / "pg_hba.conf").symlink_to(tmp_path / "valuable")
    me = account.Account("me", os.getuid(), os.getgid(), separate=False, me="me")
    cluster._write(tmp_path / "pg_hba.conf", "new", me)
    assert (tmp_path / "valuable").read_text() == "keep"
    assert (tmp_path / "pg_hba.conf").read_text() == "new"


@as_root
def test_root_without_a_writable_system_folder_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(layout, "SYSTEM_ROOT", tmp_path / "file" / "brainkit")
    with pytest.raises(ServerStartError, match=r"/file/brainkit.*BOR_DATABASE_URL"):
        EmbeddedServer(tmp_path / "home").start()
