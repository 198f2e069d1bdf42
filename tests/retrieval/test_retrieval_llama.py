"""A brain as LlamaIndex sees it: a retriever, sync and async, and whole documents in place of chunks."""

import asyncio
import uuid

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import (
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)

import brainkit.retrieval
from brainkit.retrieval import FullDocumentPostprocessor, HybridRetriever

LONG = (
    "# Pool\n\n"
    + "\n\n".join(f"## Part {n}\n\nThe tank pool of part {n} is full. " * 30 for n in range(9))
    + "The end.\n"
)


@pytest.fixture
def brain(open_brain, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "pool.md").write_text(LONG)
    (folder / "dns.md").write_text("# DNS\n\nThe resolver is eule.\n")
    (folder / "ups.md").write_text("# UPS\n\nThe battery is new.\n")
    brain = open_brain()
    brain.import_paths([folder])
    return brain


def test_nodes_are_the_chunks_of_a_recall(brain):
    retriever = brain.as_retriever(k=4)
    assert isinstance(retriever, BaseRetriever)
    nodes, recall = (
        retriever.retrieve("Which part of the pool is full?"),
        brain.recall("Which part of the pool is full?", 4),
    )
    assert len(nodes) == 4
    for node, chunk in zip(nodes, recall.chunks, strict=True):
        assert node.node.get_content(MetadataMode.NONE) == chunk.text
        assert node.score == chunk.score
        assert node.node.ref_doc_id == str(chunk.document_id)
        assert node.node.node_id == str(chunk.chunk_id)
        assert node.node.metadata == {
            "source": "notes",
            "path": chunk.document_path,
            "title": chunk.title,
            "heading": chunk.heading,
            "cosine": chunk.cosine,
            "dense_rank": chunk.dense_rank,
            "lexical_rank": chunk.lexical_rank,
            "channel": chunk.channel,
        }
        shown = node.node.get_content(MetadataMode.LLM)
        assert chunk.document_path in shown
        assert "cosine" not in shown
        assert node.node.get_content(MetadataMode.EMBED) == chunk.text


def test_async_works_on_the_second_event_loop_too(brain):
    retriever = brain.as_retriever(k=3)
    expected = [node.node.node_id for node in retriever.retrieve("pool")]

    async def several():
        found = await asyncio.gather(*(retriever.aretrieve("pool") for _ in range(5)))
        return [[node.node.node_id for node in nodes] for nodes in found]

    for _ in range(2):
        assert asyncio.run(several()) == [expected] * 5


def test_another_retrieval_string(brain):
    nodes = brain.as_retriever("lexical(30)", k=9).retrieve("eule")
    assert [(node.node.metadata["path"], node.node.metadata["channel"]) for node in nodes] == [("dns.md", "lexical")]
    assert brain.as_retriever("lexical(30)").retrieve("zeppelin") == []


def test_whole_documents_each_once_in_the_order_of_their_first_chunk(brain):
    retriever = brain.as_retriever(k=8)
    nodes = retriever.retrieve("The tank pool of part 3, and the resolver")
    full = retriever.full_documents(max_documents=5).postprocess_nodes(nodes)
    order = list(dict.fromkeys(node.node.ref_doc_id for node in nodes))
    assert [node.node.node_id for node in full] == order
    texts = {node.node.metadata["path"]: node.node.get_content(MetadataMode.NONE) for node in full}
    assert texts["pool.md"] == LONG
    assert texts["dns.md"] == "# DNS\n\nThe resolver is eule.\n"
    for node in full:
        assert node.score == max(n.score for n in nodes if n.node.ref_doc_id == node.node.node_id)
        assert set(node.node.metadata) == {"source", "path", "title"}


def test_two_documents_are_given_unless_told_otherwise(brain):
    retriever = brain.as_retriever(k=20)
    nodes = retriever.retrieve("pool resolver battery")
    assert len({node.node.ref_doc_id for node in nodes}) == 3
    assert len(retriever.full_documents().postprocess_nodes(nodes)) == 2
    assert len(retriever.full_documents(1).postprocess_nodes(nodes)) == 1
    assert retriever.full_documents().postprocess_nodes([]) == []
    with pytest.raises(ValueError, match="max_documents"):
        retriever.full_documents(0)


def test_nodes_of_other_stores_and_of_removed_documents_are_left_out(brain):
    retriever = brain.as_retriever(k=1)
    (known,) = retriever.retrieve("eule resolver")

    def foreign(document):
        source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document)} if document else {}
        return NodeWithScore(node=TextNode(text="x", relationships=source), score=2.0)

    nodes = [foreign("not-a-uuid"), foreign(None), known, foreign(str(uuid.uuid4()))]
    post = FullDocumentPostprocessor(documents=brain._documents.contents, max_documents=9)
    assert [node.node.node_id for node in post.postprocess_nodes(nodes)] == [known.node.ref_doc_id]
    assert post.class_name() == "FullDocumentPostprocessor"


def test_it_serves_a_query_engine_of_llama_index(brain):
    retriever = brain.as_retriever(k=5)
    engine = RetrieverQueryEngine(
        retriever=retriever,
        response_synthesizer=get_response_synthesizer(llm=MockLLM(), response_mode=ResponseMode.SIMPLE_SUMMARIZE),
        node_postprocessors=[retriever.full_documents(1)],
    )
    response = engine.query(QueryBundle("Which part of the pool is full?"))
    assert [node.node.get_content(MetadataMode.NONE) for node in response.source_nodes] == [LONG]


def test_lazy_names():
    assert brainkit.retrieval.HybridRetriever is HybridRetriever
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = brainkit.retrieval.Nothing
