"""Links of small vaults, counted by hand; incremental and full refresh agree; a killed refresh goes on."""

import signal
import subprocess
import sys
import time
from uuid import UUID

import pytest

from brainkit.errors import UsageError
from brainkit.memory.links_resolve import Named, Resolver
from brainkit.memory.links_text import written_links


def targets(text, kind="markdown"):
    return [(link.kind, link.target, link.heading) for link in written_links(text, kind)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[a]] [[a|b]] [[a#h|b]]", [("wikilink", "a", ""), ("wikilink", "a", "h")]),
        ("![[a]] and ![[pic.png]]", [("embed", "a", "")]),
        ("```\n[[a]]\n```\n`[[b]]` \\[[c]] \\[d](e.md)", []),
        ("[x](../my%20note.md#top) [y](/r.md 'title')", [
            ("markdown", "../my note.md", "top"), ("markdown", "/r.md", "")]),
        ("[x](<a b.md>) [y](#here) [z](https://h/x.md) ![i](https://h/i.png)", [("markdown", "a b.md", "")]),
        ("see [this][Ref], [ref2]\n\n[ref]: a.md\n[ref2]: b.md\n[unused]: c.md", [
            ("markdown", "a.md", ""), ("markdown", "b.md", "")]),
        ("---\nrelated: [[a]]\nup: '[[b#h]]'\nlinks: [c.md, 'https://x.example']\n---\n", [
            ("frontmatter", "a", ""), ("frontmatter", "c.md", ""), ("frontmatter", "b", "h")]),
        ("| [[a\\|b]] |", [("wikilink", "a", "")]),
        ("[[a\x00b]] [[" + "x" * 400 + "]] [[ ]] [[]] [[\x1b[31m]]", []),
    ],
)  # fmt: skip
def test_written_links(text, found):
    assert targets(text) == found


def test_links_of_other_formats():
    assert targets("[[file:a.org][t]] [[./b.org::*H]] [[https://x]]\n#+begin_src\n[[c]]\n#+end_src", "org") == [
        ("org", "a.org", ""), ("org", "./b.org", "H")]  # fmt: skip
    assert targets(":doc:`t <../x>` `a <b.rst>`_ `w <http://x>`_", "rst") == [("rst", "../x", ""), ("rst", "b.rst", "")]
    assert targets("[[a]]", "python") == []


def test_a_thousand_links_and_hostile_brackets_take_no_time():
    started = time.process_time()
    assert len(written_links(" ".join(f"[[n{i}]]" for i in range(1000)), "markdown")) == 1000
    for hostile in ("[[" * 50_000, "[a](" * 50_000, "[" * 100_000, "[a]: " * 20_000):
        assert written_links(hostile, "markdown") == []
    assert time.process_time() - started < 5


PATHS = ["index.md", "a/dns.md", "b/dns.md", "b/c/mail.md", "b/c/note.md", "x.py", "x.md", "My Note.md"]
NAMED = [Named(UUID(int=i), "s", path, f"Title {i}", ("Alias",) if i == 3 else ()) for i, path in enumerate(PATHS)]


@pytest.mark.parametrize(
    ("path", "kind", "target", "found"),
    [
        ("a/new.md", "wikilink", "DNS", "a/dns.md"),
        ("b/c/note.md", "wikilink", "dns", "b/dns.md"),
        ("index.md", "wikilink", "b/dns", "b/dns.md"),
        ("index.md", "wikilink", "c/mail", "b/c/mail.md"),
        ("index.md", "wikilink", "alias", "b/c/mail.md"),
        ("index.md", "wikilink", "title 4", "b/c/note.md"),
        ("index.md", "wikilink", "x", "x.md"),
        ("index.md", "wikilink", "nothing", None),
        ("b/c/note.md", "markdown", "../dns.md", "b/dns.md"),
        ("b/c/note.md", "markdown", "/a/dns.md", "a/dns.md"),
        ("b/c/note.md", "markdown", "../../../../x.md", None),
        ("index.md", "markdown", "dns.md", None),
        ("a/dns.md", "markdown", "..", "index.md"),
        ("a/dns.md", "markdown", "../my note", "My Note.md"),
    ],
)
def test_resolving(path, kind, target, found):
    key = Resolver(NAMED).resolve("s", path, kind, target)
    assert (None if key is None else PATHS[key.int]) == found


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "a.md").write_text("# A\nsee [[b]] and [[later]] and [[a]]\n", "utf-8")
    (folder / "b.md").write_text("# Bee\nback to [a](a.md)\n", "utf-8")
    return folder


def shown(brain):
    return [(row.path, row.to.removeprefix("vault:"), row.target) for row in brain.links() if row.kind != "learnt"]


def test_links_follow_the_files(open_brain, vault):
    brain = open_brain()
    brain.import_paths([vault])
    assert shown(brain) == [
        ("a.md", "a.md", "a"),
        ("a.md", "b.md", "b"),
        ("a.md", "", "later"),
        ("b.md", "a.md", "a.md"),
    ]
    assert [(r.path, r.kind, r.direction) for r in brain.related("a.md")] == [("b.md", "wikilink", "both")]
    assert brain.related("a.md")[0].reason == "written as b"
    assert [row.target for row in brain.links(orphans=True)] == ["later"]
    (vault / "later.md").write_text("# Later\n", "utf-8")
    (vault / "b.md").rename(vault / "c.md")
    brain.import_paths([vault], prune=True, embed=False)
    assert shown(brain) == [
        ("a.md", "a.md", "a"),
        ("a.md", "", "b"),
        ("a.md", "later.md", "later"),
        ("c.md", "a.md", "a.md"),
    ]
    (vault / "a.md").write_text("# A\nnothing\n", "utf-8")
    brain.import_paths([vault], embed=False)
    assert shown(brain) == [("c.md", "a.md", "a.md")]


def test_links_by_hand(open_brain, vault):
    brain = open_brain()
    (vault / "c.md").write_text("# C\n", "utf-8")
    brain.import_paths([vault], embed=False)
    brain.link("c.md", "vault:b.md", "both  mine")
    assert [(r.path, r.kind, r.reason, r.direction) for r in brain.related("c.md")] == [
        ("b.md", "manual", "both mine", "out")
    ]
    with pytest.raises(UsageError, match="itself"):
        brain.link("c.md", "c.md")
    with pytest.raises(UsageError, match="no document"):
        brain.related("nothing.md")
    kept = (vault / "b.md").read_text("utf-8")
    (vault / "b.md").unlink()
    brain.import_paths([vault], prune=True, embed=False)
    assert brain.related("c.md") == ()
    (vault / "b.md").write_text(kept, "utf-8")
    brain.import_paths([vault], embed=False)
    assert [r.path for r in brain.related("c.md")] == ["b.md"]
    assert brain.unlink("b.md", "c.md")
    assert not brain.unlink("b.md", "c.md")


TOPICS = (
    "battery power supply voltage",
    "bread dough oven flour",
    "kernel driver module linux",
    "garden tomato soil seed",
)


def write(folder, number, extra=""):
    words = TOPICS[number % 4]
    (folder / f"n{number}.md").write_text(
        f"# Note {number}\n{words} {words.split()[number % 3]} item {number} {extra}\n", "utf-8"
    )


def learnt(brain):
    return [(row.path, row.to, round(row.weight, 5), row.reason) for row in brain.links("learnt")]


def test_incremental_and_full_refresh_agree(open_brain, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(24):
        write(folder, number)
    brain = open_brain()
    brain.import_paths([folder])
    assert learnt(brain)
    same = [(int(a[1:-3]) % 4, int(b.split(":n")[1][:-3]) % 4) for a, b, *_ in learnt(brain)]
    assert all(one == other for one, other in same)
    write(folder, 3, "turned to " + TOPICS[0])
    (folder / "n8.md").unlink()
    write(folder, 25)
    brain.import_paths([folder], prune=True)
    after = learnt(brain)
    brain.refresh_links()
    assert learnt(brain) == after
    assert not any("n8.md" in a + b for a, b, *_ in after)
    one, other = after[0][0], after[0][1].split(":")[1]
    (folder / one).write_text((folder / one).read_text("utf-8") + f"\n[[{other[:-3]}]]\n", "utf-8")
    brain.import_paths([folder])
    assert not any({a, b.split(":")[1]} == {one, other} for a, b, *_ in learnt(brain))


def test_expand_adds_linked_documents_below(open_brain, vault):
    (vault / "far.md").write_text("# Zebra\nstripes\n", "utf-8")
    (vault / "b.md").write_text("# Quokka\nan animal, see [[far]]\n", "utf-8")
    brain = open_brain()
    brain.import_paths([vault], embed=False)
    plain = brain.recall("quokka", retrieval="lexical(5)")
    more = brain.recall("quokka", retrieval="lexical(5)", expand=1)
    assert [d.path for d in plain.documents] == ["b.md"]
    assert (more.documents[0].path, more.documents[0].channel) == ("b.md", "found")
    assert {(d.path, d.channel) for d in more.documents[1:]} == {("far.md", "linked"), ("a.md", "linked")}
    assert more.documents[1].score <= plain.documents[0].score / 2
    assert more.documents[1].content
    assert more.settings == "lexical(5,rank=bm25)+expand(1)"
    far = [d.id for d in more.documents if d.path == "far.md"]
    assert "far.md" not in [
        d.path for d in brain.recall("quokka", retrieval="lexical(5)+expand(1)", exclude_documents=far).documents
    ]


KILLED = """
import os, signal, sys
from brainkit import Settings
from brainkit.memory.links import LinkStore
from brainkit.store import Database
left = int(sys.argv[2])
def told(*_):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
LinkStore(Database(Settings(database_url=sys.argv[1]))).refresh(1, "wordllama", full=True, progress=told)
"""


@pytest.mark.parametrize("moment", [1, 2], ids=["between reading and resolving", "between searching and linking"])
def test_a_refresh_that_is_killed_loses_nothing(open_brain, database_url, tmp_path, moment):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(24):
        write(folder, number, f"[[n{(number + 5) % 24}]]")
    brain = open_brain()
    brain.import_paths([folder])
    before = brain.links()
    killed = subprocess.run([sys.executable, "-c", KILLED, database_url, str(moment)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(brain.links(orphans=True)) == (24 if moment == 1 else 0)
    brain.refresh_links(full=False)
    assert brain.links() == before
