"""``brainkit import`` with ``--dry-run`` and ``--git-log``, and ``brainkit rescrub``."""

import json
import shutil
import subprocess

import pytest


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ups.md").write_text("# UPS\n\nThe battery was changed on 12 March 2024.\n")
    (folder / "dns.md").write_text("# DNS\n\npassword: " + "Quark" + "2024!x\n")
    return folder


def test_a_dry_run_of_a_brain_that_is_not_there_makes_none(run, notes, tmp_path, monkeypatch):
    monkeypatch.delenv("BOR_DATABASE_URL")
    report = json.loads(run("import", notes, "--dry-run", "--json").stdout)
    assert sorted(report["indexed"]) == ["notes:dns.md", "notes:ups.md"]
    assert report["redacted_files"] == {"notes:dns.md": {"password": 1}}
    assert report["dry_run"] is True
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes"]
    shown = run("import", notes, "--dry-run").stdout
    assert "nothing was written; would be: 2 indexed" in shown
    assert "notes:dns.md: 1 x password" in shown


def test_a_dry_run_of_a_brain_that_is_there_changes_nothing(run, notes):
    run("import", notes)
    before = run("status", "--documents", "--json").stdout
    (notes / "ups.md").unlink()
    (notes / "nas.md").write_text("# NAS\n\nFour disks.\n")
    report = json.loads(run("import", notes, "--prune", "--dry-run", "--json").stdout)
    assert (report["indexed"], report["removed"]) == (["notes:nas.md"], ["notes:ups.md"])
    assert json.loads(run("status", "--documents", "--json").stdout) == json.loads(before)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_was_committed_is_found(run, notes):
    def git(*arguments):
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *arguments], cwd=notes, check=True, capture_output=True)

    git("init", "-q")
    git("add", "ups.md")
    git("commit", "-q", "-m", "Replace the battery\n\nThe old one swelled after four years.")
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=notes, text=True).strip()
    report = json.loads(run("import", notes, "--git-log", "--json").stdout)
    assert f"notes:.git-log/{commit[:12]}" in report["indexed"]
    found = json.loads(run("recall", "what swelled after four years", "--role", "commit", "--json").stdout)
    assert [document["path"] for document in found["documents"]] == [f".git-log/{commit[:12]}"]
    again = json.loads(run("import", notes, "--git-log", "--prune", "--json").stdout)
    assert len(again["unchanged"]) == 3
    kept = json.loads(run("import", notes, "--prune", "--json").stdout)  # not asked for, so not looked at, so kept
    assert kept["removed"] == []


def test_rescrub_reports_what_it_changed(run, notes, tmp_path, monkeypatch):
    run("import", notes)
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]]\nkind = 'month'\npattern = 'March'\n")
    monkeypatch.setenv("BOR_SCRUB_RULES", str(rules))
    report = json.loads(run("rescrub", "--json").stdout)
    assert report["changed"] == ["notes:ups.md"]
    assert report["redactions"] == {"month": 1}
    assert report["rewritten"] is True
    found = json.loads(run("recall", "battery", "--json").stdout)
    assert "12 [REDACTED:month] 2024" in found["chunks"][0]["text"]
    assert "0 changed" in run("rescrub").stdout
