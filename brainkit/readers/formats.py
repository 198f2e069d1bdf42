"""What a file is, by its name: its format, its role, and whether it is among those to be imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from brainkit.readers.model import Format

UNITS = (
    "service", "timer", "socket", "mount", "automount", "network", "netdev", "link", "path", "target", "slice", "swap",
    "device", "scope", "nspawn", "container", "volume", "pod", "kube", "image", "build",
)  # fmt: skip
"""Endings of systemd units, and of the files that Podman makes units of."""
NAMED = (
    "dockerfile", "containerfile", "makefile", "caddyfile", "vagrantfile", "jenkinsfile", "justfile", "procfile",
    "gemfile", "rakefile", "brewfile", "env",
)  # fmt: skip
"""Files known by their whole name; a dot and more may follow, as in ``Dockerfile.dev`` and ``.env.local``."""
ENDINGS: dict[str, Format] = {
    "md": "markdown", "markdown": "markdown", "txt": "text", "yaml": "yaml", "yml": "yaml", "json": "json",
    "py": "python", "ipynb": "ipynb", "toml": "toml", "ini": "ini", "cfg": "ini", "conf": "ini", "env": "ini",
    "properties": "ini", "editorconfig": "ini", "desktop": "ini", "gitconfig": "ini", "dockerfile": "dockerfile",
    "containerfile": "dockerfile", "tf": "terraform", "tfvars": "terraform", "hcl": "terraform", "html": "html",
    "htm": "html", "xhtml": "html", "rst": "rst", "org": "org", "csv": "csv", "tsv": "csv", "jsonl": "transcript",
    "ndjson": "transcript", **dict.fromkeys(UNITS, "unit"),
}  # fmt: skip
ROLES: dict[Format, str] = {
    "markdown": "note", "text": "note", "rst": "note", "org": "note", "html": "note", "python": "code", "ipynb": "code",
    "csv": "data", "transcript": "conversation",
}  # fmt: skip


def _name_of(name: str) -> str:
    """The entry of NAMED that a file's name is of, or ''."""
    first = name.lower().removeprefix(".").partition(".")[0]
    return first if first in NAMED else ""


def format_of(name: str) -> Format:
    """How a file of this name is read; ``text`` where nothing better is known.

    Example:
        >>> [format_of(name) for name in ("a.MD", "Dockerfile.dev", "backup.timer", ".env.local", "Caddyfile", "x.log")]
        ['markdown', 'dockerfile', 'unit', 'ini', 'text', 'text']
    """
    named, dot, ending = _name_of(name), *name.lower().rpartition(".")[1:]
    return ENDINGS.get(ending if dot else "") or ENDINGS.get(named, "text")


def role_of(name: str, kind: Format) -> str:
    """What a file is for: note, config, code, data or conversation."""
    return "config" if kind == "text" and _name_of(name) else ROLES.get(kind, "config")


class Selection:
    """Which files are imported: those with one of these endings, without the dot; case does not matter.

    An ending that is also a name by itself (``dockerfile``, ``containerfile``, ``makefile``, ``caddyfile``,
    ``vagrantfile``, ``jenkinsfile``, ``justfile``, ``procfile``, ``gemfile``, ``rakefile``, ``brewfile``, ``env``)
    takes the files of that name too, with or without more behind a dot.

    Example:
        >>> wanted = Selection(["md", "dockerfile"])
        >>> [wanted(name) for name in ("a.MD", "Dockerfile", "Dockerfile.dev", "x.dockerfile", "Makefile", "md")]
        [True, True, True, True, False, False]
    """

    def __init__(self, entries: Collection[str]) -> None:
        plain = [entry.lower().lstrip(".") for entry in entries]
        self._endings = tuple("." + entry for entry in plain)
        self._names = frozenset(plain) & frozenset(NAMED)

    def __call__(self, name: str) -> bool:
        """Whether a file of this name is imported."""
        return name.lower().endswith(self._endings) or (bool(self._names) and _name_of(name) in self._names)
