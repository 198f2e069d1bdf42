"""The chat on its own page: a real browser, Voila as `brainkit app` starts it, a real brain, a model's stand-in."""

import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from llm_double import Double, LLMReply, running

from brainkit import Brain, Settings

PAYLOAD = "<img src=x onerror=window.__xss=1><script>window.__xss=2</script>"
PATH = "<img src=x onerror=window.__xss=3>.md"
NOTES = {
    "ups.md": "# UPS in the cellar\n\n" + "It hums.\n" * 80 + "\n## Battery\n\n"
    "The Eaton got a new battery RBC7 on 12 March 2024.\n",
    "dns.md": "# DNS\n\nAdGuard runs on eule and listens on port 53. The upstream is unbound on port 5335.\n",
    "backup.md": "# Backups\n\nrestic runs every night at 02:40 and keeps 14 daily snapshots.\n",
    PATH: f"# Printer {PAYLOAD}\n\nThe printer's toner is TN-2420. {PAYLOAD} [here](javascript:window.__xss=4) ![x](http://203.0.113.7/x.png)\n",
}  # fmt: skip
BATTERY = "When did the Eaton get a new battery?"
OFF = "Who won the world cup in 1990?"
SAID = "It was changed on 12 March 2024 [ups.md]."
CELLS = [
    "from brainkit import Brain\nfrom brainkit.widgets import Chat\nbrain = Brain.open()\nchat = Chat(brain)\nchat",
    "other = Chat(brain)\nother",
    "chat",
]
WIDTH, HEIGHT = 1200, 1000


@pytest.fixture(scope="module")
def talk(chromium, new_database, tmp_path_factory):
    """``page``, ``chat`` (its first view), ``llm``, ``brain`` (the same database), ``strange`` (requests)."""
    pytest.importorskip("voila")
    from brainkit.widgets.page import NotebookPage

    folder = tmp_path_factory.mktemp("talk")
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text, "utf-8")
    nbformat.write(
        nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in CELLS],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        ),
        folder / "talk.ipynb",
    )
    with (
        running(Double()) as llm,
        new_database() as url,
        Brain.open(
            Settings(home=folder / "home", database_url=url, embedder="wordllama", relevance_threshold=0.2)
        ) as brain,
    ):
        brain.import_paths([folder / "notes"])
        environment = {
            "BOR_HOME": str(folder / "home"),
            "BOR_DATABASE_URL": url,
            "BOR_EMBEDDER": "wordllama",
            "BOR_RELEVANCE_THRESHOLD": "0.2",
            "BOR_LLM_BASE_URL": llm.url,
            "BOR_LLM_MODEL": "double",
            "IPYTHONDIR": str(folder),
            "JUPYTER_PLATFORM_DIRS": "1",
            "JUPYTER_DATA_DIR": str(folder / "jupyter"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        }
        with NotebookPage(folder / "talk.ipynb", environment=environment) as served:
            page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.set_default_timeout(30_000)
            strange = []
            page.on("request", lambda r: None if _local(r.url) else strange.append(r.url))
            page.on("pageerror", lambda error: strange.append(str(error)))
            page.goto(served.url)
            page.locator(".bk-chat[data-ready]").nth(2).wait_for()
            chats = page.locator(".bk-chat")
            yield SimpleNamespace(
                page=page, chat=chats.nth(0), other=chats.nth(1), again=chats.nth(2), llm=llm, brain=brain,
                strange=strange, served=served, folder=folder,
            )  # fmt: skip
            page.close()


@pytest.fixture
def chat(talk):
    """An empty conversation; what the model says is said afresh by each test."""
    talk.llm.say(LLMReply(text=SAID, thinking="Let me look."))
    for one in (talk.chat, talk.other):
        begin(one)
    for close in talk.page.locator(".bk-drawer:not([hidden]) .bk-close").all():
        close.click()
    return talk.chat


def _local(url):
    return re.match(r"(?:https?|wss?)://127\.0\.0\.1[:/]|data:|blob:", url) is not None


def begin(chat):
    """Empty a conversation, also one that a failed test left half answered."""
    if (stop := chat.get_by_role("button", name="Stop")).is_visible():
        stop.click()
        stop.wait_for(state="hidden")
    new = chat.get_by_role("button", name="New conversation")
    if new.is_enabled():
        new.click()
        chat.locator(".bk-turn").first.wait_for(state="detached")
    chat.evaluate("node => delete node.dataset.done")


def ask(chat, question):
    box = chat.get_by_role("textbox", name="Question", exact=True)
    box.fill(question)
    box.press("Enter")


def answered(chat, number=0):
    chat.page.wait_for_function(
        "([node, number]) => node.dataset.done === String(number)", arg=[chat.element_handle(), number]
    )
    turn = chat.locator(f"[data-turn='{number}']")
    turn.locator(".bk-tools").wait_for()
    return turn


def test_thinking_is_shown_until_the_first_words_which_grow(talk, chat):
    talk.llm.say(
        LLMReply(text="one two three four five six seven eight nine ten", thinking="Let me see " * 4, pace=0.1)
    )
    ask(chat, BATTERY)
    turn = chat.locator("[data-turn='0']")
    turn.locator(".bk-thought", has_text="Let me see").wait_for()
    assert turn.locator("details").get_attribute("open") is not None
    turn.locator(".bk-text", has_text="one two").wait_for()
    assert turn.locator("details").get_attribute("open") is None
    first = turn.locator(".bk-text").inner_text()
    turn.locator(".bk-text", has_text="five").wait_for()
    assert turn.locator(".bk-text").inner_text().startswith(first)
    assert first != "one two three four five six seven eight nine ten"
    answered(chat)
    assert turn.locator(".bk-text").inner_text().startswith("one two three four five six seven eight nine ten")
    turn.locator("summary").click()
    assert turn.locator(".bk-thought").inner_text() == ("Let me see " * 4).strip()


def test_the_first_words_are_there_soon_after_the_model_says_them(talk, chat, record_property):
    """150 ms are asked of an idle machine; it is told how long it took, and ten times as long fails."""
    took = []
    talk.llm.say(LLMReply(text="soon, and a little later the rest of it", delay=0.2, pace=0.1))
    for _ in range(3):
        begin(chat)
        ask(chat, BATTERY)
        seen = talk.page.wait_for_function(
            "node => node.querySelector('.bk-text')?.textContent.includes('soon') && Date.now()",
            arg=chat.element_handle(),
        ).json_value()
        took.append(seen - talk.llm.first_token_wall * 1000)
        answered(chat)
    record_property("first_text_ms", sorted(took))
    sys.stderr.write(f"first text after {sorted(round(one) for one in took)} ms\n")
    assert sorted(took)[1] < 1500


def test_stop_ends_the_answer_and_the_model(talk, chat):
    talk.llm.say(LLMReply(text=" ".join(f"word{n}" for n in range(60)), hang_after=40))
    before = talk.llm.closed
    ask(chat, BATTERY)
    turn = chat.locator("[data-turn='0']")
    turn.locator(".bk-text", has_text="word0 word1").wait_for()
    chat.get_by_role("button", name="Stop").click()
    answered(chat)
    assert "Stopped." in turn.inner_text()
    assert "word0 word1" in turn.locator(".bk-text").inner_text()
    for _ in range(100):
        if talk.llm.closed > before:
            break
        time.sleep(0.02)
    assert talk.llm.closed == before + 1
    talk.llm.say(SAID)
    turn.get_by_role("button", name="Ask again").click()
    turn.locator(".bk-text", has_text="12 March 2024").wait_for()


def test_a_source_opens_beside_it_with_the_passage_marked(talk, chat):
    ask(chat, BATTERY)
    turn = answered(chat)
    chip = turn.get_by_role("group", name="Sources").get_by_role("button")
    assert chip.inner_text() == "UPS in the cellar · ups.md"
    chip.click()
    drawer = chat.get_by_role("region", name="Source document")
    drawer.locator("mark").first.wait_for()
    assert drawer.locator("pre").inner_text().strip() == NOTES["ups.md"].strip()
    assert "RBC7 on 12 March 2024" in "".join(drawer.locator("mark").all_inner_texts())
    box, frame = drawer.locator("mark").last.bounding_box(), drawer.bounding_box()
    assert box["y"] < frame["y"] + frame["height"]
    talk.page.keyboard.press("Escape")
    assert drawer.is_hidden()
    assert talk.page.evaluate("document.activeElement.className") == "bk-chip"
    assert talk.again.get_by_role("region", name="Source document").is_hidden()  # the other view was not asked to
    turn.get_by_role("button", name="Open ups.md").first.click()  # the citation in the text
    drawer.locator("mark").first.wait_for()


def test_a_deflection_looks_like_one_and_offers_questions_that_are_asked(talk, chat):
    calls = len(talk.llm.requests)
    ask(chat, OFF)
    turn = answered(chat)
    assert "bk-deflected" in turn.get_attribute("class")
    assert "I haven't done anything like that" in turn.inner_text()
    shown = re.search(r"score (-?\d\.\d\d), threshold 0\.20", turn.locator(".bk-verdict").inner_text())
    assert float(shown[1]) < 0.2
    assert len(talk.llm.requests) == calls  # the model is not asked
    offered = turn.get_by_role("group", name="Questions the notes answer").get_by_role("button").first
    question = offered.inner_text()
    talk.llm.say(question, SAID)  # asked to make a follow-up stand alone, it leaves the question as it is
    offered.click()
    assert "bk-deflected" not in answered(chat, 1).get_attribute("class")
    assert chat.locator("[data-turn='1'] .bk-asked").inner_text() == question


@pytest.mark.parametrize(
    ("question", "button", "expected"),
    [(BATTERY, "Wrong", "wrong"), (OFF, "Should have answered", "missed"), (BATTERY, "Right", "right")],
)
def test_what_the_reader_says_about_it_is_stored(talk, chat, question, button, expected):
    ask(chat, question)
    turn = answered(chat)
    pressed = turn.get_by_role("button", name=button, exact=True)
    pressed.click()
    turn.locator("[aria-pressed=true]").wait_for()
    assert turn.locator("[aria-pressed=true]").inner_text() == button
    with talk.brain._database.connection() as connection:
        newest = connection.execute(
            "select question, feedback from query_log order by created_at desc limit 1"
        ).fetchone()
    assert newest == (question, expected)


def test_nothing_in_notes_titles_paths_or_answers_is_run_loaded_or_linked(talk, chat):
    talk.llm.say(f"Toner TN-2420 {PAYLOAD} [click](javascript:window.__xss=5) ![x](http://203.0.113.7/x.png) [{PATH}]")
    ask(chat, "Which toner does the printer take?")
    turn = answered(chat)
    turn.get_by_role("group", name="Sources").get_by_role("button").first.click()
    drawer = chat.get_by_role("region", name="Source document")
    drawer.locator("pre").wait_for()
    assert PAYLOAD in drawer.inner_text()
    assert "onerror=window.__xss=3" in drawer.inner_text()  # its path
    for tag in ("img", "script", "iframe", "a[href^=javascript]"):
        assert chat.locator(tag).count() == 0
    assert talk.page.evaluate("window.__xss ?? null") is None


def test_two_chats_and_two_views_of_one(talk, chat):
    talk.llm.say(
        LLMReply(text="alpha answer of the first", pace=0.05), LLMReply(text="beta answer of the second", pace=0.05)
    )
    ask(talk.chat, BATTERY)
    talk.chat.locator(".bk-turn .bk-text", has_text="alpha").wait_for()
    ask(talk.other, "On which port does AdGuard listen?")
    answered(talk.chat)
    answered(talk.other)
    assert "alpha answer of the first" in talk.chat.locator(".bk-text").inner_text()
    assert "beta answer of the second" in talk.other.locator(".bk-text").inner_text()
    assert talk.again.locator(".bk-asked").all_inner_texts() == [BATTERY]
    assert "alpha answer of the first" in talk.again.locator(".bk-text").inner_text()


def test_a_follow_up_is_understood_and_what_was_looked_for_is_shown(talk, chat):
    ask(chat, BATTERY)
    answered(chat)
    talk.llm.say("Where is the Eaton battery?", SAID)
    ask(chat, "And where is it?")
    assert "Looked for: Where is the Eaton battery?" in answered(chat, 1).inner_text()


def test_by_keyboard_alone(talk, chat):
    page = talk.page
    chat.get_by_role("textbox", name="Question", exact=True).focus()
    page.keyboard.type("What keeps daily snapshots")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("of restic?")
    page.keyboard.press("Enter")
    turn = answered(chat)
    assert turn.locator(".bk-asked").inner_text() == "What keeps daily snapshots\nof restic?"
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    for _ in range(12):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.className") == "bk-chip":
            break
    page.keyboard.press("Enter")
    chat.get_by_role("region", name="Source document").locator("pre").wait_for()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "bk-chip"
    chat.get_by_role("textbox", name="Question", exact=True).focus()
    page.keyboard.press("ArrowUp")
    assert chat.get_by_role("textbox", name="Question", exact=True).input_value().startswith("What keeps daily")
    chat.get_by_role("textbox", name="Question", exact=True).fill("")
    talk.llm.say(LLMReply(text="a b c", hang_after=1))
    page.keyboard.type(BATTERY)
    page.keyboard.press("Enter")
    chat.get_by_role("button", name="Stop").wait_for()
    page.keyboard.press("Escape")
    answered(chat, 1)


def test_it_follows_the_end_unless_the_reader_scrolled_up(talk, chat):
    log = chat.get_by_role("log")
    talk.llm.say(LLMReply(text="\n\n".join(f"line {n} of a long answer" for n in range(60)), pace=0.01))
    ask(chat, BATTERY)
    chat.get_by_text("line 30 of a long answer").wait_for()
    assert log.evaluate("node => node.scrollHeight - node.scrollTop - node.clientHeight") < 80
    log.evaluate("node => { node.scrollTop = 0; }")
    chat.get_by_role("button", name="Newest").wait_for()
    answered(chat)
    assert log.evaluate("node => node.scrollTop") == 0
    chat.get_by_role("button", name="Newest").click()
    assert log.evaluate("node => node.scrollHeight - node.scrollTop - node.clientHeight") < 80


def test_settings_are_used_from_the_next_question_on(talk, chat):
    chat.get_by_role("button", name="Settings", exact=True).click()
    sheet = chat.get_by_role("region", name="Settings")
    sheet.get_by_label("Retrieval").fill("nonsense(3)")
    sheet.get_by_role("button", name="Use these").click()
    sheet.get_by_text("nonsense").wait_for()
    sheet.get_by_label("Retrieval").fill("lexical(30)")
    sheet.get_by_label("Gate").select_option("seed")
    sheet.get_by_label("Threshold").fill("0,9")
    sheet.get_by_label("Your words to the model").fill("Answer in one line.")
    sheet.get_by_role("button", name="Use these").click()
    sheet.get_by_text("Used from now on").wait_for()
    assert talk.brain.steering.read() == "Answer in one line."
    ask(chat, BATTERY)
    assert "threshold 0.90" in answered(chat).inner_text()
    assert "Answer in one line." in talk.llm.sent()
    sheet.get_by_label("Retrieval").fill(str(talk.brain.retrieval))
    sheet.get_by_label("Gate").select_option(talk.brain.gate.name)
    sheet.get_by_label("Threshold").fill("0.2")
    sheet.get_by_label("Your words to the model").fill("")
    sheet.get_by_role("button", name="Use these").click()
    sheet.get_by_text("Used from now on").wait_for()


def test_a_model_that_fails_is_said_and_the_notes_are_quoted(talk, chat):
    talk.llm.say(LLMReply(status=500, error="out of memory"))
    ask(chat, BATTERY)
    turn = answered(chat)
    assert "12 March 2024" in turn.locator(".bk-text").inner_text()
    assert "double" in turn.inner_text()
    assert chat.get_by_role("button", name="Ask", exact=True).is_visible()


def test_a_narrow_screen_holds_it_and_fingers_can_press(talk, chat):
    talk.llm.say("| a | b |\n|---|---|\n| " + "wide" * 60 + " | 2 |\n\n```\n" + "x" * 300 + f"\n```\n\n{SAID}")
    ask(chat, BATTERY)
    turn = answered(chat)
    talk.page.set_viewport_size({"width": 390, "height": 844})
    turn.get_by_role("group", name="Sources").get_by_role("button").click()
    chat.get_by_role("region", name="Source document").locator("pre").wait_for()
    assert chat.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
    small = chat.evaluate(  # a citation stands in a line of text, where a larger one would tear the lines apart
        """node => [...node.querySelectorAll('button, textarea, summary')]
            .filter(one => one.offsetParent && !one.matches('.bk-cite'))
            .map(one => [one.textContent, one.getBoundingClientRect()])
            .filter(([, box]) => box.height < 43.5 || box.width < 43.5 || box.right > 390).map(([text]) => text)"""
    )
    talk.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    assert small == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_fault_of_access_is_found(talk, chat, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    light = theme == "light"
    colours = {"--jp-ui-font-color1": "#e0e0e0", "--jp-layout-color1": "#111111", "--jp-brand-color1": "#64b5f6"}
    talk.llm.say(
        LLMReply(text=f"## Short\n\n- **yes** `RBC7`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n{SAID}", thinking="Hm.")
    )
    ask(chat, BATTERY)
    answered(chat).get_by_role("group", name="Sources").get_by_role("button").click()
    chat.get_by_role("region", name="Source document").locator("pre").wait_for()
    ask(chat, OFF)
    answered(chat, 1)
    if not light:
        for name, value in colours.items():
            talk.page.evaluate("([name, value]) => document.body.style.setProperty(name, value)", [name, value])
        talk.page.wait_for_timeout(300)  # colours change gradually
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
    found = axe.run(talk.page, context=".bk-chat", options=options).response["violations"]
    for name in colours:
        talk.page.evaluate("name => document.body.style.removeProperty(name)", name)
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_it_was_all_of_this_machine(talk):
    """Last: whatever the tests above made it load came from the loopback, and nothing raised an error."""
    assert talk.strange == []
    assert talk.page.evaluate("window.__xss ?? null") is None
    assert Path(talk.served.opener).parent.stat().st_mode & 0o077 == 0  # the token lies there
