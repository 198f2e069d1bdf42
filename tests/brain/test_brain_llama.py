"""What other LlamaIndex programs get of a brain: a query engine, and the stock vector store over the same tables."""

import asyncio

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters, VectorStoreQuery, VectorStoreQueryMode

from brainkit.embedding.wordllama import WordLlamaEmbedding
from brainkit.errors import EmbedderUnavailableError
from brainkit.retrieval import Filters

NOTES = {
    "ups.md": "# UPS\n\nThe battery of the UPS was changed on 3 May 2024 by Jonas.\n",
    "nas.md": "# NAS\n\nThe pool tank has four disks of 8 TB in raidz1.\n",
    "dns.md": "# DNS\n\nThe resolver runs on the host eule.\n",
}
QUESTION = "When was the battery of the UPS changed?"


@pytest.fixture
def brain(open_brain, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    opened = open_brain(relevance_threshold=0.2)
    opened.import_paths([folder])
    return opened


def query(brain, mode):
    vector = brain._models.serving.embedder.embed_query(QUESTION)
    return VectorStoreQuery(
        query_embedding=[float(x) for x in vector],
        query_str=QUESTION,
        similarity_top_k=3,
        sparse_top_k=3,
        mode=mode,
    )


def test_the_stock_vector_store_finds_what_our_dense_channel_finds(brain):
    found = brain.as_vector_store().query(query(brain, VectorStoreQueryMode.DEFAULT))
    ours = brain.recall(QUESTION, 3, "dense(30)").chunks
    assert [node.metadata["document_path"] for node in found.nodes] == [chunk.document_path for chunk in ours]
    assert found.ids == [str(chunk.chunk_id) for chunk in ours]
    assert found.similarities == pytest.approx([chunk.cosine for chunk in ours], abs=1e-5)
    assert found.nodes[0].text == ours[0].text
    assert found.nodes[0].metadata["ref_doc_id"] == str(ours[0].document_id)


def test_its_sparse_and_hybrid_modes_work_and_it_cannot_write(brain):
    store = brain.as_vector_store()
    sparse = store.query(query(brain, VectorStoreQueryMode.SPARSE))
    assert sparse.nodes[0].metadata["document_path"] == "ups.md"
    hybrid = store.query(query(brain, VectorStoreQueryMode.HYBRID))
    assert {node.metadata["document_path"] for node in hybrid.nodes} == set(NOTES)
    with pytest.raises(Exception, match="view"):
        store.add([sparse.nodes[0].model_copy(update={"embedding": [0.0] * 256})])


def test_hybrid_mode_begins_with_what_our_dense_channel_finds(brain):
    hybrid = brain.as_vector_store().query(query(brain, VectorStoreQueryMode.HYBRID))
    ours = brain.recall(QUESTION, 3, "dense(30)").chunks
    assert hybrid.ids[:3] == [str(chunk.chunk_id) for chunk in ours]
    assert hybrid.similarities[:3] == pytest.approx([chunk.cosine for chunk in ours], abs=1e-5)
    assert len(set(hybrid.ids)) == len(hybrid.ids)


def test_a_stock_index_finds_the_same_nodes_as_our_retriever_on_every_event_loop(brain):
    ours = {node.node_id: node for node in brain.as_retriever("dense(30)", k=3).retrieve(QUESTION)}
    index = VectorStoreIndex.from_vector_store(brain.as_vector_store(), embed_model=WordLlamaEmbedding())
    stock = index.as_retriever(similarity_top_k=3)
    found = [stock.retrieve(QUESTION), *(asyncio.run(stock.aretrieve(QUESTION)) for _ in range(2))]
    for nodes in found:
        assert [node.node_id for node in nodes] == list(ours)
        for node in nodes:
            same = ours[node.node_id]
            assert (node.text, node.score) == (same.text, pytest.approx(same.metadata["cosine"], abs=1e-5))
            assert node.metadata["ref_doc_id"] == same.node.ref_doc_id
            for name in ("source", "title", "heading"):
                assert node.metadata[name] == same.metadata[name]
            assert node.node.start_char_idx is same.node.start_char_idx is None


def test_filters_mean_the_same_in_both(brain):
    filters = MetadataFilters(filters=[MetadataFilter(key="source", value="more")])
    asked = query(brain, VectorStoreQueryMode.DEFAULT)
    asked.filters = filters
    assert brain.as_vector_store().query(asked).nodes == []
    assert brain.as_retriever(filters=filters).retrieve(QUESTION) == []
    filters.filters[0].value = "notes"
    for given in (filters, Filters(source="notes", path="u*.md")):
        nodes = brain.as_retriever("dense(30)", filters=given).retrieve(QUESTION)
        assert nodes == asyncio.run(brain.as_retriever("dense(30)", filters=given).aretrieve(QUESTION))
        assert len(nodes) == (3 if given is filters else 1)
    assert set(brain.as_vector_store().query(asked).ids) == {
        node.node_id for node in brain.as_retriever().retrieve("x")
    }


def test_ids_stay_while_the_text_does(brain, tmp_path):
    def ids():
        return {node.metadata["path"]: node.node_id for node in brain.as_retriever(k=9).retrieve(QUESTION)}

    before = ids()
    (tmp_path / "notes" / "nas.md").write_text("# NAS\n\nThe pool tank is gone.\n")
    brain.import_paths([tmp_path / "notes"])
    after = ids()
    assert {path for path in NOTES if before[path] == after[path]} == set(NOTES) - {"nas.md"}


def test_the_stock_store_follows_a_change_of_the_model(brain, open_brain):
    other = open_brain(embedder="minilm")
    other.embed()
    vector = other._models.serving.embedder.embed_query(QUESTION)
    found = other.as_vector_store().query(
        VectorStoreQuery(query_embedding=[float(x) for x in vector], similarity_top_k=1)
    )
    assert found.similarities == pytest.approx([other.recall(QUESTION, 1, "dense(30)").chunks[0].cosine], abs=1e-5)


def test_without_vectors_there_is_no_store(open_brain):
    brain = open_brain(embedder="ollama", ollama_url="http://127.0.0.1:9")
    with pytest.raises(EmbedderUnavailableError, match="brainkit embed"):
        brain.as_vector_store()


def test_a_query_engine_answers_with_sources_or_deflects(brain):
    engine = brain.as_query_engine()
    answer = engine.query(QUESTION)
    assert "3 May 2024" in str(answer)
    assert [node.metadata["path"] for node in answer.source_nodes] == ["ups.md"]
    assert answer.metadata["deflected"] is False
    assert answer.metadata["gate"] == "score"
    lost = asyncio.run(engine.aquery("Who painted the ceiling of the chapel?"))
    assert lost.metadata["deflected"] is True
    assert lost.source_nodes == []
