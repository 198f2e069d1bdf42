"""The page of ``brainkit serve`` in a real browser: it chats, cites, lists the notes, and runs nothing of theirs."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from llm_double import Double, LLMReply, quoting, running

from brainkit import Brain, Settings

PAYLOAD = "<img src=x onerror=window.__xss=1><script>window.__xss=2</script>"
NOTES = {
    "ups.md": f"# UPS {PAYLOAD}\n\nThe cellar's Eaton got a new battery RBC7 on 12 March 2024. {PAYLOAD}\n",
    "dns.md": "# DNS\n\nAdGuard runs on eule and listens on port 53. The upstream is unbound on port 5335.\n",
    "<img src=x onerror=window.__xss=3>.md": "# Backups\n\nrestic runs every night at 02:40 and keeps 14 snapshots.\n",
}
BATTERY = "When did the cellar's Eaton get a new battery RBC7?"
SPOKEN = (
    f"On **12 March 2024** [ups.md], `RBC7` [ups.md]. {PAYLOAD} ![x](http://evil.example/x.png) "
    "[click](javascript:window.__xss=4) https://evil.example/ \n\n```\nls <b>x</b>\n```\n"
)


@pytest.fixture(scope="module")
def site(chromium, new_database, tmp_path_factory):
    """A served brain with a double, and what opens its page: ``open(...)``, ``strange`` requests and errors."""
    from brainkit.interfaces.http import Tokens

    folder = tmp_path_factory.mktemp("site")
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text, "utf-8")
    tokens, strange = Tokens("r" * 32, "a" * 32), []
    with new_database() as url, running(Double()) as double:
        values = {"home": folder / "home", "database_url": url, "embedder": "wordllama", "relevance_threshold": 0.25}
        settings = Settings(**values, **double.settings)
        with Brain.open(settings) as brain, _served(brain, tokens) as address:
            brain.import_paths([folder / "notes"])

            def opened(token=tokens.admin, **context):
                page = chromium.new_context(**context).new_page()
                page.set_default_timeout(30_000)
                page.on("request", lambda asked: asked.url.startswith(f"{address}/") or strange.append(asked.url))
                page.on("pageerror", lambda error: strange.append(str(error)))
                page.on("console", lambda said: said.type == "error" and strange.append(said.text))
                page.goto(f"{address}/#token={token}" if token else f"{address}/")
                return page

            yield SimpleNamespace(open=opened, strange=strange, double=double, tokens=tokens, url=address)


def _served(brain, tokens):
    import contextlib
    import threading

    from brainkit.interfaces.http import bind, make_app, make_server

    @contextlib.contextmanager
    def served():
        server = make_server(make_app(brain, tokens))
        with bind("127.0.0.1", 0) as listening:
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            server.should_exit = True
            thread.join()

    return served()


@pytest.fixture(autouse=True)
def _nothing_strange(site):
    """No request left this machine, no error was thrown, nothing of a note ran."""
    site.double.behave = quoting
    site.strange.clear()
    yield
    assert site.strange == []


def ask(page, question):
    page.locator("#question").fill(question)
    page.keyboard.press("Enter")


def answered(page, number=0):
    """The answer, once it is complete."""
    answer = page.locator(".answer").nth(number)
    answer.locator(".reason").wait_for()
    return answer


def violations(page):
    """What axe-core finds against the WCAG 2.1, levels A and AA."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
    return [(found["id"], found["nodes"][0]["html"]) for found in axe.run(page, options=rules).response["violations"]]


def safe(page):
    return page.evaluate(
        "window.__xss === undefined && !document.querySelector('main img, main script, dialog img, main a')"
    )


def test_it_chats_streamed_shows_its_sources_and_runs_nothing_of_a_note(site):
    page = site.open()
    page.locator("#suggestions button").first.wait_for()
    assert page.url == f"{site.url}/"
    assert page.evaluate("sessionStorage.getItem('brainkit-token')") == site.tokens.admin
    assert page.evaluate("localStorage.length + document.cookie.length") == 0
    site.double.say(LLMReply(SPOKEN, thinking=f"Let me see. {PAYLOAD}", pace=0.05))
    ask(page, f"{BATTERY} {PAYLOAD}")
    page.locator(".thinking[open]").wait_for()
    page.locator(".text", has_text="On").wait_for()
    first = page.locator(".answer .text").inner_text()
    assert page.locator(".thinking:not([open])").count() == 1
    answer = answered(page)
    assert len(first) < len(answer.locator(".text").inner_text())
    assert answer.locator("strong").inner_text() == "12 March 2024"
    assert answer.locator("code").inner_text() == "RBC7"
    assert answer.locator("pre").inner_text() == "ls <b>x</b>"
    assert answer.locator(".text button").all_inner_texts() == ["[ups.md]", "[ups.md]"]
    assert page.locator(".asked").inner_text() == f"{BATTERY} {PAYLOAD}"
    answer.locator(".sources button").click()
    page.locator("#viewer-text", has_text="RBC7").wait_for()
    assert PAYLOAD in page.locator("#viewer-text").inner_text()
    assert page.locator("#viewer-title").inner_text().startswith("UPS <img")
    assert safe(page)
    page.keyboard.press("Escape")
    assert page.locator("#viewer[open]").count() == 0


def test_a_deflection_is_shown_as_one_and_its_questions_can_be_clicked(site):
    page = site.open()
    ask(page, "Who won the world cup in 1990?")
    answer = answered(page)
    assert answer.locator(".badge").inner_text() == "Not in the notes"
    offered = answer.locator(".chips button").first.inner_text()
    assert offered not in answer.locator(".text").inner_text()
    answer.locator(".chips button").first.click()
    assert answered(page, 1).locator(".badge").count() == 0
    assert page.locator(".asked").nth(1).inner_text() == offered


def test_stop_stops_the_model_and_the_next_question_works(site):
    page = site.open()
    site.double.say(LLMReply("word " * 30, hang_after=4))
    closed = site.double.closed
    ask(page, BATTERY)
    page.locator(".text", has_text="word").wait_for()
    page.locator("#stop").click()
    page.get_by_text("Stopped.").wait_for()
    assert page.locator("#stop").is_hidden()
    for _ in range(300):
        page.wait_for_timeout(100 if site.double.closed == closed else 0)
    assert site.double.closed == closed + 1
    site.double.behave = quoting
    ask(page, BATTERY)
    assert "12 March 2024" in answered(page, 1).inner_text()


def test_an_error_is_shown_with_a_retry(site):
    page = site.open()
    page.locator("#suggestions button").first.wait_for()
    page.route("**/api/chat", lambda route: route.fulfill(status=503, json={"detail": "the database does not answer"}))
    ask(page, BATTERY)
    page.locator(".failed", has_text="the database does not answer").wait_for()
    assert [said for said in site.strange if "503" not in said] == []
    site.strange.clear()
    page.unroute("**/api/chat")
    page.get_by_role("button", name="Try again").click()
    assert "12 March 2024" in answered(page).inner_text()
    assert page.locator(".failed").count() == 0


def test_the_notes_are_listed_with_counts_filtered_and_opened(site):
    page = site.open()
    page.get_by_role("button", name="Notes").click()
    page.locator("#documents tbody tr").first.wait_for()
    assert page.locator("#sources tbody td").all_inner_texts()[:3] == ["notes", "3", "3"]
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", page.locator("#sources tbody td").nth(3).inner_text())
    assert page.locator("#documents tbody tr").count() == 3
    assert safe(page)
    page.locator("#filter").fill("notes: dns")
    page.locator("#filter").fill("DNS")
    assert page.locator("#documents tbody tr").count() == 1
    page.locator("#documents tbody button").click()
    page.locator("#viewer-text", has_text="AdGuard runs on eule").wait_for()


def test_who_may_only_read_is_told_so_and_who_has_no_token_is_asked_for_it(site):
    page = site.open(token=site.tokens.read)
    page.get_by_role("button", name="Notes").click()
    page.locator("#notes-error", has_text="admin token").wait_for()
    page = site.open(token="")
    page.locator("#login").wait_for()
    assert page.locator("#chat").is_hidden()
    page.locator("#token").fill("wrong")
    page.keyboard.press("Enter")
    page.locator("#login-error", has_text="not, or no longer").wait_for()
    page.locator("#token").fill(site.tokens.read)
    page.keyboard.press("Enter")
    page.locator("#suggestions button").first.wait_for()
    page.reload()
    page.locator("#suggestions button").first.wait_for()
    assert [said for said in site.strange if "401" not in said and "403" not in said] == []
    site.strange.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_all_can_be_reached_by_finger_and_by_keyboard(site, scheme):
    page = site.open(viewport={"width": 390, "height": 844}, color_scheme=scheme, has_touch=True)
    page.locator("#suggestions button").first.wait_for()
    ask(page, BATTERY)
    answered(page)
    ask(page, "Who won the world cup in 1990?")
    answered(page, 1)
    measure = """() => [...document.querySelectorAll('button, input, textarea, summary')]
        .filter(one => one.offsetParent && !one.closest('.text'))
        .filter(one => { const box = one.getBoundingClientRect(); return box.height < 44 || box.width < 44 })
        .map(one => one.outerHTML)"""
    wide = "() => document.documentElement.scrollWidth > innerWidth"
    assert (page.evaluate(measure), page.evaluate(wide)) == ([], False)
    box = page.locator("#composer").bounding_box()
    assert box["y"] + box["height"] <= 844
    assert violations(page) == []
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "send"
    page.locator(".sources button").first.focus()
    page.keyboard.press("Enter")
    page.locator("#viewer-text", has_text="RBC7").wait_for()
    assert (page.evaluate(measure), page.evaluate(wide)) == ([], False)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Notes").press("Enter")
    page.locator("#documents tbody tr").first.wait_for()
    assert (page.evaluate(measure), page.evaluate(wide)) == ([], False)
    assert violations(page) == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 28)"}[scheme]
