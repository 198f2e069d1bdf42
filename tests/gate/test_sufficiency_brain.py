"""A brain whose gate has a language model read the notes: wired, calibrated, asked once, safe while it is down."""

import json
import math
import re

import pytest
from llm_double import LLMReply

from brainkit import Label
from brainkit.errors import LLMUnavailableError, SettingsError

THINGS = [
    "piano", "lawnmower", "aquarium", "telescope", "trampoline", "hammock", "greenhouse", "snowboard", "typewriter",
    "barometer", "saxophone", "beehive", "tractor", "drone",
]  # fmt: skip
COST, REPAIRED = "What did the {} cost?", "How much did it cost to repair the {}?"


@pytest.fixture
def things(tmp_path):
    """A folder with a note on each thing that tells its price."""
    folder = tmp_path / "things"
    folder.mkdir()
    for number, thing in enumerate(THINGS):
        (folder / f"{thing}.md").write_text(
            f"# {thing.title()}\n\nThe {thing} cost {100 + number} euro. To repair the {thing} cost too much.\n"
        )
    return folder


def reads(body):
    """A model that reads: yes, nine to one, if the notes it was given tell what the question asks; else the reverse."""
    prompt = body["messages"][-1]["content"]
    if "Reply with one word" not in prompt:
        return LLMReply("The note says so.")
    notes, question = prompt.rpartition("\n\nQuestion: ")[::2]
    thing = re.search(r"the (\w+)", question)[1]
    yes = f"The {thing} cost" in notes and "repair" not in question
    chances = {"Yes": 0.9, "No": 0.1} if yes else {"Yes": 0.1, "No": 0.9}
    return LLMReply("Yes" if yes else "No", logprobs={token: math.log(p) for token, p in chances.items()})


def labels():
    yes = [Label.from_dict({"id": f"a{t}", "question": COST.format(t), "answerable": True,
                            "relevant": [{"doc": f"{t}.md"}]}, "t") for t in THINGS]  # fmt: skip
    no = [Label.from_dict({"id": f"d{t}", "question": REPAIRED.format(t), "answerable": False,
                           "kind": "missing_detail"}, "t") for t in THINGS]  # fmt: skip
    return [*yes, *no]


@pytest.fixture
def brain(open_brain, llm, things):
    llm.behave = reads
    brain = open_brain(gate="sufficiency", **llm.settings)
    brain.import_paths([things])
    return brain


def test_it_is_told_at_opening_that_there_is_no_model(open_brain):
    with pytest.raises(SettingsError, match=r"BOR_LLM_BASE_URL is not set: give it, .* or choose another BOR_GATE"):
        open_brain(gate="sufficiency")
    with pytest.raises(SettingsError, match="BOR_LLM_BASE_URL is not set"):
        open_brain().decide("What did the piano cost?", gate="sufficiency")


def test_the_model_is_asked_for_one_token_over_the_documents_of_an_answer(brain, llm):
    decision = brain.decide("What did the piano cost?")
    (body,) = llm.requests
    assert (body["max_tokens"], body["logprobs"], body["top_logprobs"], body["temperature"]) == (1, True, 20, 0)
    given = re.findall(r"^\[things:(\w+\.md)\]$", llm.prompt(), re.MULTILINE)
    assert given == [document.path for document in decision.recall.documents[: len(given)]]
    assert "piano.md" in given
    assert len(given) == 2  # docs=2, as the retrieval string says
    assert decision.answer
    assert decision.reason.startswith("uncalibrated: sufficiency 0.9")


def test_one_question_one_call_however_often_it_is_decided(brain, llm):
    brain.decide("What did the piano cost?")
    brain.decide("What did the piano cost?")
    brain.ask("What did the piano cost?")
    judged = [body for body in llm.requests if body.get("max_tokens") == 1]
    assert len(judged) == 1
    assert brain.judge_calls == 1
    brain.recall("What did the violin cost?")
    brain.decide("What did the violin cost?", gate="cosine")
    assert brain.judge_calls == 1  # nobody asked the model


def test_it_is_calibrated_like_any_gate_and_covers_details_that_no_score_of_retrieval_tells(brain, llm):
    certificate = brain.calibrate(labels(), alpha=0.2, delta=0.1, joint=True)
    assert certificate.gate == "sufficiency"
    assert set(certificate.covers) == {"missing_note", "missing_detail"}
    assert certificate.answered == len(THINGS)
    assert brain.judge_calls == 3 * len(THINGS)  # shown, hidden, and the missing details
    yes, no = brain.decide(COST.format("drone")), brain.decide(REPAIRED.format("drone"))
    assert (yes.answer, no.answer) == (True, False)
    assert yes.reason.startswith("certified: sufficiency 0.9")
    assert brain.judge_calls == 3 * len(THINGS)  # asked before
    plain = brain.calibrate(alpha=0.2, delta=0.1, joint=True, gate="evidence")
    assert plain.answered < certificate.answered


def test_another_model_makes_the_certificate_another_gates(brain, llm, open_brain):
    brain.calibrate(labels()[-12:], alpha=0.2, delta=0.1)
    llm.models = ("double", "other")
    other = open_brain(gate="sufficiency", **{**llm.settings, "llm_model": "other"})
    assert other.threshold().origin == "shipped"
    assert "another gate" in other.threshold().note
    assert open_brain(gate="sufficiency", **llm.settings).threshold().origin == "certificate"


def test_a_server_without_probabilities_is_asked_for_votes(brain, llm):
    answers = iter(["No", "Yes", "Yes.", "yes", "No", "Yes"])
    llm.behave = lambda _: LLMReply(next(answers))
    decision = brain.decide("What did the piano cost?")
    assert brain.judge_calls == 6
    assert [body.get("logprobs", False) for body in llm.requests] == [True, *[False] * 5]
    assert {body["temperature"] for body in llm.requests[1:]} == {0.7}
    odds = math.log(4.5 / 1.5)  # four of five said yes
    evidence = brain.decide("What did the piano cost?", gate="evidence").score
    assert math.log(decision.score / (1 - decision.score)) == pytest.approx(odds + math.log(evidence / (1 - evidence)))


def test_a_server_that_refuses_to_tell_probabilities_is_asked_for_votes_too(brain, llm):
    llm.behave = lambda body: LLMReply("Yes", status=400 if body.get("logprobs") else 200, error="logprobs: unknown")
    assert brain.decide("What did the piano cost?").answer
    assert brain.judge_calls == 6


def test_a_model_that_thinks_first_is_asked_for_votes(brain, llm):
    thinks = {"<think>": -0.01}
    llm.behave = lambda _: LLMReply("Yes", thinking="no no no", think_tags=True, logprobs=thinks)
    assert brain.decide("What did the piano cost?").answer


def test_while_the_model_is_down_nothing_is_answered_that_no_certificate_lets_through(brain, llm):
    llm.behave = lambda _: LLMReply(status=401, error="no")
    decision = brain.decide("What did the piano cost?")
    assert not decision.answer
    assert decision.reason.startswith("uncalibrated: nothing is answered, as the sufficiency gate cannot ask its model")
    assert "BOR_LLM_BASE_URL" in decision.reason
    reply = brain.ask("What did the piano cost?")
    assert reply.deflected
    assert len(llm.requests) == 1  # left alone for a while, so that a reply does not wait for it many times
    json.dumps(reply.to_dict())


def test_while_the_model_is_down_a_certified_evidence_gate_stands_in(brain, llm):
    brain.calibrate(labels(), alpha=0.3, delta=0.1, gate="evidence")
    llm.behave = lambda _: LLMReply(status=401, error="no")
    decision = brain.decide("What did the piano cost?")
    plain = brain.decide("What did the piano cost?", gate="evidence")
    assert (decision.answer, decision.score, decision.threshold, decision.gate) == (
        plain.answer, plain.score, plain.threshold, "evidence",
    )  # fmt: skip
    assert decision.reason.startswith("certified: evidence ")
    assert "the sufficiency gate cannot ask its model" in decision.reason


def test_calibration_stops_when_the_model_is_down_and_leaves_the_gate(brain, llm):
    certificate = brain.calibrate(labels()[-12:], alpha=0.2, delta=0.1)
    llm.behave = lambda _: LLMReply(status=401, error="no")
    with pytest.raises(LLMUnavailableError, match="does not judge the notes"):
        brain.calibrate(labels(), alpha=0.2, delta=0.1)
    assert brain.certificate() == certificate


@pytest.mark.parametrize("window", [1024, 2048])
def test_a_document_larger_than_the_window_is_read_where_it_was_found(open_brain, llm, tmp_path, window):
    (tmp_path / "n").mkdir()
    filler = "\n\n".join(f"## Part {i}\n\n" + f"Nothing of interest happened in week {i}. " * 20 for i in range(40))
    (tmp_path / "n" / "log.md").write_text(f"# Log\n\n{filler}\n\n## Piano\n\nThe piano cost 340 euro.\n")
    llm.behave = reads
    brain = open_brain(gate="sufficiency", llm_context=window, **llm.settings)
    brain.import_paths([tmp_path / "n"])
    assert brain.decide("What did the piano cost?").answer
    assert "The piano cost 340 euro." in llm.prompt()
    assert len(llm.prompt()) < 3 * window
