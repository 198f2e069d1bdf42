"""LlamaIndex's chat engine over a brain: follow-ups, short-term memory, streaming, with and without a model."""

import asyncio

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine.types import BaseChatEngine
from llm_double import LLMReply

QUESTION = "When was the battery of the UPS changed?"


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "ups.md").write_text("# UPS\n\nThe battery was changed on 12 March 2024. It is an RBC7.\n")
    (folder / "nas.md").write_text("# NAS\n\nThe pool tank has four disks of 8 TB in raidz1.\n")
    (folder / "reading.md").write_text("# Books\n\nIna reads a novel about the sea.\n")
    return folder


@pytest.fixture
def brain(open_brain, notes, llm):
    opened = open_brain(relevance_threshold=0.2, **llm.settings)
    opened.import_paths([notes])
    return opened


def condensed(body):
    """What a model does: one question that stands alone; else an answer from the notes."""
    if "Rewrite the last message" in body["messages"][0]["content"]:
        return LLMReply(text='"Of what type is the battery of the UPS?"', thinking="They mean the battery.")
    return LLMReply(text="It is an RBC7 [ups.md].")


def test_it_is_a_chat_engine_whose_answers_have_sources(brain):
    engine = brain.as_chat_engine()
    assert isinstance(engine, BaseChatEngine)
    response = engine.chat(QUESTION)
    assert str(response) == "The battery was changed on 12 March 2024. It is an RBC7. [ups.md]"
    assert {node.metadata["path"] for node in response.source_nodes} == {"ups.md"}
    assert response.metadata["question"] == QUESTION
    assert response.metadata["model"] == "double"
    assert [message.content for message in engine.chat_history] == [QUESTION, str(response)]


def test_a_follow_up_becomes_a_question_that_stands_alone_and_is_shown(brain, llm):
    llm.behave = condensed
    engine = brain.as_chat_engine()
    engine.chat(QUESTION)
    response = engine.chat("And of what type is it?")
    assert response.metadata["question"] == "Of what type is the battery of the UPS?"
    assert response.sources[0].raw_input == {"message": "Of what type is the battery of the UPS?"}
    assert "Question: Of what type is the battery of the UPS?" in llm.prompt()
    assert f"user: {QUESTION}" in llm.prompt(-2)
    assert [message.role.value for message in engine.chat_history] == ["user", "assistant"] * 2


def test_without_a_model_a_follow_up_gets_the_words_of_the_question_before(open_brain, notes):
    brain = open_brain(relevance_threshold=0.2)
    brain.import_paths([notes])
    engine = brain.as_chat_engine()
    engine.chat(QUESTION)
    response = engine.chat("And of what type is it?")
    assert response.metadata["question"] == f"And of what type is it? ({QUESTION})"
    assert "[ups.md]" in str(response)
    assert engine.chat("Which disks has the NAS?").metadata["question"] == "Which disks has the NAS?"


def test_a_model_that_fails_to_condense_is_done_without(brain, llm):
    llm.say(LLMReply(status=404, error="model not found"))
    reply = brain.ask("And of what type is it?", [("user", QUESTION), ("assistant", "12 March 2024")])
    assert reply.question == f"And of what type is it? ({QUESTION})"


def test_a_condensed_question_that_is_none_is_not_used(brain, llm):
    llm.say(LLMReply(text="word " * 500), "It is an RBC7.")
    reply = brain.ask("And of what type is it?", [("user", QUESTION)])
    assert reply.question == f"And of what type is it? ({QUESTION})"


def test_streaming_gives_pieces_and_then_sources(brain, llm):
    engine = brain.as_chat_engine()
    response = engine.stream_chat(QUESTION)
    pieces = list(response.response_gen)
    assert "".join(pieces) == str(response) == "The battery was changed on 12 March 2024. It is an RBC7. [ups.md]"
    assert len([piece for piece in pieces if piece]) > 5
    assert {node.metadata["path"] for node in response.source_nodes} == {"ups.md"}
    assert engine.chat_history[-1].content == str(response)


def test_the_asynchronous_calls_do_the_same(brain):
    async def both():
        engine = brain.as_chat_engine()
        whole = await engine.achat(QUESTION)
        response = await engine.astream_chat(QUESTION, [])
        pieces = [piece async for piece in response.async_response_gen()]
        return str(whole), "".join(pieces), len(engine.chat_history)

    whole, streamed, remembered = asyncio.run(both())
    assert whole == streamed
    assert remembered == 2  # the empty history took the place of what was said before


def test_thinking_is_given_as_other_models_give_it(brain):
    stream = brain.as_chat_engine().stream_chat(QUESTION).chat_stream
    assert "Let me look" in "".join(piece.additional_kwargs.get("thinking_delta", "") for piece in stream)


def test_reset_forgets(brain, llm):
    engine = brain.as_chat_engine()
    engine.chat(QUESTION)
    engine.reset()
    assert engine.chat_history == []
    engine.chat("And of what type is it?")
    assert len(llm.requests) <= 2  # nothing to condense


def test_a_history_that_is_given_takes_the_place_of_what_is_remembered(brain, llm):
    llm.behave = condensed
    engine = brain.as_chat_engine()
    engine.chat("Which disks has the NAS?")
    engine.chat("And of what type is it?", [ChatMessage(role="user", content=QUESTION)])
    assert "NAS" not in llm.prompt(-2)


def test_only_the_end_of_a_long_conversation_is_remembered_within_the_budget(brain, llm):
    llm.behave = condensed
    engine = brain.as_chat_engine(token_limit=40)
    for number in range(6):
        engine.chat(f"Question number {number} about the battery of the UPS?")
    prompt = llm.prompt(-2)
    assert "number 4" in prompt
    assert "number 0" not in prompt
    assert len(engine.chat_history) == 12


def test_a_deflection_is_one_in_a_chat_too(brain, llm):
    response = brain.as_chat_engine().chat("How do I bake sourdough bread?")
    assert response.metadata["deflected"]
    assert response.source_nodes == []
    assert llm.requests == []


def test_what_was_stopped_is_not_remembered(brain, llm):
    llm.say(LLMReply(text="word " * 100, pace=0.02))
    engine = brain.as_chat_engine()
    pieces = engine.stream_chat(QUESTION).chat_stream
    next(pieces)
    pieces.close()
    assert engine.chat_history == []
