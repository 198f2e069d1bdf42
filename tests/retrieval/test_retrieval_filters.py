"""Filters: which documents take part, on both channels, and that no value gets out of its place."""

import doctest
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import brainkit.retrieval.filters
from brainkit import Brain, Settings
from brainkit.errors import UsageError
from brainkit.retrieval import Filters, RetrievalSettings

STRINGS = ["hybrid", "hybrid(fusion=rrf)", "dense(30)", "lexical(30)", "lexical(30,rank=ts_rank)"]
NOTES = {
    "infra/dns.md": "---\ntags: [net, eule]\ndate: 2026-01-05\n---\n# DNS\n\nThe resolver of the pool answers.\n",
    "infra/deep/er/dhcp.md": "---\ntags: [net]\ndate: 2026-03-01\n---\n# DHCP\n\nThe pool of leases.\n",
    "home/pool.md": "---\ndate: 2025-06-01\n---\n# Pool\n\nThe pool needs chlorine.\n",
    "home/100%_a[b].md": "---\ndate: 2024-06-01\n---\n# Odd\n\nThe pool has an odd name.\n",
    "conf/pool.yaml": "pool:\n  size: 5\n",
}


@pytest.fixture(scope="module")
def brain(new_database, tmp_path_factory):
    """Filled once: the tests that use it only ask."""
    folder = tmp_path_factory.mktemp("filters") / "notes"
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with (
        new_database() as url,
        Brain.open(Settings(home=folder.parent, database_url=url, embedder="wordllama")) as brain,
    ):
        brain.import_paths([folder])
        yield brain


def found(brain, string="hybrid", exclude=(), **filters):
    parsed = RetrievalSettings.parse(string)
    recall = brain._searcher.recall("the pool", parsed, k=50, filters=Filters(**filters), exclude=exclude)
    assert {c.document_path for c in recall.chunks} == {d.path for d in recall.documents}
    return {document.path for document in recall.documents}


@pytest.mark.parametrize("string", STRINGS)
@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({}, set(NOTES)),
        ({"path": "infra/*.md"}, {"infra/dns.md"}),
        ({"path": "infra/**/*.md"}, {"infra/dns.md", "infra/deep/er/dhcp.md"}),
        ({"path": "infra/**"}, {"infra/dns.md", "infra/deep/er/dhcp.md"}),
        ({"path": "**/pool.????"}, {"conf/pool.yaml"}),
        ({"path": ["home/pool.md", "conf/*"]}, {"home/pool.md", "conf/pool.yaml"}),
        ({"path": "home/100%_a[b].md"}, {"home/100%_a[b].md"}),
        ({"path": "pool.md"}, set()),
        ({"path": "HOME/pool.md"}, set()),
        ({"tag": "net"}, {"infra/dns.md", "infra/deep/er/dhcp.md"}),
        ({"tag": ["eule", "none"]}, {"infra/dns.md"}),
        ({"format": "yaml"}, {"conf/pool.yaml"}),
        ({"source": "notes"}, set(NOTES)),
        ({"source": "other"}, set()),
        ({"project": "nothing"}, set()),
        ({"role": "none"}, set()),
        ({"tag": "net", "path": "**/dhcp.md"}, {"infra/deep/er/dhcp.md"}),
        ({"tag": "net", "after": "2026-02-01"}, {"infra/deep/er/dhcp.md"}),
        ({"before": "2026-01-05"}, {"home/pool.md", "home/100%_a[b].md"}),
        ({"after": "2026-01-05", "before": datetime(2026, 1, 5, 0, 0, 1, tzinfo=UTC)}, {"infra/dns.md"}),
    ],
)
def test_only_what_fits_is_found_on_every_channel(brain, string, filters, wanted):
    assert found(brain, string, **filters) == wanted


@pytest.mark.parametrize("string", STRINGS)
def test_filters_and_excluded_documents_together(brain, string):
    hidden = brain.document_ids(["infra/dns.md"])
    assert found(brain, string, exclude=hidden, tag="net") == {"infra/deep/er/dhcp.md"}


@pytest.mark.parametrize("string", ["hybrid", "lexical(30)"])
def test_what_is_left_keeps_its_score(brain, string):
    parsed = RetrievalSettings.parse(string)
    question = "the pool of leases"
    all_ = brain._searcher.recall(question, parsed, k=50)
    some = brain._searcher.recall(question, parsed, k=50, filters=Filters(tag="net"))
    scores = {chunk.chunk_id: (chunk.score, chunk.cosine, chunk.lexical_share) for chunk in all_.chunks}
    assert some.chunks
    for chunk in some.chunks:
        assert (chunk.score, chunk.cosine, chunk.lexical_share) == pytest.approx(scores[chunk.chunk_id])
    assert some.weights == all_.weights


HOSTILE = [
    "' or 1=1 --",
    "%s %(x)s {table}",
    "a\\",
    "[",
    "[z-a]",
    "(?i)x",
    "(*",
    "\\y",
    "\U0001f600",
    "*" * 50,
    "a" * 5000,
]


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_is_more_than_a_value(brain, value):
    for field in ("source", "project", "path", "tag", "format", "role"):
        assert found(brain, **{field: value}) <= (set(NOTES) if value == "*" * 50 and field == "path" else set())
    assert len(brain.list_documents()) == len(NOTES)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30))
def test_no_text_breaks_a_filter(brain, text):
    found(brain, path=text, tag=[text, "x"])
    assert found(brain, path="".join("?" if c != "/" else c for c in "conf/pool.yaml")) == {"conf/pool.yaml"}


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ({"path": 5}, "path = 5 is not allowed"),
        ({"tag": ["a", None]}, "tag = None is not allowed"),
        ({"tag": "a\0b"}, "tag = 'a\\x00b' is not allowed"),
        ({"source": "\ud800"}, "is not allowed"),
        ({"after": "tomorrow"}, "after = 'tomorrow' is not allowed: give a time such as"),
        ({"before": 5}, "before = 5 is not allowed"),
        ({"after": "2026-02-01", "before": "2026-01-01"}, "exchange them"),
    ],
)
def test_values_that_cannot_be(values, part):
    with pytest.raises(UsageError) as caught:
        Filters(**values)
    assert part in str(caught.value)


def test_filters_are_values():
    assert Filters(tag="a") == Filters(tag=["a"])
    assert Filters(after="2026-01-01") == Filters(after=datetime(2026, 1, 1, tzinfo=UTC))
    assert not Filters()
    assert not Filters(tag=[])
    assert Filters(role="note")


def test_examples_in_the_docstrings():
    assert doctest.testmod(brainkit.retrieval.filters).failed == 0
