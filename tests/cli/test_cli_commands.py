"""The commands, run in this process on a real brain: what they print, what they leave with."""

import json
import re

import psycopg
import pytest

import brainkit
from brainkit.eval.command import app as eval_app


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ups.md").write_text("# UPS\n\nThe battery was changed on 12 March 2024.\n")
    (folder / "dns.md").write_text("# DNS\n\n## Ports\n\nAdGuard listens on port 53. password: " + "Quark" + "2024!x\n")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    return folder


def data(result):
    assert result.stdout.startswith("{")
    return json.loads(result.stdout)


def test_version(run):
    assert run("--version").stdout == f"{brainkit.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("import",),
        ("embed",),
        ("recall",),
        ("ask",),
        ("status",),
        ("calibrate",),
        ("doctor",),
        ("labels",),
        ("labels", "check"),
        ("eval",),
        ("eval", "fit"),
    ],
)
def test_every_command_has_help_with_an_example(run, arguments):
    text = run(*arguments, "--help").stdout
    assert "Usage: " in text
    assert re.search(r"Example|Start with|check .*Check ids", text, re.DOTALL)


def test_without_a_command_help_is_shown(run):
    assert "Usage: " in run(code=2).output
    assert "Usage: " in run("labels", code=2).output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import",), "Missing argument"),
        (("imprt", "x"), "No such command"),
        (("ask",), "Missing argument"),
        (("recall", "x", "-k", "0"), "Invalid value for '-k'"),
        (("recall", "x", "-k", "many"), "Invalid value for '-k'"),
        (("ask", "x", "--jsn"), "No such option"),
    ],
)
def test_a_mistyped_command_is_wrong_use(run, arguments, message):
    assert message in run(*arguments, code=2).output


def test_import_says_what_it_did_and_the_second_time_that_there_was_nothing_to_do(run, notes):
    first = run("import", notes)
    assert "2 indexed" in first.stdout
    assert "1 secrets kept out" in first.stdout
    assert re.search(r"kept out: 1 x \S+", first.stdout)
    assert "Quark" not in first.output
    assert "Nothing to import" not in first.stdout
    second = run("import", notes)
    assert "Nothing to import: all 2 documents are unchanged." in second.stdout
    listed = run("import", notes, "--verbose").stdout
    assert "  unchanged: notes:dns.md" in listed
    assert "  unchanged: notes:ups.md" in listed


def test_import_as_json_and_prune(run, notes):
    report = data(run("import", notes, "--json"))
    assert (sorted(report["indexed"]), report["chunks"], report["pending"]) == (["notes:dns.md", "notes:ups.md"], 2, 0)
    (notes / "ups.md").unlink()
    report = data(run("import", notes, "--prune", "--json"))
    assert (report["removed"], report["unchanged"]) == (["notes:ups.md"], ["notes:dns.md"])


def test_import_without_vectors_is_complete_as_asked_and_embed_goes_on(run, notes):
    assert data(run("import", notes, "--no-embed", "--json"))["pending"] == 2
    assert "2 without a vector yet" in run("import", notes, "--no-embed").stdout
    assert run("embed").stdout == "2 chunks embedded, 0 failed, 0 without a vector\n"
    assert data(run("embed", "--retry", "--json")) == {"embedded": 0, "failed": 0, "pending": 0, "error": ""}


def test_import_that_misses_something_leaves_with_3(run, notes, monkeypatch):
    from brainkit.errors import EmbedderUnavailableError

    def down(*_):
        raise EmbedderUnavailableError("Ollama does not answer.")

    monkeypatch.setattr("brainkit.embedding.embedder.Embedder.embed_documents", down)
    result = run("import", notes, code=3)
    assert "Embedding stopped: Ollama does not answer." in result.stderr
    assert "`brainkit embed` goes on" in result.stderr
    result = run("embed", code=3)
    assert "2 without a vector" in result.stdout
    assert "Embedding stopped: Ollama does not answer." in result.stderr


def test_import_names_a_file_that_failed(run, notes, monkeypatch):
    def fails(file, **_):
        raise OSError("the disk is on fire")

    monkeypatch.setattr("brainkit.ingestion.prepare.read_all", fails)
    result = run("import", notes, code=3)
    assert "failed: notes:ups.md: OSError: the disk is on fire" in result.stderr
    assert "failed: notes:ups.md" not in result.stdout


def test_import_names_what_is_skipped(run, notes):
    (notes / "broken.md").write_bytes(b"\x00\x01\x02binary\x00" * 50)
    report = data(run("import", notes, "--json"))
    (skipped,) = [one for one in report["skipped"] if one["path"] == "notes:broken.md"]
    assert f"  skipped: notes:broken.md: {skipped['reason']}" in run("import", notes).stdout


@pytest.mark.parametrize("arguments", [("import", "/no/such/folder"), ("import", "/dev/null")])
def test_a_path_that_is_not_there_is_wrong_use(run, arguments):
    assert "Error: " in run(*arguments, code=2).stderr
    assert "no such folder or file" in run(*arguments, code=2).stderr


def test_recall_shows_ranks_and_places(run, notes):
    run("import", notes)
    text = run("recall", "Which port does AdGuard listen on?").stdout
    assert re.search(r"^\d\.\d{3}  dns\.md > .*Ports$", text, re.MULTILINE)
    assert re.search(r"both: dense 1, lexical 1, cosine 0\.\d{3}", text)
    assert "AdGuard listens on port 53." in text
    assert re.search(r"2 documents, \d+ ms, hybrid\(dense=30", text)
    assert "lexical: dense -, lexical 1, cosine" in run("recall", "AdGuard", "--retrieval", "lexical(30)").stdout
    assert "0 documents" in run("recall", "").stdout


def test_recall_as_json(run, notes):
    run("import", notes)
    found = data(run("recall", "battery AdGuard", "-k", "1", "--json"))
    assert set(found) == {"question", "settings", "degraded", "latency_ms", "chunks", "documents", "evidence"}
    assert len(found["chunks"]) == 1
    assert {document["path"] for document in found["documents"]} == {"dns.md", "ups.md"}
    assert found["evidence"]["lexical_hits"] == 2
    key = next(document["id"] for document in found["documents"] if document["path"] == "ups.md")
    for name in ("ups.md", "notes:ups.md", key):
        rest = data(run("recall", "battery", "--exclude", name, "--json"))
        assert [document["path"] for document in rest["documents"]] == ["dns.md"]


def test_recall_says_when_it_works_by_words_only(run, notes, monkeypatch):
    from brainkit.errors import EmbedderUnavailableError

    run("import", notes)

    def down(*_):
        raise EmbedderUnavailableError("Ollama does not answer.")

    monkeypatch.setattr("brainkit.embedding.embedder.Embedder.embed_query", down)
    result = run("recall", "battery")
    assert result.stderr == "searched by words only: Ollama does not answer.\n"
    assert "ups.md" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("recall", "x", "--retrieval", "hybird(3)"), "'hybird' is not a retrieval mode, did you mean hybrid"),
        (("recall", "x", "--exclude", "no.md"), "no document 'no.md' in the brain; `brainkit status --documents`"),
        (("calibrate", "--alpha", "2"), "alpha = 2.0 is not allowed"),
        (("calibrate", "--delta", "0"), "delta = 0.0 is not allowed"),
        (("calibrate", "--gate", "sead"), "BOR_GATE = 'sead' is not allowed: give one of seed"),
        (("calibrate", "--labels", "/no/labels.jsonl"), "/no/labels.jsonl cannot be read"),
        (("labels", "check", "/no/labels.jsonl"), "/no/labels.jsonl cannot be read"),
    ],
)
def test_wrong_values_are_errors_without_traceback(run, arguments, message):
    result = run(*arguments, code=2)
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("variable", "value"),
    [("BOR_EMBEDDER", "bert"), ("BOR_RETRIEVAL", "dense(x)"), ("BOR_GATE", "sead"), ("BOR_CHUNK_TARGET_CHARS", "1")],
)
@pytest.mark.parametrize("command", [("status",), ("ask", "x"), ("embed",)])
def test_a_wrong_variable_is_named_by_every_command(run, monkeypatch, command, variable, value):
    monkeypatch.setenv(variable, value)
    assert run(*command, code=2).stderr.startswith(f"Error: {variable} = '{value}' is not allowed")


def test_a_database_that_does_not_answer_leaves_with_1(run, monkeypatch):
    monkeypatch.setenv("BOR_DATABASE_URL", "postgresql://me:" + "Quark2024x@127.0.0.1:9/brain")
    result = run("status", code=1)
    assert "BOR_DATABASE_URL" in result.stderr
    assert "Quark2024x" not in result.output


def test_ask_answers_on_stdout_and_gives_its_reason_on_stderr(run, notes, monkeypatch):
    run("import", notes)
    monkeypatch.setenv("BOR_RELEVANCE_THRESHOLD", "0.2")
    result = run("ask", "When was the UPS battery changed?")
    assert result.stdout == "[ups.md]\n  The battery was changed on 12 March 2024.\n"
    assert re.fullmatch(r"\n\(BOR_RELEVANCE_THRESHOLD: score 0\.\d{3} >= 0\.200\)\nreply [0-9a-f]{10}\n", result.stderr)
    reply = data(run("ask", "How do I bake sourdough bread?", "--json"))
    assert reply["deflected"] is True
    assert reply["text"].startswith("I haven't done anything like that")
    assert reply["decision"]["threshold"] == 0.2


def test_status(run, notes):
    run("import", notes)
    found = data(run("status", "--documents", "--json"))
    assert (found["documents"], found["chunks"], found["redactions"]) == (2, 2, 1)
    assert found["document_list"] == ["notes:dns.md", "notes:ups.md"]
    run("ask", "battery")
    text = run("status", "--documents").stdout
    assert re.search(r"^documents +2$", text, re.MULTILINE)
    assert re.search(r"^questions +1 \w+$", text, re.MULTILINE)
    assert text.endswith("notes:dns.md\nnotes:ups.md\n")
    assert "ups.md" not in run("status").stdout


def test_calibrate_certifies_and_stores(run, thing_labels):
    result = run("calibrate", "--labels", thing_labels)
    assert result.stdout.startswith(
        "Of questions about things your notes do not hold, at most 10% get an answer, with 90%"
    )
    assert re.search(r"missing_note.* 25 .* 0 .* yes", result.stdout)
    assert re.search(r"Threshold of the score gate: 0\.\d{4}, stored\.", result.stdout)
    again = data(run("calibrate", "--json"))
    assert (again["feasible"], again["n"], again["covers"]) == (True, 25, ["missing_note"])
    assert data(run("status", "--json"))["threshold"] == again["threshold"]
    assert run("ask", "What did the red piano cost?").stderr.startswith("\n(certified: score ")


def test_calibrate_with_too_few_labels_leaves_with_5(run, thing_labels):
    few = run("calibrate", "--labels", thing_labels, "--alpha", "0.05", code=5)
    assert few.stdout.startswith("Not certified: 25 unanswerable questions are too few for at most 5% false answers")
    assert data(run("calibrate", "--alpha", "0.05", "--json", code=5))["threshold"] is None
    assert data(run("status", "--json"))["threshold_origin"] == "shipped"


@pytest.mark.parametrize("content", ["{", "[1]\n", '{"id": "a"}\n', b"\xff\xfe\n"])
def test_a_broken_labels_file_is_named_with_its_line(run, tmp_path, content):
    file = tmp_path / "broken.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    for command in (("calibrate", "--labels", file), ("labels", "check", file)):
        assert run(*command, code=2).stderr.startswith("Error: broken.jsonl:1")


def test_labels_check(run, thing_labels, tmp_path):
    assert run("labels", "check", thing_labels).stdout == "25 labels, 0 problems\n"
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(thing_labels.read_text().replace("cost 3 euro", "cost 4 euro"))
    text = run("labels", "check", wrong, code=1).stdout
    assert "red drone: the quote 'cost 4 euro' is not in 'red drone.md' word for word\n25 labels, 1 problems\n" in text
    found = data(run("labels", "check", wrong, "--json", code=1))
    assert (found["labels"], [problem["id"] for problem in found["problems"]]) == (25, ["red drone"])


# doctor


def test_doctor_in_a_good_state(run, notes):
    run("import", notes)
    text = run("doctor").stdout
    for name, detail in {
        "database": r".*PostgreSQL 18\..*, pgvector 0\.8", "schema": r"\d{4}", "embedder": "wordllama.*256 dimensions",
        "notes": "2 documents, 2 chunks", "vectors": "complete",
    }.items():  # fmt: skip
        assert re.search(rf"^ok    {name}: {detail}", text, re.MULTILINE)
    assert re.search(r"^look  threshold: 0\.\d{4} \(shipped\) run `brainkit calibrate`", text, re.MULTILINE)
    assert re.search(r"BOR_EMBEDDER +│ wordllama +│ environment", text)
    assert re.search(r"BOR_GATE +│ score +│ default", text)


def test_doctor_masks_secrets_and_gives_plain_data(run, monkeypatch):
    monkeypatch.setenv("BOR_EMBEDDING_API_KEY", "Quark" + "-7711-geheim")
    monkeypatch.setenv("BOR_OLLAMA_URL", "http://me:" + "Quark-7711-geheim@kranich:11434")
    result = run("doctor", "--json")
    assert "7711" not in result.output
    assert "7711" not in run("doctor").output
    found = data(result)
    rows = {row["variable"]: row for row in found["settings"]}
    assert rows["BOR_EMBEDDING_API_KEY"]["value"] == "********"
    assert rows["BOR_DATABASE_URL"]["value"] == "********"
    assert rows["BOR_OLLAMA_URL"]["value"] == "http://********@kranich:11434"
    assert [check["name"] for check in found["checks"]] == [
        "database",
        "schema",
        "embedder",
        "notes",
        "vectors",
        "index",
        "threshold",
    ]


def test_doctor_tells_of_chunks_that_wait_and_of_variables_that_are_none(run, notes, monkeypatch):
    run("import", notes, "--no-embed")
    monkeypatch.setenv("BOR_EMBEDER", "minilm")
    text = run("doctor", code=1).stdout
    assert "look  vectors: 2 chunks wait: run `brainkit embed`" in text
    assert "look  BOR_EMBEDER: is no setting; did you mean BOR_EMBEDDER?" in text


def test_doctor_tells_why_a_brain_does_not_open_and_still_shows_the_settings(run, monkeypatch):
    monkeypatch.setenv("BOR_DATABASE_URL", "postgresql://127.0.0.1:9/brain")
    result = run("doctor", code=1)
    assert re.search(
        r"^look  DatabaseError: .*port 9 failed: Connection refused.*BOR_DATABASE_URL", result.stdout, re.MULTILINE
    )
    assert "BOR_HOME" in result.stdout
    monkeypatch.setenv("BOR_EMBEDDER", "bert")
    assert run("doctor", code=2).stderr.startswith("Error: BOR_EMBEDDER = 'bert' is not allowed")


def test_doctor_tells_of_a_damaged_certificate(run, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "certificate-score.json").write_text("{")
    assert "certificate-score.json cannot be read" in run("doctor").stdout


def test_doctor_tells_of_tables_made_by_a_newer_brainkit(run, database_url):
    run("status")
    with psycopg.connect(database_url) as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    assert "look  SchemaError:" in run("doctor", code=1).stdout
    assert run("status", code=2).stderr.startswith("Error: ")


# eval, as far as it goes without a corpus


def test_eval_without_its_files_is_wrong_use(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in (("eval",), ("eval", "fit")):
        assert "eval/settings.toml: cannot be read" in run(*command, code=2).stderr
    assert "no.toml: cannot be read" in run("--settings", "no.toml", code=2, of=eval_app).stderr
