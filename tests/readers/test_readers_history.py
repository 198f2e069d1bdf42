"""The history of a repository: what a commit says, and that nothing of the repository runs."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from datetime import UTC, datetime

import pytest

from brainkit.readers import Skipped, git_log

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
WHEN = "1700000000 +0200"


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "owl"
    folder.mkdir()

    def git(*arguments, **environment):
        known = {
            "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": WHEN, "GIT_COMMITTER_DATE": WHEN,
            "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org", "PATH": os.environ["PATH"],
        }  # fmt: skip
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env=known | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=20,
        )
        return done.stdout.decode().strip()

    git("init", "--quiet", "--initial-branch", "main")
    return folder, git


def commit(repository, message, *files):
    folder, git = repository
    for name in files:
        path = folder / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(path.read_bytes() + b"more\n" if path.exists() else b"first\n")
    git("add", ".")
    git("commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", message)
    return git("rev-parse", "HEAD")


def test_commits(repository, scrubber):
    folder, _ = repository
    first = commit(repository, "Add the backup", "backup.sh", "conf/a b.toml")
    second = commit(repository, "Fix tok-1\n\nIt failed with tok-2:\n\n    no space\n\nSee #5.", "backup.sh")
    newest, oldest = git_log(folder, scrubber=scrubber)
    assert (oldest.title, oldest.ref, oldest.path) == ("Add the backup", first, f".git-log/{first[:12]}")
    assert oldest.content == "Add the backup\n\nChanged files:\n- backup.sh\n- conf/a b.toml\n"
    assert oldest.full_path == f"{folder}/.git-log/{first[:12]}"
    assert (oldest.role, oldest.format, oldest.project, oldest.note) == ("commit", "text", "owl", "")
    assert oldest.ts == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert (newest.title, newest.ref) == ("Fix [REDACTED:token]", second)
    assert newest.content == (
        "Fix [REDACTED:token]\n\nIt failed with [REDACTED:token]:\n\n    no space\n\nSee #5.\n\n"
        "Changed files:\n- backup.sh\n"
    )
    assert newest.redactions == {"token": 2}
    assert newest.scrub_version == "fake-1"


def test_odd_commits(repository, scrubber):
    folder, git = repository
    shas = [
        commit(repository, "", "a"),
        commit(repository, "nothing changed"),
        commit(repository, "names", "new\nline", b"b\xfcro", "-x", "a" * 40, "tok-1"),
        commit(repository, "many", *(f"n/{n:03}" for n in range(203))),
    ]
    git("checkout", "--quiet", "-b", "side", shas[0])
    shas.append(commit(repository, "beside", "s"))
    git("checkout", "--quiet", "main")
    git("merge", "--quiet", "--no-edit", "side")
    documents = {document.ref: document for document in git_log(folder, scrubber=scrubber)}
    assert set(shas) < set(documents)
    assert len(documents) == 6
    untitled, empty, names, many, _ = (documents[sha] for sha in shas)
    assert (untitled.title, untitled.content) == (shas[0][:12], "Changed files:\n- a\n")
    assert empty.content == "nothing changed\n"
    assert set(names.content.split("\n- ")[1:]) == {"-x", "a" * 40, "büro", "new line", "[REDACTED:token]\n"}
    assert many.content.count("\n- n/") == 200
    assert many.content.endswith("- n/199\n- and 3 more\n")
    assert "Merge branch 'side'\n" in {document.content for document in documents.values()}


def test_only_the_newest_are_read(repository, scrubber, monkeypatch):
    monkeypatch.setattr("brainkit.readers.history.MAX_COMMITS", 2)
    for n in range(3):
        commit(repository, f"number {n}")
    assert [document.title for document in git_log(repository[0], scrubber=scrubber)] == ["number 2", "number 1"]


def test_without_a_repository_git_or_a_commit_it_says_so(tmp_path, repository, scrubber, monkeypatch):
    folder, _ = repository
    (folder / "sub").mkdir()
    nothing = "no git history: the folder is not the top of a git repository"
    assert git_log(tmp_path, scrubber=scrubber) == Skipped(".git-log", nothing)
    assert git_log(folder / "sub", scrubber=scrubber) == Skipped(".git-log", nothing)
    assert git_log(folder, scrubber=scrubber).reason.startswith("git history cannot be read: fatal: ")
    (tmp_path / "tok-1").mkdir()
    (tmp_path / "tok-1" / ".git").write_text("gitdir: tok-2\n")
    assert "tok-" not in git_log(tmp_path / "tok-1", scrubber=scrubber).reason
    monkeypatch.setenv("PATH", "")
    assert git_log(folder, scrubber=scrubber) == Skipped(".git-log", "no git history: the program git is not installed")


def test_the_callers_environment_names_no_other_repository(tmp_path, repository, scrubber, monkeypatch):
    commit(repository, "mine")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert [document.title for document in git_log(repository[0], scrubber=scrubber)] == ["mine"]


@pytest.fixture
def trap(tmp_path, repository):
    """A repository that has a program run wherever its settings can name one; and whether it ran."""
    folder, git = repository
    program, mark = tmp_path / "trap", tmp_path / "ran"
    program.write_text(f"#!/bin/sh\necho ran >> '{mark}'\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (folder / ".gitattributes").write_text("* diff=trap filter=trap\n")
    commit(repository, "bait", "a.txt")
    commit(repository, "more", "a.txt")
    for key in (
        "core.pager", "pager.log", "core.fsmonitor", "gpg.program", "diff.external", "diff.trap.command",
        "diff.trap.textconv", "filter.trap.clean", "filter.trap.smudge", "core.sshCommand", "core.editor",
        "core.askPass", "core.alternateRefsCommand", "uploadpack.packObjectsHook", "interactive.diffFilter",
    ):  # fmt: skip
        git("config", key, str(program))
    for key, value in {
        "log.showSignature": "true",
        "alias.log": f"!{program}",
        "core.hooksPath": str(tmp_path),
    }.items():
        git("config", key, value)
    return repository, mark, program


def test_nothing_of_the_repository_runs(trap, scrubber):
    (folder, git), mark, _ = trap
    with pytest.raises(subprocess.CalledProcessError):
        git("log", "-p", "--ext-diff")
    assert mark.exists()  # the trap works
    mark.unlink()
    assert [document.title for document in git_log(folder, scrubber=scrubber)] == ["more", "bait"]
    assert not mark.exists()


def test_a_partial_clone_fetches_nothing(trap, scrubber):
    (folder, git), mark, program = trap
    for key, value in {
        "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::{program} %S", "remote.origin.promisor": "true",
        "remote.origin.partialCloneFilter": "tree:0",
    }.items():  # fmt: skip
        git("config", key, value)
    tree = git("rev-parse", "HEAD^{tree}")
    (folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(subprocess.CalledProcessError):
        git("log", "--name-only")
    assert mark.exists()  # the trap works
    mark.unlink()
    assert isinstance(git_log(folder, scrubber=scrubber), Skipped)
    assert not mark.exists()
