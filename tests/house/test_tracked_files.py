"""What must not lie in the repository: package indexes, places on one machine, anything like a credential."""

import configparser
import os
import re
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parent.parent.parent
MOST_BYTES = 2_000_000
INDEXES = [
    "pypi" + ".org",
    "python" + "hosted.org",
    "conda" + ".anaconda.org",
    "npm" + "js.org",
    "hugging" + "face.co/simple",
]
CREDENTIALS = {
    "private key": "-----BEGIN " + r"(?:[A-Z]+ )?PRIVATE KEY-----\s*(?:\\n)?[A-Za-z0-9+/]{20}",
    "AWS key": r"\b(?:AK" + "IA|AS" + r"IA)[0-9A-Z]{16}\b",
    "GitHub token": r"\bgh[pousr]_" + r"[A-Za-z0-9]{36}\b|\bgithub_" + r"pat_[A-Za-z0-9_]{40,}",
    "GitLab token": r"\bgl" + r"pat-[A-Za-z0-9_-]{20}\b",
    "Slack token": r"\bxox" + r"[baprs]-[A-Za-z0-9-]{20,}",
    "OpenAI key": r"\bsk-" + r"(?:proj-)?[A-Za-z0-9]{32,}\b",
    "Anthropic key": r"\bsk-" + r"ant-[A-Za-z0-9_-]{20,}",
    "Google key": r"\bAI" + r"za[0-9A-Za-z_-]{35}\b",
    "Stripe key": r"\b[sr]k_" + r"live_[A-Za-z0-9]{20,}",
    "age key": "AGE-SECRET" + r"-KEY-1[0-9A-Z]{40,}",
    "JWT": r"\bey" + r"J[A-Za-z0-9_-]{15,}\.ey" + r"J[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{15,}",
    "password in an address": r"\b[a-z][a-z0-9+]{2,}://[^\s/:@$<{*\[]+:(?!\$|\{|<|\*|\[|pw\b|pass|secret|geheim)[^\s/@$<{*\[]{8,}@",
}


def tracked() -> list[Path]:
    """Files git knows or would add; every file where there is no git."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        hidden = {".venv", ".git", "out", "__pycache__", ".mypy_cache", ".ruff_cache"}
        return [p for p in ROOT.rglob("*") if p.is_file() and not hidden & set(p.parts)]
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def texts() -> list[tuple[str, str]]:
    found = []
    for path in tracked():
        raw = path.read_bytes()
        if b"\0" not in raw[:4096]:
            found.append((str(path.relative_to(ROOT)), raw.decode("utf-8", "replace")))
    return found


TEXTS = texts()


def index_hosts() -> set[str]:
    """Hosts of the indexes that this machine's pip and uv are told to use."""
    values = [value for name, value in os.environ.items() if re.fullmatch(r"(PIP|UV)_\w*(INDEX|URL|LINKS)\w*", name)]
    for place in ("~/.config/pip/pip.conf", "~/.pip/pip.conf", "/etc/pip.conf"):
        config = configparser.RawConfigParser(strict=False)
        config.read(Path(place).expanduser())
        values += [value for part in config.sections() for name, value in config.items(part) if "index" in name]
    hosts = {urlsplit(url).hostname or "" for value in values for url in value.split()}
    return {host for host in hosts if "." in host}


def test_there_is_something_to_look_at():
    names = {name for name, _ in TEXTS}
    assert {"pyproject.toml", "brainkit/settings.py", "tests/conftest.py"} <= names


def test_no_address_of_a_package_index():
    hosts = [*INDEXES, *index_hosts()]
    found = [
        (name, host) for name, text in TEXTS for host in hosts if host in text and not name.startswith("eval/corpus/")
    ]
    assert found == []


def test_no_place_on_one_machine():
    places = [str(place) for place in (ROOT, Path.home()) if len(place.parts) > 2]  # a short one may stand for itself
    places += ["/wo" + "rk/main", "/wo" + "rk/shared"]
    found = [(n, p) for n, text in TEXTS for p in places if p in text and not n.startswith("eval/corpus/")]
    assert found == []


@pytest.mark.parametrize("kind", CREDENTIALS)
def test_nothing_like_a_credential_but_in_files_that_say_so(kind):
    shape = re.compile(CREDENTIALS[kind])
    found = [
        (name, match[0][:12]) for name, text in TEXTS if "fake-secrets" not in name for match in shape.finditer(text)
    ]
    assert found == []


def test_the_shapes_find_what_they_are_for():
    samples = {
        "AWS key": "AK" + "IA" + "Q7" * 8,
        "GitHub token": "gh" + "p_" + "aB3" * 12,
        "JWT": ".".join(["ey" + "Jh" * 10] * 2 + ["x" * 20]),
        "private key": "-----BEGIN " + "RSA PRIVATE KEY-----\n" + "MIIE" * 9,
        "password in an address": "postgresql://me:" + "Tr0ub4dor3@db/x",
    }
    for kind, sample in samples.items():
        assert re.search(CREDENTIALS[kind], sample), kind


def test_no_file_is_large():
    large = [str(path.relative_to(ROOT)) for path in tracked() if path.stat().st_size > MOST_BYTES]
    assert large == []
