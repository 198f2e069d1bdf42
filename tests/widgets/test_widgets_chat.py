"""The chat's Python side: what it sends, what it keeps, and what never becomes part of a notebook."""

import time

import pytest
from llm_double import LLMReply

from brainkit.widgets import Chat
from brainkit.widgets.passages import segments

BATTERY = "When did the Eaton get a new battery?"


@pytest.fixture
def chat(brain, monkeypatch):
    """A chat whose messages are in ``chat.told``."""
    made = Chat(brain)
    told = []
    monkeypatch.setattr(made, "send", told.append)
    object.__setattr__(made, "told", told)
    yield made
    made.close()


def receive(chat, **message):
    chat._on_message(chat, message, [])


def asked(chat, question):
    """The turn, when its answer is there."""
    receive(chat, type="ask", question=question)
    for _ in range(1000):
        if chat.told[-1]["type"] == "done":
            return chat.turns[-1]
        time.sleep(0.01)
    raise AssertionError(chat.told)


def test_pieces_come_in_order_and_make_the_answer(chat):
    turn = asked(chat, BATTERY)
    kinds = [message["type"] for message in chat.told]
    assert kinds[0] == "turn"
    assert set(kinds[1:-1]) == {"piece"}
    assert "".join(m["text"] for m in chat.told if m["type"] == "piece").strip() == turn.text.strip()
    assert "12 March 2024" in turn.text
    assert chat.told[-1]["sources"][0]["path"] == "ups.md"


def test_a_view_that_is_ready_gets_what_was_said_and_it_alone(chat):
    asked(chat, BATTERY)
    chat.told.clear()
    receive(chat, type="ready", view="second")
    state = chat.told[0]
    assert (state["type"], state["view"]) == ("state", "second")
    assert [(turn["question"], turn["state"]) for turn in state["turns"]] == [(BATTERY, "done")]


def test_a_source_is_given_whole_with_the_quoted_passage_marked(chat, brain):
    asked(chat, BATTERY)
    receive(chat, type="open", number=0, source=0, view="v")
    opened = chat.told[-1]
    assert "".join(text for text, _ in opened["parts"]) == brain.document_text("notes", "ups.md")[1]
    assert "RBC7 on 12 March 2024" in "".join(text for text, marked in opened["parts"] if marked)


def test_a_secret_in_a_question_is_not_kept(chat):
    secret = "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    turn = asked(chat, f"Where is {secret} used?")
    assert secret not in turn.question
    assert secret not in str(chat.told)


def test_wrong_settings_are_refused_and_nothing_changes(chat, brain):
    before = str(brain.retrieval), brain.gate.name
    receive(chat, type="adjust", retrieval="nonsense(3)", gate="seed", threshold=None, steering="", view="v")
    assert (chat.told[-1]["type"], chat.told[-1]["what"]) == ("refused", "adjust")
    assert (str(brain.retrieval), brain.gate.name) == before


def test_settings_that_fit_are_used_and_shown(chat, brain):
    receive(chat, type="adjust", retrieval="dense(9)", gate="cosine", threshold=0.5, steering="Be brief.", view="v")
    shown = chat.told[-1]
    assert (shown["type"], shown["view"], shown["saved"]) == ("settings", "v", True)
    assert (str(brain.retrieval), brain.gate.name, brain.threshold().value) == ("dense(9)", "cosine", 0.5)
    assert brain.steering.read() == shown["steering"] == "Be brief."


def test_a_new_conversation_forgets(chat):
    asked(chat, BATTERY)
    receive(chat, type="forget")
    assert chat.told[-1] == {"type": "state", "turns": []}
    assert chat.turns == ()


def test_what_a_model_said_before_it_fell_silent_is_shown_at_once(open_brain, brain, llm, monkeypatch):
    llm.say(LLMReply(text=" ".join(f"word{n}" for n in range(60)), hang_after=40))
    chat, told = Chat(open_brain(relevance_threshold=0.0, **llm.settings)), []
    monkeypatch.setattr(chat, "send", told.append)
    chat.ask(BATTERY)
    for _ in range(1500):
        if "word38" in "".join(m["text"] for m in told if m["type"] == "piece"):
            break
        time.sleep(0.01)
    said = "".join(m["text"] for m in told if m["type"] == "piece")
    chat.close()
    assert "word0 word1" in said
    assert "word38" in said


def test_nothing_that_was_said_is_part_of_the_widgets_state(chat):
    asked(chat, BATTERY)
    saved = str({key: value for key, value in chat.get_state().items() if key not in {"_esm", "_css"}})
    assert "Eaton" not in saved
    assert chat._repr_mimebundle_()[0]["text/plain"] == ("Chat over 5 documents; run the notebook to talk to them")


@pytest.mark.parametrize(
    ("text", "passages", "marked"),
    [
        ("a\nThe battery is an RBC7.\nb", ["The battery is an RBC7."], ["The battery is an RBC7."]),
        ("# One\n\nfirst line here\nsecond line here\n", ["One > Two\nfirst line here\nsecond line here"],
         ["first line here", "second line here"]),
        ("abc", [], []),
        ("abc", ["is not in it"], []),
        ("", ["x"], []),
        ("overlapping words", ["overlapping", "lapping words"], ["overlapping words"]),
    ],
)  # fmt: skip
def test_passages_are_marked_and_nothing_is_lost(text, passages, marked):
    found = segments(text, passages)
    assert "".join(piece for piece, _ in found) == text
    assert [piece for piece, on in found if on] == marked
