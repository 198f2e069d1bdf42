"""Many questions at once and one after the other: the same answers, no connection left behind."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from brainkit.store.database import POOL_SIZE

THINGS = ("battery", "pool", "resolver", "backup", "kettle", "inverter", "router", "printer")
QUESTIONS = [f"When was the {thing} changed?" for thing in THINGS] + ["Who painted the chapel?", "Where is it?", ""]


@pytest.fixture
def brain(open_brain, tmp_path):
    (tmp_path / "notes").mkdir()
    for number, thing in enumerate(THINGS, 1):
        (tmp_path / "notes" / f"{thing}.md").write_text(f"# {thing}\n\nThe {thing} was changed on {number} May 2024.\n")
    brain = open_brain(relevance_threshold=0.3)
    brain.import_paths([tmp_path / "notes"])
    return brain


def connections(database_url):
    with psycopg.connect(database_url) as connection:
        return connection.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        ).fetchone()[0]


def test_eight_threads_give_the_answers_of_one(brain):
    alone = [brain.ask(question) for question in QUESTIONS]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(brain.ask, QUESTIONS * 4))
    for number, reply in enumerate(together):
        assert reply == alone[number % len(QUESTIONS)]
    assert [reply.text.count(f"{n} May 2024") for n, reply in enumerate(alone[: len(THINGS)], 1)] == [1] * len(THINGS)
    assert brain.status()["questions"].keys() == {"answer", "deflect"}
    assert sum(brain.status()["questions"].values()) == 5 * len(QUESTIONS)


def test_eight_threads_with_late_interaction_give_the_recalls_of_one(open_brain, brain):
    brain = open_brain(embedder="minilm")
    brain.embed()
    alone = [brain.recall(question) for question in QUESTIONS]
    fresh = open_brain(embedder="minilm")  # whose caches are empty
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(fresh.recall, QUESTIONS * 2))
    for number, recall in enumerate(together):
        expected = alone[number % len(QUESTIONS)]
        assert [chunk.chunk_id for chunk in recall.chunks] == [chunk.chunk_id for chunk in expected.chunks]
        assert [chunk.score for chunk in recall.chunks] == pytest.approx(
            [chunk.score for chunk in expected.chunks], abs=1e-5
        )


def test_one_event_loop_after_another(brain, database_url):
    retriever, engine = brain.as_retriever(k=3), brain.as_query_engine()
    expected = [[node.node_id for node in retriever.retrieve(question)] for question in QUESTIONS]
    texts = [str(engine.query(question)) for question in QUESTIONS]

    async def together():
        nodes = asyncio.gather(*(retriever.aretrieve(question) for question in QUESTIONS))
        answers = asyncio.gather(*(engine.aquery(question) for question in QUESTIONS))
        return [[node.node_id for node in found] for found in await nodes], [str(said) for said in await answers]

    for _ in range(5):
        assert asyncio.run(together()) == (expected, texts)
    assert connections(database_url) <= POOL_SIZE


@pytest.mark.slow
def test_no_connection_is_left_after_many_questions(brain, database_url, request):
    """300 questions by default, 10,000 in full; some of them end in an error."""
    many = 10_000 if request.config.getoption("markexpr") == "slow" else 300
    stock, all_ = brain.as_vector_store(), MetadataFilters(filters=[MetadataFilter(key="source", value="notes")])

    def ask(number):
        question = QUESTIONS[number % len(QUESTIONS)]
        if number % 50 == 7:
            with pytest.raises(psycopg.Error), brain._database.connection() as connection:
                connection.execute("select * from nowhere")
        if number % 50 == 9:
            assert len(stock.get_nodes(filters=all_)) == len(THINGS)
        return brain.ask(question) if number % 3 else brain.recall(question)

    with ThreadPoolExecutor(8) as threads:
        assert sum(1 for _ in threads.map(ask, range(many))) == many
    assert 1 <= connections(database_url) <= POOL_SIZE
    brain.close()
    assert connections(database_url) == 0
