"""What is imported, what it is, and which project it belongs to, all by name and place."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from brainkit.readers import Skipped, read_all, scan
from brainkit.readers.formats import Selection, format_of
from brainkit.readers.names import shown_path
from brainkit.scrub import Scrubber


def read(found, *, scrubber):
    """The document of a file that gives one, or why there is none."""
    documents = read_all(found, scrubber=scrubber)
    return documents if isinstance(documents, Skipped) else documents[0]


@pytest.mark.parametrize(
    ("entry", "taken", "left"),
    [
        ("md", ["a.md", "A.MD", ".md"], ["md", "a.mdx", "amd", "md.txt"]),
        ("dockerfile", ["Dockerfile", "Dockerfile.dev", "x.dockerfile"], ["Dockerfiles", "my-Dockerfile", "x.Docker"]),
        ("containerfile", ["Containerfile"], ["Dockerfile"]),
        ("makefile", ["Makefile", "makefile.am"], ["make", "Makefiles"]),
        ("caddyfile", ["Caddyfile"], ["caddy"]),
        ("vagrantfile", ["Vagrantfile"], []),
        ("env", [".env", ".env.local", "prod.env", "env"], ["environment", ".envrc"]),
        (".tf", ["main.tf"], ["main.tfvars"]),
        ("service", ["a@.service"], ["service", "a.service.d"]),
    ],
)
def test_selection(entry, taken, left):
    wanted = Selection([entry])
    assert [name for name in taken + left if wanted(name)] == taken


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ("a.md b.markdown", "markdown"), ("a.yaml a.yml", "yaml"), ("a.json", "json"), ("a.py", "python"),
        ("a.ipynb", "ipynb"), ("a.toml", "toml"), ("a.ini setup.cfg my.conf .env prod.env .env.local", "ini"),
        ("a.service a.timer a.socket a.mount a.network a.container", "unit"),
        ("Dockerfile Dockerfile.dev Containerfile x.dockerfile", "dockerfile"), ("a.tf a.tfvars a.hcl", "terraform"),
        ("a.html a.htm", "html"), ("a.rst", "rst"), ("a.org", "org"), ("a.csv a.tsv", "csv"), ("a.jsonl", "transcript"),
        ("a.txt Makefile Caddyfile Vagrantfile LICENSE a.log", "text"),
    ],
)  # fmt: skip
def test_format_of(names, kind):
    assert {format_of(name) for name in names.split()} == {kind}


@pytest.fixture
def projects(tmp_path, scrubber):
    def run(*names, repositories=(), root="."):
        for name in repositories:
            (tmp_path / name / ".git").mkdir(parents=True)
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("x")
        items = list(scan(tmp_path / root, extensions=["md"], max_bytes=9, scrubber=scrubber))
        assert not any(isinstance(item, Skipped) for item in items)
        return {item.path.as_posix(): item.project for item in items}

    return run


def test_the_nearest_repository_is_the_project(projects):
    found = projects("a.md", "one/b.md", "one/sub/c.md", "one/two/d.md", "x/e.md", repositories=["one", "one/two"])
    assert found == {"a.md": "", "one/b.md": "one", "one/sub/c.md": "one", "one/two/d.md": "two", "x/e.md": ""}


def test_a_repository_above_the_root_counts(projects):
    assert projects("top/in/a.md", repositories=["top"], root="top/in") == {"a.md": "top"}
    assert projects(root="top/in/a.md") == {"a.md": "top"}


def test_a_repository_may_be_a_file(tmp_path, projects):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / ".git").write_text("gitdir: elsewhere\n")
    assert projects("work/a.md") == {"work/a.md": "work"}


def test_the_project_of_a_document_is_scrubbed(tmp_path, scrubber):

    (tmp_path / "tok-1" / ".git").mkdir(parents=True)
    (tmp_path / "tok-1" / "a.md").write_text("x")
    (found,) = scan(tmp_path, extensions=["md"], max_bytes=9, scrubber=scrubber)
    assert read(found, scrubber=scrubber).project == "[REDACTED:token]"


def test_names_scrubbed_together_are_shown_as_each_by_itself(tmp_path, scrubber):

    for n in range(20):
        (tmp_path / f"n{n}.md").write_text("x")
    (tmp_path / "tok-1.md").write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.tok-2").write_text("x")
    found = list(scan(tmp_path, extensions=["md", "tok-2"], max_bytes=9, scrubber=scrubber))
    shown = [shown_path(item.path, scrubber) for item in found]
    assert shown == [*sorted([f"n{n}.md" for n in range(20)]), "sub/x.[REDACTED:token]", "[REDACTED:token].md"]


def test_newer_rules_forget_names_seen_before(scrubber):

    class Stricter(type(scrubber)):
        def scrub(self, text):
            return super().scrub(text.replace("owl", "tok-1") if self.version == "fake-2" else text)

    strict = Stricter()
    assert shown_path(Path("owl/a.md"), strict) == "owl/a.md"
    strict.version = "fake-2"
    assert shown_path(Path("owl/a.md"), strict) == "[REDACTED:token]/a.md"


def test_each_document_counts_what_is_redacted_in_its_path(scrubber):

    for _ in range(2):
        counts = Counter()
        shown_path(Path("tok-1/tok-2.md"), scrubber, counts)
        assert counts == {"token": 2}


def test_neighbours_do_not_hide_a_token_that_is_a_whole_name(tmp_path):
    token = "pk_" + "test_Tph4NiI7TYooMQ" + "aujxvdEDq5"
    for name in (f"{token}.md", *(f"note-{n}.md" for n in range(30))):
        (tmp_path / name).write_text("x")
    real = Scrubber()
    found = list(scan(tmp_path, extensions=["md"], max_bytes=9, scrubber=real))
    assert not any(token in shown_path(item.path, real) for item in found)
    assert token not in shown_path(Path(f"{token}.md"), Scrubber())
