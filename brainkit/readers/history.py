"""The history of a Git repository as Documents: one for each commit, with its message and the files it changed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from brainkit.readers.model import Document, Skipped, content_hash
from brainkit.readers.names import scrub_each, shown_path, storable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brainkit.readers.model import TextScrubber

MAX_COMMITS = 10_000
MAX_FILES = 200
MAX_TITLE_CHARS = 300
SECONDS = 600
FOLDER = ".git-log"
HARMLESS = (
    f"core.hooksPath={os.devnull}", "core.fsmonitor=false", "core.pager=cat", "log.showSignature=false",
    "diff.external=", "core.sshCommand=false", f"core.attributesFile={os.devnull}",
)  # fmt: skip
"""Settings that win over the repository's own, which a stranger may have written to have a program run."""
LOG = (
    "log", "-z", "--format=%x00%H%x00%ct%x00%s%x00%b%x00", "--name-only", "--no-renames", "--no-ext-diff",
    "--no-textconv", "--no-show-signature", "--no-color", "--no-decorate", "--no-notes", "--encoding=UTF-8", "--root",
    "--no-follow", "--no-diff-merges", f"-O{os.devnull}",
)  # fmt: skip
HASH = re.compile(r"[0-9a-f]{40,64}")


class _Commit(NamedTuple):
    ref: str
    time: str
    subject: str
    body: str
    files: list[str]


def git_log(root: Path, *, scrubber: TextScrubber) -> list[Document] | Skipped:
    """The newest 10,000 commits that HEAD reaches, newest first, or Skipped with the reason.

    Each has the subject as title; subject, body and changed files (the first 200; none of a merge) as content; the full
    hash as ref; the time it was committed as ts; and ``.git-log/`` with 12 digits of the hash as path. The repository's
    settings cannot have anything run or fetched: hooks, pagers, signature checks, filters and transports are off.
    """
    root = Path(root).absolute()
    if not os.path.lexists(root / ".git"):
        return Skipped(FOLDER, "no git history: the folder is not the top of a git repository")
    program = shutil.which("git")
    if program is None:
        return Skipped(FOLDER, "no git history: the program git is not installed")
    settings = [part for setting in HARMLESS for part in ("-c", setting)]
    command = [program, "--no-pager", "-C", str(root), *settings, *LOG, f"--max-count={MAX_COMMITS}", "HEAD", "--"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False, env=_environment(root)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        said = error.strerror or "" if isinstance(error, OSError) else f"no answer in {SECONDS} seconds"
        return Skipped(FOLDER, f"git history cannot be read: {said}")
    if done.returncode:
        said = scrub_each([done.stderr.decode("utf-8", "replace").strip().split("\n")[0]], scrubber)[0]
        return Skipped(FOLDER, f"git history cannot be read: {said}")
    place, project = shown_path(root, scrubber), scrub_each([root.resolve().name], scrubber)[0]
    output = done.stdout.decode("utf-8", "surrogateescape")
    return [_document(commit, place, project, scrubber) for commit in _commits(output)]


def _environment(root: Path) -> dict[str, str]:
    """Without what the caller has set for git, which could name another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_CEILING_DIRECTORIES": str(root.parent),
        "GIT_ALLOW_PROTOCOL": "none",  # a partial clone fetches what it lacks, by any program its settings name
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def _commits(output: str) -> Iterator[_Commit]:
    """Four fields, each ended by a NUL; then, where files were changed, a newline and their names, up to an empty one.

    Neither a field nor a name can hold a NUL, so that no message and no name can pass for another commit.
    """
    parts, at = output.split("\0"), 0
    while at < len(parts):
        if not parts[at]:
            at += 1
            continue
        ref, time, subject, body = parts[at : at + 4]
        at += 4
        at += at < len(parts) and not parts[at]
        files = []
        if at < len(parts) and parts[at].startswith("\n"):
            end = parts.index("", at)
            files = [parts[at][1:], *parts[at + 1 : end]]
            at = end
        yield _Commit(ref, time, subject, body, files)


def _document(commit: _Commit, place: str, project: str, scrubber: TextScrubber) -> Document:
    ref = commit.ref if HASH.fullmatch(commit.ref) else ""
    names = [f"- {' '.join(storable(name).split())}" for name in commit.files[:MAX_FILES]]
    if len(commit.files) > MAX_FILES:
        names.append(f"- and {len(commit.files) - MAX_FILES:,} more")
    parts = [commit.subject, commit.body.strip(), "\n".join(["Changed files:", *names]) if names else ""]
    result = scrubber.scrub(storable("\n\n".join(part for part in parts if part) or "(no message)") + "\n")
    content, path = result.text, f"{FOLDER}/{ref[:12]}"
    counts: dict[str, int] = {}
    for finding in result.findings:
        counts[finding.kind] = counts.get(finding.kind, 0) + 1
    return Document(
        path=path,
        full_path=f"{place}/{path}",
        title=content.split("\n", 1)[0][:MAX_TITLE_CHARS] if commit.subject else ref[:12],
        content=content,
        content_hash=content_hash(content, scrubber),
        format="text",
        tags=(),
        ts=_time(commit.time),
        links=(),
        redactions=MappingProxyType(dict(sorted(counts.items()))),
        scrub_version=scrubber.version,
        note="",
        project=project,
        ref=ref,
        role="commit",
    )


def _time(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None
