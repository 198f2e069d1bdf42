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
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

import brainkit.retrieval
from brainkit.errors import UsageError
from brainkit.retrieval import Filters, FullDocumentPostprocessor, HybridRetriever
from brainkit.retrieval.metadata import filters_of

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
            "ts": chunk.ts.isoformat(),
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


def test_copies_are_given_once_and_named(brain, tmp_path):
    text = "# UPS\n\n" + " ".join(f"word{n}" for n in range(200)) + " the battery is new\n"
    (tmp_path / "notes" / "copy-1.md").write_text(text)
    (tmp_path / "notes" / "copy-2.md").write_text(text.replace("word7 ", "word-seven "))
    brain.import_paths([tmp_path / "notes"])
    retriever = brain.as_retriever(k=20)
    nodes = retriever.retrieve("word1 word2 battery is new")
    full = retriever.full_documents(3).postprocess_nodes(nodes)
    assert len({node.node.metadata["path"] for node in full}) == 3
    (first,) = (node for node in full if node.node.metadata["path"].startswith("copy"))
    assert first.node.metadata["also"] == [
        {"copy-1.md": "copy-2.md", "copy-2.md": "copy-1.md"}[first.node.metadata["path"]]
    ]


def test_compressed_documents_hold_the_found_sections_in_reading_order(brain):
    retriever = brain.as_retriever(k=4)
    nodes = [
        n for n in retriever.retrieve("part 7 and part 2 of the tank pool") if n.node.metadata["path"] == "pool.md"
    ]
    (full,) = retriever.full_documents(1, compress=True).postprocess_nodes(nodes)
    text = full.node.get_content(MetadataMode.NONE)
    assert full.node.metadata["compressed"] is True
    assert len(text) < len(LONG)
    parts = text.split("\n\n[...]\n\n")
    assert len(parts) == len(nodes)
    places = [LONG.index(part.rpartition("\n")[2][:40]) for part in parts]
    assert places == sorted(places)
    for node in nodes:
        assert node.node.get_content(MetadataMode.NONE) in text
    (short,) = retriever.full_documents(1, compress=True).postprocess_nodes(retriever.retrieve("resolver eule")[:1])
    assert short.node.get_content(MetadataMode.NONE) == "# DNS\n\nThe resolver is eule.\n"  # nothing to leave out
    assert "compressed" not in short.node.metadata


def test_rerankers_of_the_string_as_a_postprocessor(brain):
    searcher = brain._searcher
    retriever = HybridRetriever(lambda question: brain.recall(question, 9), brain._documents.contents, searcher.rerank)
    question = "Which part of the pool is full?"
    nodes = retriever.retrieve(question)
    post = retriever.reranker("mmr(0.5)")
    found = post.postprocess_nodes(nodes, query_str=question)
    assert {node.node.node_id for node in found} == {node.node.node_id for node in nodes}
    scores = [node.score for node in found]
    assert scores == sorted(scores, reverse=True)
    wanted = brain.recall(question, 9, retrieval="hybrid+mmr(0.5)").chunks
    assert found[0].node.node_id == str(wanted[0].chunk_id)
    assert post.class_name() == "ChunkReranker"
    with pytest.raises(UsageError, match="needs the question"):
        post.postprocess_nodes(nodes)
    with pytest.raises(UsageError, match="no chunk of a brain"):
        post.postprocess_nodes([NodeWithScore(node=TextNode(text="x"), score=1.0)], query_str="x")
    with pytest.raises(UsageError, match="cannot rerank"):
        HybridRetriever(brain.recall, brain._documents.contents).reranker("mmr(0.5)")


def test_a_retriever_with_filters(brain):
    def recall(question, filters):
        return brain._searcher.recall(question, brain.retrieval, k=9, filters=filters)

    given = MetadataFilters(filters=[MetadataFilter(key="path", value="d*.md")])
    for filters in (given, Filters(path="d*.md")):
        nodes = HybridRetriever(recall, brain._documents.contents, filters=filters).retrieve("the pool of the battery")
        assert {node.node.metadata["path"] for node in nodes} == {"dns.md"}


OR, NOT = FilterCondition.OR, FilterCondition.NOT


@pytest.mark.parametrize(
    ("filters", "condition", "wanted"),
    [
        (
            [("source", "==", "a"), ("format", "in", ["yaml", "json"])],
            None,
            {"source": ("a",), "format": ("yaml", "json")},
        ),
        ([("tags", "contains", "dns")], None, {"tag": ("dns",)}),
        ([("path", "==", "a/*"), ("path", "==", "b/*")], OR, {"path": ("a/*", "b/*")}),
        ([("role", "any", ["note"])], OR, {"role": ("note",)}),
        ([], None, {}),
    ],
)
def test_llama_index_filters_mean_the_same_here(filters, condition, wanted):
    made = [MetadataFilter(key=key, operator=FilterOperator(sign), value=value) for key, sign, value in filters]
    more = {"condition": condition} if condition else {}
    assert filters_of(MetadataFilters(filters=made, **more)).given == wanted


def test_times_and_nested_filters():
    after = MetadataFilter(key="ts", operator=FilterOperator.GTE, value="2026-01-01")
    before = MetadataFilter(key="ts", operator=FilterOperator.LT, value="2026-02-01")
    nested = MetadataFilters(filters=[after, MetadataFilters(filters=[before, MetadataFilter(key="tag", value="x")])])
    assert filters_of(nested) == Filters(after="2026-01-01", before="2026-02-01", tag="x")


@pytest.mark.parametrize(
    ("filters", "condition", "part"),
    [
        ([("content", "==", "x")], None, "'content' cannot be filtered by; allowed are source, project"),
        ([("id = 1 or 1", "==", "x")], None, "cannot be filtered by"),
        ([("path", "!=", "x")], None, "path != is not possible"),
        ([("ts", "==", "2026-01-01")], None, "ts == is not possible"),
        ([("tag", "==", "a"), ("tag", "==", "b")], None, "tag is filtered twice"),
        ([("tag", "==", "a"), ("path", "==", "b")], OR, "an `or` of different keys"),
        ([("tag", "==", "a")], NOT, "is not possible"),
        ([("tag", "==", 5)], None, "tag = 5 is not allowed"),
    ],
)
def test_filters_that_cannot_be(filters, condition, part):
    made = [MetadataFilter(key=key, operator=FilterOperator(sign), value=value) for key, sign, value in filters]
    with pytest.raises(UsageError) as caught:
        filters_of(MetadataFilters(filters=made, **({"condition": condition} if condition else {})))
    assert part in str(caught.value)


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
