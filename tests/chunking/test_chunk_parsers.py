"""The LlamaIndex node parsers: the same chunks, as nodes."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import Document, MetadataMode

import brainkit.chunking as chunking
from brainkit.chunking import chunk

TEXT = "# A\n\n" + " ".join(f"Some words on {n}." for n in range(120)) + "\n\n## B\n\n" + "More words. " * 30
PARSERS = {
    "markdown": "MarkdownChunker",
    "yaml": "YamlChunker",
    "json": "JsonChunker",
    "python": "PythonChunker",
    "text": "TextChunker",
}


@pytest.mark.parametrize("form", PARSERS)
def test_nodes_are_the_chunks(form):
    parser = getattr(chunking, PARSERS[form])()
    nodes = parser.get_nodes_from_documents([Document(text=TEXT, id_="doc", metadata={"path": "a.md"})])
    chunks = chunk(TEXT, form)
    assert [n.get_content(MetadataMode.NONE) for n in nodes] == [c.content for c in chunks]
    assert [n.metadata for n in nodes] == [{"path": "a.md", "heading": c.heading} for c in chunks]
    assert [n.ref_doc_id for n in nodes] == ["doc"] * len(chunks)
    for before, after in pairwise(nodes):
        assert before.next_node.node_id == after.node_id
        assert after.prev_node.node_id == before.node_id
    for node in nodes:
        assert TEXT[node.start_char_idx : node.end_char_idx] == node.text


def test_a_text_that_stands_twice_has_no_place():
    text = "# A\n\n" + "intro. " * 40 + "See below: ## Port\n\n53\n\n" + "x y z " * 60 + "The end.\n"
    nodes = chunking.MarkdownChunker(target=100).get_nodes_from_documents([Document(text=text, id_="d")])
    places = [[at for at in range(len(text)) if text.startswith(node.text, at)] for node in nodes]
    assert {len(found) > 1 for found in places} == {True, False}
    for node, found in zip(nodes, places, strict=True):
        assert node.start_char_idx == (found[0] if len(found) == 1 else None)
        assert node.end_char_idx == (found[0] + len(node.text) if len(found) == 1 else None)


def test_ids_are_stable_and_each_its_own():
    parser = chunking.MarkdownChunker(target=300, overlap=50)
    documents = [Document(text=TEXT, id_="one"), Document(text=TEXT, id_="two")]
    first, second = (parser.get_nodes_from_documents(documents) for _ in range(2))
    assert [n.node_id for n in first] == [n.node_id for n in second]
    assert len({n.node_id for n in first}) == len(first)
    assert all(len(n.text) <= 300 for n in first)


def test_other_ids_can_be_asked_for():
    parser = chunking.TextChunker(id_func=lambda position, document: f"{document.node_id}/{position}")
    assert [n.node_id for n in parser.get_nodes_from_documents([Document(text="x", id_="d")])] == ["d/0"]


def test_in_a_pipeline_and_through_json():
    parser = chunking.YamlChunker.from_json(chunking.YamlChunker(target=500).to_json())
    assert parser.target == 500
    nodes = IngestionPipeline(transformations=[parser]).run(documents=[Document(text="a: 1\nb: 2\n")])
    assert [n.text for n in nodes] == ["a: 1\nb: 2"]


def test_llama_index_is_not_imported_until_a_parser_is_asked_for():
    code = "import sys, brainkit.chunking, brainkit.readers; sys.exit('llama_index' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_exported_names():
    assert sorted(chunking.__all__) == sorted(["Chunk", "chunk", *PARSERS.values()])
    with pytest.raises(AttributeError, match="Nothing"):
        _ = chunking.Nothing
