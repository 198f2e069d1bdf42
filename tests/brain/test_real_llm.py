"""What a language model must do with our prompts: the double, or the configured one with BRAINKIT_REAL_LLM=1."""

import os

import pytest
from llm_double import REAL, LLMReply

NOTES = {
    "ups.md": "# UPS in the cellar\n\nThe battery was changed on 12 March 2024. It is an RBC7 from the drawer.\n",
    "nas.md": "# NAS\n\nThe pool tank has four disks of 8 TB in raidz1. The host is amsel.\n",
    "heizung.md": "# Heizung\n\nDie Heizkurve der Wärmepumpe steht seit Januar auf 0,4.\n",
}
SAID = {
    "When was the battery of the UPS changed?": "It was changed on 12 March 2024 [ups.md].",
    "Auf welchem Wert steht die Heizkurve?": "Sie steht auf 0,4 [heizung.md].",
    "Who sold the battery of the UPS?": "The notes do not say who sold it; it came from the drawer [ups.md].",
}


def obliging(body):
    asked = body["messages"][-1]["content"].rpartition("Question: ")[2]
    if "Rewrite the last message" in body["messages"][0]["content"]:
        return LLMReply(text="How many disks has the pool of the NAS?")
    return LLMReply(text=SAID.get(asked, "It has four disks of 8 TB [nas.md]."))


@pytest.fixture
def brain(open_brain, tmp_path, request):
    folder = tmp_path / "lab"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    if REAL:
        settings = {name.removeprefix("BOR_").lower(): value for name, value in REAL.items()}
        assert "llm_base_url" in settings, "BRAINKIT_REAL_LLM needs BOR_LLM_BASE_URL and BOR_LLM_MODEL"
    else:
        double = request.getfixturevalue("llm")
        double.behave = obliging
        settings = double.settings
    opened = open_brain(relevance_threshold=0.1, **settings)
    opened.import_paths([folder])
    return opened


@pytest.mark.parametrize(("question", "fact", "path"), [
    ("When was the battery of the UPS changed?", "2024", "ups.md"),
    ("Auf welchem Wert steht die Heizkurve?", "0,4", "heizung.md"),
])  # fmt: skip
def test_it_answers_from_the_notes_and_cites_them(brain, question, fact, path):
    reply = brain.ask(question)
    assert reply.model, reply.note
    assert fact in reply.text
    assert f"[{path}]" in reply.text
    assert (reply.unsupported, reply.removed_citations, reply.cut) == ((), 0, False)


def test_it_invents_nothing(brain):
    reply = brain.ask("Who sold the battery of the UPS?")
    assert reply.model, reply.note
    assert reply.unsupported == ()


def test_it_makes_a_follow_up_stand_alone(brain):
    history = [("user", "Tell me about the pool of the NAS."), ("assistant", "It is called tank [nas.md].")]
    reply = brain.ask("And how many disks has it?", history)
    assert "NAS" in reply.question or "pool" in reply.question
    assert "four" in reply.text.lower() or "4" in reply.text


def test_the_probe_finds_it(brain):
    assert [probe.passed for probe in brain.probe()] == [True, True], brain.probe()


def test_the_variable_decides_who_is_asked():
    assert bool(REAL) == bool(os.environ.get("BRAINKIT_REAL_LLM"))
