"""``brainkit calibrate``, ``labels review`` and ``feedback`` as a person uses them."""

import json
import re

import pytest


def data(result):
    return json.loads(result.stdout)


def test_calibrate_says_what_is_promised_and_what_more_labels_would_buy(run, thing_labels):
    text = run("calibrate", "--labels", thing_labels).stdout
    promise, *_ = text.splitlines()
    assert re.fullmatch(
        r"Of questions about things your notes do not hold, at most 10% get an answer, with 90% confidence; \d+% of "
        r"those your notes can answer are answered; details missing from an existing note are not covered: it takes 22 "
        r"such labels at least\.",
        promise,
    )
    # 25 labels, none answered: Clopper-Pearson gives 1 - .025 ** (1 / 25) = 13.7 %
    assert re.search(r"missing_note +│ +25 +│ +0 +│ +0% +│ +0% to 14% +│ +yes", text)
    found = data(run("calibrate", "--json"))
    assert found["promise"] == promise
    assert [one["more"] for one in found["outlook"]] == [25, 75]
    now = found["answered"] / found["answerable"]
    better = [one["more"] for one in found["outlook"] if round(one["answered"], 2) > round(now, 2)]
    told = re.findall(
        r"^Expected with (\d+) more unanswerable questions, .*: \d+% of the answerable", text, re.MULTILINE
    )
    assert list(map(int, told)) == better  # what would buy nothing is not told
    assert (found["certified"], found["strata"]["missing_note"]["answered"]) == (True, 0)


def test_calibrate_jointly(run, thing_labels):
    with thing_labels.open("a") as file:
        file.write(json.dumps({"id": "x", "question": "Who?", "answerable": False, "kind": "off_topic"}) + "\n")
    text = run("calibrate", "--labels", thing_labels, "--joint", code=5).stdout
    assert text.startswith("Not certified: for at most 10% false answers of every kind with 90% confidence")
    assert "21 about things far from your notes." in text.splitlines()[0]
    assert data(run("calibrate", "--joint", "--json", code=5))["joint"] is True


def test_an_estimate_says_in_every_place_that_it_is_none(run, thing_labels):
    text = run("calibrate", code=5).stdout
    assert text.startswith("An estimate, not certified, from 25 questions drafted from titles and headings")
    assert "used until there are labels" in text
    assert run("ask", "What did the red piano cost?").stderr.startswith("\n(estimate, uncertified: score ")
    assert re.search(r"^threshold origin +estimate$", run("status").stdout, re.MULTILINE)


def test_after_a_change_import_refreshes_or_says_what_to_run(run, thing_labels, tmp_path):
    run("calibrate", "--labels", thing_labels)
    things = tmp_path / "things"
    (things / "red piano.md").write_text("# red piano\n\nThe red piano was sold.\n")
    text = run("import", things, "--no-refresh").stdout
    assert "The certificate is stale: `brainkit calibrate --refresh` makes it anew." in text
    assert "stale, as the notes have changed" in run("ask", "What did the red kayak cost?").stderr
    assert data(run("status", "--json"))["stale"] is True
    assert data(run("calibrate", "--refresh", "--json"))["set_aside"] == []
    assert data(run("status", "--json"))["stale"] is False
    (things / "red piano.md").unlink()
    text = run("import", things, "--prune").stdout
    assert "1 label waits for a decision: `brainkit labels review` lists what is open." in text
    assert "stale" not in text
    assert (
        "red piano: What did the red piano cost?\n  its document red piano.md is gone\n"
        in run("labels", "review").stdout
    )
    assert data(run("labels", "review", "red piano", "--drop", "--json")) == {"labels": []}


def test_refresh_is_refused_without_a_certificate_and_with_other_levels(run, notes_folder):
    assert "has no certificate: run `brainkit calibrate --labels FILE`" in run("calibrate", "--refresh", code=1).stderr
    assert "--refresh keeps labels and levels" in run("calibrate", "--refresh", "--alpha", "0.2", code=2).stderr


@pytest.mark.parametrize("arguments", [("x",), ("--keep",), ("x", "--keep", "--drop"), ("x", "--keep")])
def test_review_needs_a_label_that_waits_and_one_decision(run, arguments):
    assert run("labels", "review", *arguments, code=2).stderr.startswith("Error: ")


def test_feedback_makes_a_label(run, notes_folder):
    run("import", notes_folder)
    asked = run("ask", "Which colour has the cellar door?")
    reply = re.search(r"^reply ([0-9a-f]{10})$", asked.stderr, re.MULTILINE)[1]
    assert run("feedback", reply, "right").stdout == f"kept as label reply-{reply}\n"
    assert "name the document" in run("feedback", reply, "wrong").stdout
    assert run("labels", "review").stdout.endswith("1 label waits for a decision\n")
    run("labels", "review", f"reply-{reply}", "--kind", "missing_detail")
    assert data(run("labels", "review", "--json")) == {"labels": []}
    assert "feedback 'good' is not allowed" in run("feedback", reply, "good", code=2).stderr
    assert "no reply '77' is in the log" in run("feedback", "77", "right", code=2).stderr


@pytest.fixture
def notes_folder(tmp_path):
    folder = tmp_path / "house"
    folder.mkdir()
    (folder / "cellar.md").write_text("# Cellar\n\nThe colour of the cellar door is green.\n")
    return folder
