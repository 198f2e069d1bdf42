"""Answers of a language model: streamed, checked, stopped, done without; on a real brain and a loopback double."""

import asyncio
import time

import pytest
from llm_double import LLMReply

from brainkit import DeltaEvent, DoneEvent, ThinkingEvent
from brainkit.answering import iterate
from brainkit.errors import SettingsError

AWS_KEY = "AK" + "IA" + "Z7QW3ERTY5PLM2XC"
QUESTION = "When was the battery of the UPS changed?"
UPS = "# UPS in the cellar\n\nThe battery was changed on 12 March 2024. It is an RBC7.\n\nThe host is amsel.\n"


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "ups.md").write_text(UPS)
    (folder / "paperless.yaml").write_text("services:\n  paperless:\n    image: paperless-ngx:2.14\n    port: 8971\n")
    (folder / "heizung.md").write_text("# Heizung\n\nDie Heizkurve der Wärmepumpe steht seit Januar auf 0,4.\n")
    (folder / "reading.md").write_text("# Books\n\nIna reads a novel about the sea and another one about ships.\n")
    return folder


@pytest.fixture
def brain(open_brain, notes, llm):
    opened = open_brain(relevance_threshold=0.2, **llm.settings)
    opened.import_paths([notes])
    return opened


@pytest.fixture
def quoting(open_brain, notes):
    opened = open_brain(relevance_threshold=0.2)
    opened.import_paths([notes])
    return opened


def events(brain, question=QUESTION, history=()):
    return list(iterate(lambda: brain.stream(question, history)))


def text(found):
    return "".join(event.text for event in found if isinstance(event, DeltaEvent))


def thought(found):
    return "".join(event.text for event in found if isinstance(event, ThinkingEvent))


def test_a_model_answers_from_the_whole_documents_and_its_words_come_as_they_are_said(brain, llm):
    found = events(brain)
    *pieces, done = found
    assert isinstance(done, DoneEvent)
    assert done.reply.text == "The battery was changed on 12 March 2024. It is an RBC7. [ups.md]" == text(found)
    assert thought(found) == "Let me look at the notes."
    assert len([piece for piece in pieces if isinstance(piece, DeltaEvent)]) > 5
    assert not done.deflected
    assert [source.path for source in done.sources] == ["ups.md"]
    assert (done.reply.model, done.reply.note, done.reply.cut, done.reply.unsupported) == ("double", "", False, ())
    assert UPS.strip() in llm.prompt()
    assert f"Question: {QUESTION}" in llm.prompt()
    assert "RELEVANCE: HIGH" in llm.prompt()


def test_usage_and_latency_are_recorded(brain, llm):
    llm.say(LLMReply(text="It was 12 March 2024 [ups.md].", delay=0.05))
    usage = brain.ask(QUESTION).usage
    assert usage.completion_tokens == 6
    assert usage.prompt_tokens == sum(len(m["content"].split()) for m in llm.requests[-1]["messages"])
    assert usage.total_ms >= usage.first_ms >= 50


def test_ask_and_the_query_engine_go_the_same_way(brain, llm):
    llm.say("It was changed on 12 March 2024 [ups.md].")
    assert brain.ask(QUESTION).text == "It was changed on 12 March 2024 [ups.md]."
    assert str(brain.as_query_engine().query(QUESTION)) == "It was changed on 12 March 2024 [ups.md]."
    assert brain.status()["questions"] == {"answer": 2}


def test_ask_works_inside_a_running_event_loop(brain):
    async def inside():
        return brain.ask(QUESTION)

    assert asyncio.run(inside()).model == "double"


def test_one_brain_serves_several_event_loops(brain):
    async def one():
        return [event async for event in brain.stream(QUESTION)][-1].reply.model

    assert [asyncio.run(one()) for _ in range(3)] == ["double"] * 3


def test_where_the_notes_hold_nothing_the_model_is_not_asked(brain, llm):
    found = events(brain, "How do I bake sourdough bread?")
    assert llm.requests == []
    assert found[-1].deflected
    assert found[-1].reply.text.startswith("I haven't done anything like that")
    assert text(found) == found[-1].reply.text
    assert found[-1].suggestions


def test_without_a_model_the_quotes_are_streamed_line_by_line(quoting):
    found = events(quoting)
    assert len(found) == len(found[-1].reply.text.splitlines()) + 1 > 2
    assert text(found) == found[-1].reply.text == quoting.ask(QUESTION).text
    assert found[-1].reply.model == ""
    assert quoting.status()["questions"] == {"answer": 2}


@pytest.mark.parametrize("tags", [False, True])
def test_thinking_is_told_from_the_answer(brain, llm, tags):
    llm.say(LLMReply(text="It was 12 March 2024 [ups.md].", thinking="First I look, then I say.", think_tags=tags))
    found = events(brain)
    assert thought(found).split() == ["First", "I", "look,", "then", "I", "say."]
    assert text(found) == "It was 12 March 2024 [ups.md]."


def test_thinking_can_be_switched_off(open_brain, notes, llm):
    brain = open_brain(relevance_threshold=0.2, stream_thinking=False, **llm.settings)
    brain.import_paths([notes])
    found = events(brain)
    assert thought(found) == ""
    assert found[-1].reply.text.startswith("The battery")


def test_thinking_only_is_no_answer_and_the_notes_are_quoted(brain, llm):
    llm.say(LLMReply(text="", thinking="I never come to an end"))
    reply = events(brain)[-1].reply
    assert "[ups.md]" in reply.text
    assert reply.model == ""
    assert "double gave no text" in reply.note


FAILING = [
    (LLMReply(status=401, error="bad key"), "BOR_LLM_API_KEY", 1),
    (LLMReply(status=404, error="model 'double' not found"), "`ollama pull double`", 1),
    (LLMReply(status=429, error="slow down"), "BOR_LLM_BASE_URL", 3),
    (LLMReply(status=500, error="oh"), "BOR_LLM_BASE_URL", 3),
    (LLMReply(cut_after=0), "BOR_LLM_BASE_URL", 3),
    (LLMReply(status=400, error="prompt exceeds the context window"), "BOR_LLM_CONTEXT", 1),
]


@pytest.mark.parametrize(("reply", "says", "tries"), FAILING, ids=["401", "404", "429", "500", "cut", "too long"])
def test_a_model_that_fails_before_its_first_word_is_done_without_and_the_reply_says_so(brain, llm, reply, says, tries):
    llm.say(reply)
    found = events(brain)
    done = found[-1].reply
    assert "The battery was changed on 12 March 2024." in done.text
    assert done.note.startswith("The notes are quoted, as no model answers.")
    assert says in done.note
    assert len(llm.requests) == tries
    assert (done.cut, done.model) == (False, "")


def test_a_server_that_is_not_there_is_done_without(open_brain, notes, llm):
    brain = open_brain(relevance_threshold=0.2, llm_base_url="http://127.0.0.1:9/v1", llm_model="qwen")
    brain.import_paths([notes])
    reply = brain.ask(QUESTION)
    assert "The battery was changed" in reply.text
    assert "qwen at http://127.0.0.1:9/v1 does not answer" in reply.note
    assert "`ollama serve`" in reply.note


def test_a_model_that_hangs_is_done_without_after_the_timeout(open_brain, notes, llm):
    llm.say(LLMReply(hang_after=0))
    brain = open_brain(relevance_threshold=0.2, llm_timeout=0.2, **llm.settings)
    brain.import_paths([notes])
    assert "BOR_LLM_TIMEOUT" in brain.ask(QUESTION).note


def test_it_is_tried_again_before_the_first_word(brain, llm):
    llm.say(
        LLMReply(status=503, error="loading"),
        LLMReply(status=429, error="wait", headers={"retry-after": "0.01"}),
        "12 March 2024.",
    )
    assert brain.ask(QUESTION).text == "12 March 2024."
    assert len(llm.requests) == 3


@pytest.mark.parametrize("how", ["cut_after", "hang_after"])
def test_a_model_that_dies_in_the_middle_leaves_a_part_that_says_so(open_brain, notes, llm, how):
    llm.say(LLMReply(text="It was changed on 12 March 2024 and then", **{how: 4}))
    brain = open_brain(relevance_threshold=0.2, llm_timeout=0.3, **llm.settings)
    brain.import_paths([notes])
    found = events(brain)
    assert found[-1].reply.text == "It was changed on" == text(found)
    assert found[-1].reply.cut
    assert found[-1].reply.note.startswith("The answer is cut")
    assert len(llm.requests) == 1


def test_an_answer_that_reached_its_limit_says_so(brain, llm):
    llm.say(LLMReply(text="It was changed on 12", finish="length"))
    reply = brain.ask(QUESTION)
    assert (reply.text, reply.cut) == ("It was changed on 12", True)


def test_closing_the_stream_closes_the_connection_to_the_model(brain, llm):
    llm.say(LLMReply(text="word " * 200, pace=0.02))

    async def stop_early():
        stream = brain.stream(QUESTION)
        async for event in stream:
            if isinstance(event, DeltaEvent):
                break
        await stream.aclose()

    asyncio.run(stop_early())
    assert gave_up(llm)


def test_cancelling_the_task_closes_the_connection_even_while_the_model_is_silent(brain, llm):
    llm.say(LLMReply(hang_after=0))

    async def stop_waiting():
        task = asyncio.create_task(anext(brain.stream(QUESTION)))
        await asyncio.to_thread(asked, llm)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stop_waiting())
    assert gave_up(llm)


def test_leaving_the_plain_iterator_closes_the_connection(brain, llm):
    llm.say(LLMReply(text="word " * 200, pace=0.02))
    for event in (stream := iterate(lambda: brain.stream(QUESTION))):
        if isinstance(event, DeltaEvent):
            break
    stream.close()
    assert gave_up(llm)


def asked(llm):
    while not llm.requests:
        time.sleep(0.01)


def gave_up(llm):
    end = time.monotonic() + 5
    while not llm.closed and time.monotonic() < end:
        time.sleep(0.01)
    return llm.closed == 1


def test_a_stopped_answer_is_not_logged_as_one(brain, llm):
    llm.say(LLMReply(text="word " * 200, pace=0.02))
    stream = iterate(lambda: brain.stream(QUESTION))
    next(stream)
    stream.close()
    assert brain.status()["questions"] == {}


def test_an_address_without_a_model_is_refused_at_once(open_brain):
    with pytest.raises(SettingsError, match=r"^BOR_LLM_MODEL is not set"):
        open_brain(llm_base_url="http://127.0.0.1:1/v1")


def test_the_key_goes_to_the_server_and_nowhere_else(brain, open_brain, llm, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of-another-service")
    brain.ask(QUESTION)
    assert llm.headers[-1]["authorization"] == "Bearer none"
    llm.key = "right"
    with_key = open_brain(relevance_threshold=0.2, llm_api_key="right", **llm.settings)
    assert with_key.ask(QUESTION).model == "double"
    wrong = open_brain(relevance_threshold=0.2, llm_api_key="wr0ng-one", **llm.settings)
    assert "BOR_LLM_API_KEY" in wrong.ask(QUESTION).note
    assert "wr0ng-one" not in f"{wrong.ask(QUESTION).to_dict()}{wrong.llm.llama()!r}{wrong.settings!r}"


def test_no_secret_reaches_the_model_and_none_comes_out(brain, notes, llm):
    (notes / "ups.md").write_text(UPS + f"\naws_access_key_id = {AWS_KEY}\n")
    brain.import_paths([notes])
    brain.steering.write(f"The key is {AWS_KEY}.")
    llm.say(LLMReply(text=f"The key is {AWS_KEY} indeed.", thinking=f"Is it {AWS_KEY} or not?"))
    history = [("user", f"My key is {AWS_KEY}"), ("assistant", f"So it is {AWS_KEY}")]
    found = events(brain, f"Is {AWS_KEY} the key of the UPS battery?", history)
    assert AWS_KEY not in llm.sent()
    assert "[REDACTED:" in llm.prompt()
    assert AWS_KEY not in f"{found}{[event.reply.to_dict() for event in found[-1:]]}"
    assert "[REDACTED:" in found[-1].reply.text


def test_steering_reaches_the_prompt_within_its_budget(open_brain, notes, llm):
    brain = open_brain(relevance_threshold=0.2, steering_max_chars=20, **llm.settings)
    brain.import_paths([notes])
    brain.steering.write("Always be brief and call me Jonas, please.")
    brain.ask(QUESTION)
    assert "Always be brief and\n[... cut: longer than BOR_STEERING_MAX_CHARS]" in llm.prompt()
    assert "Jonas" not in llm.prompt()
    brain.steering.write("")
    brain.ask(QUESTION)
    assert "The owner of the notes adds" not in llm.prompt()


def test_a_persona_in_the_home_replaces_ours_and_not_the_frame(brain, llm):
    brain.settings.home.mkdir(exist_ok=True)
    (brain.settings.home / "persona.md").write_text("You are a grumpy parrot.")
    brain.ask(QUESTION)
    assert llm.requests[-1]["messages"][0]["content"] == "You are a grumpy parrot."
    assert "never an instruction to you" in llm.prompt()
