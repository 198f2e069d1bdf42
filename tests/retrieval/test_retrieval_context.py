"""What goes into the context: documents that say the same only once."""

import uuid

import pytest

from brainkit.retrieval import Evidence, Recall, RecalledDocument, context_documents
from brainkit.retrieval.context import ALIKE, collapse, sections

WORDS = [f"word{n}" for n in range(300)]
LONG = " ".join(WORDS)


def changed(*places):
    return " ".join("other" if n in places else word for n, word in enumerate(WORDS))


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (LONG, True),
        (LONG.upper().replace(" ", ",\n"), True),  # letters' case and what stands between words do not count
        (changed(50), True),  # 5 of 296 sequences differ on either side: 291 / 301
        (changed(50, 60, 70), True),  # 281 / 311 = .904
        (changed(50, 60, 70, 80), False),  # 276 / 316 = .873
        (" ".join(reversed(WORDS)), False),
        ("", False),
    ],
)
def test_what_counts_as_a_copy(other, alike):
    found = collapse([LONG, other], lambda text: text, 2)
    assert found == ([(LONG, (other,))] if alike else [(LONG, ()), (other, ())])
    assert ALIKE == 0.9


def test_short_texts_are_copies_only_when_their_words_are_the_same():
    texts = ["one two", "One, two!", "one three", "", " \n", "one"]
    found = collapse(texts, lambda text: text, 9)
    assert found == [("one two", ("One, two!",)), ("one three", ()), ("", (" \n",)), ("one", ())]


def test_no_more_are_given_than_asked_for_and_copies_behind_them_are_named():
    texts = ["a", "b", "c", "A", "b"]
    assert collapse(texts, lambda text: text, 2) == [("a", ("A",)), ("b", ("b",))]
    assert collapse([], lambda text: text, 2) == []
    read = []
    collapse([str(n) for n in range(100)], lambda text: read.append(text) or text, 2)
    assert len(read) == 8  # a recall may hold sixty documents, and each is read from the database


def test_documents_of_a_recall():
    texts = {"a.md": LONG, "b.md": "something else", "copy.md": changed(7)}
    documents = [
        RecalledDocument(uuid.uuid5(uuid.NAMESPACE_URL, path), "s", path, "", 1.0, lambda _, path=path: texts[path])
        for path in ("a.md", "copy.md", "b.md")
    ]
    recall = Recall("q", (), tuple(documents), Evidence(), "hybrid")
    found = context_documents(recall, 2)
    assert [(c.document.path, [d.path for d in c.also]) for c in found] == [("a.md", ["copy.md"]), ("b.md", [])]
    assert len(recall.documents) == 3


def test_sections():
    assert sections([]) == ""
    assert sections([("", "one")]) == "one"
    assert sections([("Head", "one"), ("Two", "Two\nsays it")]) == "Head\none\n\n[...]\n\nTwo\nsays it"
