"""The widgets in JupyterLab: a real browser, a real kernel, a real brain."""

import json
import statistics

import pytest


@pytest.fixture
def calibrator(lab):
    root = lab.page.locator(".bk-cal").first
    root.scroll_into_view_if_needed()
    return root


@pytest.fixture
def slider(calibrator):
    found = calibrator.get_by_role("slider", name="Threshold")
    found.focus()
    return found


@pytest.fixture
def labeller(lab):
    root = lab.page.locator(".bk-label[data-ready]")
    root.scroll_into_view_if_needed()
    return root


def settled(lab, root):
    """The threshold in Python, once what the browser shows has reached it."""
    lab.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    shown = float(root.get_attribute("data-threshold"))
    for _ in range(100):
        if lab.python("calibrator.threshold") == shown:
            return shown
        lab.page.wait_for_timeout(50)
    raise AssertionError(f"{shown} did not reach Python: {lab.python('calibrator.threshold')}")


def keys_of(lab, labeller, *keys):
    """Press keys one after the other, each after the state that the one before led to."""
    for key in keys:
        before = int(labeller.get_attribute("data-state"))
        lab.page.keyboard.press(key)
        if key not in {"ArrowDown", "ArrowUp", "u"}:
            lab.page.wait_for_function(
                "before => +document.querySelector('.bk-label').dataset.state > before", arg=before
            )


def rows(lab):
    path = lab.folder / "questions.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def test_the_table_shows_what_python_counts(lab, calibrator):
    threshold = settled(lab, calibrator)
    counted = lab.python(
        "[[name.replace('_', ' '), int((calibrator.sample.of(i) >= calibrator.threshold).sum()),"
        " int((calibrator.sample.of(i) < calibrator.threshold).sum())]"
        " for i, name in enumerate(calibrator.sample.names)]"
    )
    shown = [row.locator("th, td").all_inner_texts() for row in calibrator.locator("tbody tr").all()]
    assert [[name, int(yes), int(no)] for name, yes, no, _ in shown] == counted
    assert [name for name, *_ in counted] == ["answerable", "off topic", "missing note"]
    assert threshold == lab.python("calibrator.certified")


def test_keys_move_the_threshold_here_and_in_python(lab, calibrator, slider):
    start = settled(lab, calibrator)
    for _ in range(4):
        lab.page.keyboard.press("ArrowRight")
    right = settled(lab, calibrator)
    lab.page.keyboard.press("ArrowLeft")
    left = settled(lab, calibrator)
    assert start < left < right
    assert right - left == pytest.approx((right - start) / 4)
    lab.page.keyboard.press("End")
    assert settled(lab, calibrator) > lab.python("float(calibrator.sample.scores.max())")
    assert [int(cell) for cell in calibrator.locator("tbody td:nth-child(2)").all_inner_texts()] == [0, 0, 0]
    assert "0 of 15 answerable" in slider.get_attribute("aria-valuetext")
    lab.page.keyboard.press("Home")
    settled(lab, calibrator)
    assert [int(cell) for cell in calibrator.locator("tbody td:nth-child(3)").all_inner_texts()] == [0, 0, 0]


def test_the_mouse_drags_it_and_the_changed_questions_are_listed(lab, calibrator, slider):
    box = slider.bounding_box()
    lab.page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 60)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + 60, steps=8)
    lab.page.mouse.up()
    threshold = settled(lab, calibrator)
    changed = lab.python(
        "[calibrator._labels[calibrator._asked[i].label].question for i in"
        " __import__('brainkit.widgets.numbers', fromlist=['flips'])"
        f".flips(calibrator.sample, calibrator.in_force, {threshold!r})]"
    )
    shown = calibrator.locator(".bk-list li:not([hidden]) button span:nth-child(3)").all_inner_texts()
    assert shown == changed[:40]
    assert len(shown) > 3
    assert f"{len(changed)} questions change" in calibrator.locator(".bk-flips h3").inner_text()


def test_a_question_opens_with_evidence_and_documents_as_text(lab, calibrator, slider):
    lab.page.keyboard.press("Home" if lab.python("calibrator.in_force") > 0.5 else "End")
    row = calibrator.locator(".bk-list button", has_text="Eaton battery <img").first
    row.focus()
    lab.page.keyboard.press("Enter")
    drawer = calibrator.get_by_role("region", name="Question")
    drawer.get_by_text("Documents found").wait_for()
    assert "best cosine" in drawer.locator("dl").inner_text()
    note = drawer.locator("details", has_text="ups.md").first
    note.locator("summary").click()
    assert "<script>window.__xss=2</script>" in note.locator("pre").inner_text()
    lab.page.keyboard.press("Escape")
    assert drawer.is_hidden()
    assert lab.page.evaluate("document.activeElement.closest('.bk-list') !== null")
    assert lab.page.evaluate("window.__xss ?? null") is None


def test_only_a_certified_threshold_can_be_used(lab, calibrator, slider):
    certificate = lab.folder / "home" / "certificate-score.json"
    use = calibrator.get_by_role("button", name="Use this threshold")
    lab.page.keyboard.press("Home")
    use.click()
    calibrator.locator(".bk-refused").wait_for()
    assert "below the lowest certified threshold" in calibrator.locator(".bk-said").inner_text()
    assert not certificate.exists()
    calibrator.get_by_role("button", name="Go to the certified").click()
    use.click()
    calibrator.get_by_text("In use from now on").wait_for()
    kept = json.loads(certificate.read_text("utf-8"))
    assert kept["threshold"] == lab.python("calibrator.certified") == lab.python("bench.brain.threshold().value")
    assert lab.python("bench.brain.threshold().origin") == "certificate"
    assert "0 questions change" in calibrator.locator(".bk-flips h3").inner_text()


def test_alpha_changes_the_certified_threshold_and_the_promise(lab, calibrator):
    before = lab.python("calibrator.certified")
    level = calibrator.get_by_label("alpha")
    level.fill("0.4")
    level.press("Tab")
    calibrator.locator(".bk-promise", has_text="at most 40%").wait_for()
    assert lab.python("calibrator.certified") < before
    level.fill("0.3")
    level.press("Tab")
    calibrator.locator(".bk-promise", has_text="at most 30%").wait_for()
    assert lab.python("calibrator.certified") == before


def test_each_key_of_the_labeller_is_on_disk(lab, labeller):
    page = lab.page
    cells = page.locator(".jp-Cell").count()
    labeller.get_by_role("listbox").focus()
    assert labeller.locator(".bk-question").inner_text() == "Which battery?"
    page.keyboard.press("b")  # a notebook makes a new cell of this
    assert labeller.get_by_role("option").first.locator(".bk-name").inner_text() == "ups.md"
    assert rows(lab) == []
    keys_of(lab, labeller, "r")
    assert [(row["question"], row["answerable"], row["relevant"][0]["doc"]) for row in rows(lab)] == [
        ("Which battery?", True, "ups.md")
    ]
    keys_of(lab, labeller, "n", "Enter")
    assert labeller.locator(".bk-question").inner_text() == "Which port is it?"
    keys_of(lab, labeller, "s")
    assert labeller.locator(".bk-question").inner_text() == "A roof?"
    keys_of(lab, labeller, "u", "2")
    assert {row["question"]: row["kind"] for row in rows(lab)} == {"A roof?": "missing_note", "Which battery?": ""}
    assert [row["id"] for row in rows(lab)] == sorted(row["id"] for row in rows(lab))
    assert "3 of 3 questions judged" in labeller.inner_text()
    keys_of(lab, labeller, "z", "z")
    assert labeller.locator(".bk-question").inner_text() == "Which port is it?"
    assert [row["question"] for row in rows(lab)] == ["Which battery?"]
    assert page.locator(".jp-Cell").count() == cells


def test_a_question_is_added_and_its_document_read(lab, labeller):
    field = labeller.get_by_label("Another question to judge")
    field.fill("Sourdough bread")
    field.press("Enter")
    labeller.locator(".bk-question", has_text="Sourdough bread").wait_for()
    labeller.get_by_role("listbox").focus()
    lab.page.keyboard.press("o")
    drawer = labeller.get_by_role("region", name="Document")
    drawer.get_by_text("45 minutes").wait_for()
    drawer.get_by_role("button", name="Close document").click()
    assert lab.python("[label.question for label in labeller.labels]") == ["Which battery?"]


def test_everything_to_press_is_large_enough_for_a_finger(lab):
    small = lab.page.evaluate(
        """() => [...document.querySelectorAll('.bk button, .bk input, .bk summary, .bk [role=slider]')]
            .map(node => [node, node.getBoundingClientRect()])
            .filter(([, box]) => box.width && (box.width < 44 || box.height < 43.5))
            .map(([node, box]) => `${node.textContent || node.tagName} ${box.width}x${box.height}`)"""
    )
    assert small == []


def test_a_move_among_two_thousand_questions(lab, capsys):
    """Prints what a move costs: counting, drawing and the list of changed questions."""
    root = lab.page.locator(".bk-cal").nth(1)
    root.scroll_into_view_if_needed()
    root.get_by_role("slider").focus()
    times = []
    for number in range(60):
        before = root.get_attribute("data-threshold")
        lab.page.keyboard.press("PageDown" if number % 20 < 10 else "PageUp")
        lab.page.wait_for_function(
            "before => document.querySelectorAll('.bk-cal')[1].dataset.threshold !== before", arg=before
        )
        times.append(float(root.get_attribute("data-move-ms")))
    assert (
        sum(int(cell) for cell in root.locator("tbody td:nth-child(2), tbody td:nth-child(3)").all_inner_texts())
        == 2000
    )
    with capsys.disabled():
        print(f"\na move at 2,000 questions: median {statistics.median(times):.1f} ms, longest {max(times):.1f} ms")


def test_a_dark_theme_is_followed(lab, calibrator):
    page = lab.page
    light = calibrator.evaluate("node => getComputedStyle(node).backgroundColor")
    page.evaluate("jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
    page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    page.wait_for_function(  # the handle and its words are drawn in the text's colour
        """() => { const canvas = document.querySelector('.bk-hist');
                   if (!canvas.width) return false;  // out of sight
                   const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, 20);
                   return data.some((red, i) => i % 4 === 0 && Math.min(red, data[i + 1], data[i + 2]) > 150); }"""
    )
    dark = calibrator.evaluate("node => getComputedStyle(node).backgroundColor")
    assert light == "rgb(255, 255, 255)"
    assert max(int(part) for part in dark.removeprefix("rgb(").removesuffix(")").split(",")) < 60


def test_the_chat_takes_typing_quotes_a_note_and_is_there_again_after_a_reload(lab):
    page, chat = lab.page, lab.page.locator(".bk-chat")
    cells = page.locator(".jp-Cell").count()
    box = chat.get_by_role("textbox", name="Question")
    box.scroll_into_view_if_needed()
    box.click()
    page.keyboard.type("bad: which daily snapshots does restic keep?")  # single letters are commands of the notebook
    page.keyboard.press("Enter")
    turn = chat.locator("[data-turn='0']")
    turn.locator(".bk-tools").wait_for()
    assert "keeps 14 daily snapshots" in turn.locator(".bk-text").inner_text()
    assert page.locator(".jp-Cell").count() == cells
    turn.get_by_role("group", name="Sources").get_by_role("button").first.click()
    chat.get_by_role("region", name="Source document").locator("mark").first.wait_for()
    page.keyboard.press("Escape")
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    lab.wait_for(lambda: "restic" not in (text := lab.saved()) and "widget-view+json" in text)
    page.goto(page.url.partition("?")[0])
    again = page.locator(".bk-chat[data-ready] [data-turn='0'] .bk-text")
    again.scroll_into_view_if_needed()
    again.get_by_text("keeps 14 daily snapshots").wait_for()


def test_nothing_went_out_and_nothing_broke(lab):
    """Last: what the page asked for and what it complained about in all of the above."""
    assert lab.strange == []
    assert lab.page.evaluate("window.__xss ?? null") is None


def test_no_question_or_note_is_in_what_a_notebook_may_save(lab):
    for widget in ("calibrator", "labeller", "chat"):
        saved = lab.python(f"str({{k: v for k, v in {widget}.get_state().items() if k not in ('_esm', '_css')}})")
        assert "Eaton" not in saved
        assert "Which" not in saved
        assert "restic" not in saved
