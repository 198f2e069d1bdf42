"""The main job on a small corpus: its files, its figures against other libraries, its exit codes."""

import json
import os
import re
import signal
import statistics
import struct
import subprocess
import sys
from pathlib import Path

import ir_measures
import pytest
from ir_measures import RR, R, Success, nDCG
from llm_double import LLMReply
from scipy import stats
from sklearn.metrics import roc_auc_score

from brainkit import Settings
from brainkit.eval.asking import rank
from brainkit.eval.config import load_config
from brainkit.eval.run import eval_home
from brainkit.labels import Label, Relevant

ORACLES = {"nDCG@10": nDCG(dcg="log2") @ 10, "recall@10": R @ 10, "MRR@10": RR @ 10, "hit@2": Success @ 2}
FILES = {"calibration.json", "manifest.json", "qrels.trec", "report.md", "results.jsonl", "run.trec", "scores.png",
         "summary.json", "timings.json"}  # fmt: skip


@pytest.fixture(scope="module")
def runs(run, tmp_path_factory):
    """Two runs after each other: their output and their folders."""
    out = tmp_path_factory.mktemp("out")
    results, folders = [], []
    for _ in range(2):
        before = set(out.iterdir())
        results.append(run("--out", out))
        (folder,) = [path for path in set(out.iterdir()) - before if not path.is_symlink()]
        folders.append(folder)
    return results, folders


@pytest.fixture(scope="module")
def found(runs):
    """What the second run wrote: summary, and results by question."""
    folder = runs[1][1]
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text("utf-8").splitlines()]
    return json.loads((folder / "summary.json").read_text("utf-8")), {row["id"]: row for row in rows}


def test_both_runs_pass_and_end_with_the_count(runs):
    for result in runs[0]:
        assert re.fullmatch(r"\d+ passed, 0 failed", result.stdout.splitlines()[-1])
        assert "All checks passed: hybrid puts the right note among the first two for" in result.stdout.splitlines()[0]


def test_the_first_run_imports_and_the_second_says_there_is_nothing_to(runs):
    first, second = (" ".join(result.stdout.split()) for result in runs[0])
    assert "imported: 11 indexed; 1 secrets kept out" in first
    assert "nothing to import: all 11 documents are unchanged" in second
    assert "reading notes: 11/11" in runs[0][0].stderr


def test_the_screen_shows_settings_gates_threshold_and_place(runs):
    text = runs[0][1].stdout
    for pattern in (
        r"setting +nDCG@10 +recall@10 +MRR@10 +hit@2 +ms/question",
        r"gate +AUROC +answered +off topic +missing note +missing detail +false premise",
        *(rf"^ *{name} +0\." for name in ("dense", "lexical", "hybrid", "seed", "cosine", "evidence")),
        r"gate +AURC +E-AURC +no-answer F1 +truthfulness +calibration error +wrong context",
        r"^Certified threshold of the score gate: 0\.\d{4} \(alpha 0\.3, delta 0\.1, n 28, k",
        r"^How hard the labels are: ", r"^Report: .*report\.md$",
    ):  # fmt: skip
        assert re.search(pattern, text, re.MULTILINE), pattern


def test_the_files_are_there_and_latest_leads_to_the_last_run(runs):
    folders = runs[1]
    for folder in folders:
        assert {path.name for path in folder.iterdir()} >= FILES
    latest = folders[0].parent / "latest"
    assert latest.is_symlink()
    assert latest.resolve() == folders[1].resolve()
    assert not latest.readlink().is_absolute()  # the folder may be moved


def test_same_input_same_summary_to_the_byte(runs):
    one, two = ((folder / "summary.json").read_bytes() for folder in runs[1])
    assert one == two
    one, two = ((folder / "results.jsonl").read_bytes() for folder in runs[1])
    assert one == two
    assert b"seconds" not in (runs[1][0] / "summary.json").read_bytes()
    times = json.loads((runs[1][0] / "timings.json").read_text())
    assert set(times) == {"seconds", "ms_per_question", "judge_calls"}
    assert times["judge_calls"] == 0
    assert all(value > 0 for part in ("seconds", "ms_per_question") for value in times[part].values())


def test_the_picture_is_a_png(runs):
    raw = (runs[1][0] / "scores.png").read_bytes()
    assert raw[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", raw[16:24])
    assert (width, height) == (960, 552)
    assert raw[-8:-4] == b"IEND"
    assert raw == (runs[1][1] / "scores.png").read_bytes()


def test_there_is_a_row_for_every_question(found, small_eval):
    summary, rows = found
    labels = [json.loads(line) for line in (small_eval / "questions.jsonl").read_text("utf-8").splitlines()]
    assert list(rows) == [label["id"] for label in labels]
    assert summary["labels"] == {
        "answerable": 24, "false_premise": 4, "missing_detail": 4, "missing_note": 4, "off_topic": 4,
    }  # fmt: skip
    for label in labels:
        row = rows[label["id"]]
        assert set(row["scores"]) == {"seed", "cosine", "score", "evidence"}
        assert set(row["settings"]) == ({"dense", "lexical", "hybrid"} if label["answerable"] else set())


def test_the_metrics_are_those_ir_measures_finds_in_the_rankings(found, runs):
    summary, rows = found
    yes = {key: row for key, row in rows.items() if row["answerable"]}
    qrels = [ir_measures.Qrel(key, doc, grade) for key, row in yes.items() for doc, grade in row["relevant"].items()]
    report = (runs[1][1] / "report.md").read_text("utf-8")
    for setting in summary["settings"]:
        run_ = [
            ir_measures.ScoredDoc(key, doc, -float(rank))
            for key, row in yes.items()
            for rank, doc in enumerate(row["settings"][setting["name"]]["top"])
        ]
        means = ir_measures.calc_aggregate(ORACLES.values(), qrels, run_)
        for name, oracle in ORACLES.items():
            assert setting["metrics"][name] == pytest.approx(means[oracle], abs=1e-6)
            each = {m.query_id: m.value for m in ir_measures.iter_calc([oracle], qrels, run_)}
            for key, row in yes.items():
                assert row["settings"][setting["name"]]["metrics"][name] == pytest.approx(each[key], abs=1e-6)
        cells = " | ".join(f"{means[oracle]:.3f}" for oracle in ORACLES.values())
        assert f"| {setting['name']} | {cells} |" in report
    assert yes["a05"]["relevant"] == {"dns.md": 1, "bike.md": 3}
    for row in yes.values():
        for ranked in row["settings"].values():
            ranks = [rank for rank, doc in enumerate(ranked["top"], 1) if doc in row["relevant"]]
            assert ranked["first_relevant"] == (ranks[0] if ranks else 0) or ranked["first_relevant"] > 10


def test_auroc_is_that_of_sklearn(found):
    summary, rows = found
    target = [row["answerable"] for row in rows.values()]
    for gate in summary["gates"]:
        scores = [row["scores"][gate["name"]] for row in rows.values()]
        assert gate["auroc"] == pytest.approx(roc_auc_score(target, scores), abs=1e-6)
    cosine = next(gate for gate in summary["gates"] if gate["name"] == "cosine")
    assert summary["hardness"]["cosine_auroc"] == cosine["auroc"]


def test_hardness_is_the_medians_of_the_cosine_and_the_lexical_ndcg(found):
    summary, rows = found
    for name, median in summary["hardness"]["median_cosine"].items():
        cosines = [
            row["scores"]["cosine"]
            for row in rows.values()
            if (row["kind"] if not row["answerable"] else "answerable") == name
        ]
        assert median == pytest.approx(statistics.median(cosines), abs=1e-6)
    lexical = next(s for s in summary["settings"] if s["name"] == "lexical")
    assert summary["hardness"]["lexical_ndcg@10"] == lexical["metrics"]["nDCG@10"]


def test_gates_count_every_question_once_with_exact_intervals(found, runs):
    summary, _ = found
    report = (runs[1][1] / "report.md").read_text("utf-8")
    for gate in summary["gates"]:
        assert gate["feasible"]
        assert (gate["answered"]["n"], gate["false_answers"]["n"]) == (24, 16)
        assert {count["n"] for count in gate["strata"].values()} == {4}
        assert sum(count["x"] for count in gate["strata"].values()) == gate["false_answers"]["x"]
        for count in (gate["answered"], gate["false_answers"], *gate["strata"].values()):
            exact = stats.binomtest(count["x"], count["n"]).proportion_ci(0.95, "exact")
            assert (count["low"], count["high"]) == pytest.approx((exact.low, exact.high), abs=1e-6)
        x, n = gate["answered"]["x"], gate["answered"]["n"]
        low, high = stats.binomtest(x, n).proportion_ci(0.95, "exact")
        assert (
            f"| {gate['name']} | {gate['auroc']:.3f} | {100 * x / n:.0f} ({100 * low:.0f}-{100 * high:.0f}) {x}/{n} |"
            in report
        )


def test_figures_of_the_gates_are_those_of_the_decisions(found, runs):
    summary, rows = found
    report = (runs[1][1] / "report.md").read_text("utf-8")
    assert summary["schema"] == 3
    for gate in summary["gates"]:
        deflected = 16 - gate["false_answers"]["x"]
        missing = 24 - gate["answered"]["x"]
        assert gate["figures"]["no-answer F1"]["value"] == pytest.approx(
            2 * deflected / (deflected + missing + 16), abs=1e-6
        )
        wrong = gate["wrong_context"]
        assert wrong["n"] == gate["answered"]["x"]
        assert gate["replies"] == {
            "accurate": gate["answered"]["x"] - wrong["x"] + deflected,
            "missing": missing,
            "incorrect": gate["false_answers"]["x"] + wrong["x"],
        }
        assert gate["figures"]["AUROC"]["value"] == gate["auroc"]
        line = next(one for one in report.splitlines() if one.startswith(f"| {gate['name']} |") and ", " in one)
        told = [figure[end] for figure in gate["figures"].values() for end in ("value", "low", "high")]
        printed = [float(n) for n in re.findall(r"-?\d\.\d{3}", line)]
        assert printed == pytest.approx([value for value in told if value is not None], abs=6e-4)
    gates = {gate["name"]: gate for gate in summary["gates"]}
    assert gates["cosine"]["reliability"] == []
    assert sum(bar["answerable"]["n"] for bar in gates["evidence"]["reliability"]) == 40
    mean = statistics.fmean(row["scores"]["evidence"] for row in rows.values())
    bars = gates["evidence"]["reliability"]
    assert sum(bar["mean_score"] * bar["answerable"]["n"] for bar in bars) / 40 == pytest.approx(mean, abs=1e-5)


def test_an_answer_given_no_relevant_document_counts_as_wrong_context(small_eval, held):
    config = load_config(small_eval / "settings.toml")
    labels = [Label("a", "When did the Eaton get a new battery?", True, (Relevant("ups.md"),)),
              Label("b", "When did the Eaton get a new battery?", True, (Relevant("bread.md"),))]  # fmt: skip
    ranked = [row for label in labels for row in rank(held[1], label, config)]
    assert {(row.label, row.in_context) for row in ranked if row.setting == "hybrid"} == {("a", True), ("b", False)}
    assert {row.in_context for row in ranked if row.setting != "hybrid"} == {None}


def test_the_seed_rule_cannot_be_certified_where_all_questions_hit_a_word(found):
    """With every score at 2, no threshold lets any through: the price of the rule, shown and not hidden."""
    summary, rows = found
    seed = next(gate for gate in summary["gates"] if gate["name"] == "seed")
    if all(row["scores"]["seed"] == 2.0 for row in rows.values()):
        assert seed["answered"]["x"] == seed["false_answers"]["x"] == 0


def test_the_certificate_is_what_the_brain_now_uses(found, held):
    summary, _ = found
    certificate = summary["certificate"]
    assert (certificate["n"], certificate["answerable"], certificate["alpha"]) == (24 + 4, 24, 0.3)
    assert held[1].threshold() == (certificate["threshold"], "certificate", "")
    assert summary["fingerprint"] == certificate["fingerprint"] == held[1].fingerprint()
    assert summary["fingerprint"]["database"] == "embedded"
    assert "created" not in certificate


def test_the_planted_secret_is_nowhere(found, runs, small_eval):
    summary, _ = found
    secret = json.loads((small_eval / "planted-fake-secrets.jsonl").read_text())["secret"]
    check = next(check for check in summary["checks"] if check["name"] == "secrets")
    assert check == {"name": "secrets", "passed": True, "detail": "0 of 1 planted secrets are in the brain"}
    written = "".join(path.read_text("utf-8", "replace") for path in runs[1][0].iterdir())
    assert secret not in written + runs[0][0].output
    assert summary["corpus"] == {"documents": 11, "chunks": 11, "redactions": 1}


def test_the_report_says_what_it_is_made_of(runs, found):
    report = (runs[1][1] / "report.md").read_text("utf-8")
    for part in (
        "# Evaluation",
        "## Gates",
        "## Retrieval settings",
        "## Checks",
        "## Questions hybrid misses",
        "## Fingerprints",
    ):
        assert f"\n{part}\n" in "\n" + report
    assert "![Scores of the score gate](scores.png)" in report
    assert not re.search(r"\b(nan|inf|None)\b(?!\.)", report)
    assert report.partition("## Questions hybrid misses\n\n")[2].partition("\n\n##")[0] == "None."
    assert all(row["settings"]["hybrid"]["metrics"]["hit@2"] for row in found[1].values() if row["answerable"])


def test_as_json_it_is_the_summary_and_where_the_report_lies(run, runs, tmp_path):
    data = json.loads(run("--json", "--out", tmp_path).stdout)
    report = Path(data.pop("report"))
    assert report.read_text("utf-8").startswith("# Evaluation")
    assert data == json.loads((runs[1][0] / "summary.json").read_text("utf-8"))


def test_the_report_is_appended_where_a_ci_wants_it(run, runs, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n")
    run("--out", tmp_path / "out", GITHUB_STEP_SUMMARY=str(page))
    assert page.read_text("utf-8").startswith("before\n# Evaluation\n")


def test_an_override_of_the_threshold_does_not_touch_the_evaluation(run, runs, tmp_path):
    data = json.loads(run("--json", "--out", tmp_path, BOR_RELEVANCE_THRESHOLD="0.9", BOR_GATE="cosine").stdout)
    data.pop("report")
    assert data == json.loads((runs[1][0] / "summary.json").read_text("utf-8"))


# Exit codes


def test_a_broken_floor_fails_with_1_after_everything_is_written(run, small_eval, tmp_path):
    settings = tmp_path / "settings.toml"
    text = (small_eval / "settings.toml").read_text().replace('main = "hybrid"', 'main = "lexical"')
    settings.write_text(text + '[floors]\n"MRR@10" = 1.0\n"hit@2" = 0.0\n')
    result = run(
        "--corpus",
        small_eval / "corpus",
        "--labels",
        small_eval / "questions.jsonl",
        "--out",
        tmp_path / "out",
        code=1,
        settings=settings,
    )
    assert re.search(r"^failed: floor MRR@10: lexical: 0\.\d{3}, floor 1\.000$", result.stdout, re.MULTILINE)
    assert "failed: floor hit@2" not in result.stdout
    assert re.fullmatch(r"\d+ passed, 1 failed", result.stdout.splitlines()[-1])
    (report,) = (tmp_path / "out").glob("2*/report.md")
    text = report.read_text("utf-8")
    assert "- **failed**: floor MRR@10" in text
    rows = [json.loads(line) for line in report.with_name("results.jsonl").read_text("utf-8").splitlines()]
    missed = {row["id"] for row in rows if row["answerable"] and not row["settings"]["lexical"]["metrics"]["hit@2"]}
    listed = re.findall(r'^- (a\d\d) "', text.partition("## Questions lexical misses")[2], re.MULTILINE)
    assert missed
    assert sorted(listed) == sorted(missed)
    assert "1 of" in result.stdout.splitlines()[0]


def test_labels_that_do_not_fit_the_notes_are_wrong_use(run, small_eval, tmp_path):
    for old, new, message in (
        ("RBC7", "RBC8", "a01: the quote 'RBC8' is not in 'ups.md' word for word"),
        ('"norway.txt"', '"sweden.txt"', "'sweden.txt' is not there"),
        ('"a03"', '"a02"', "a02: this id is used more than once"),
    ):
        labels = tmp_path / "q.jsonl"
        labels.write_text((small_eval / "questions.jsonl").read_text("utf-8").replace(old, new), "utf-8")
        result = run("--labels", labels, "--out", tmp_path / "out", code=2)
        assert message in result.stderr
        assert "faults, the first:" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no answerable question"),
        ('{"id": "n", "question": "Who?", "answerable": false, "kind": "off_topic"}\n', "holds no answerable question"),
        ("{", "q.jsonl:1: not JSON"),
    ],
)
def test_labels_that_ask_nothing_are_wrong_use(run, tmp_path, content, message):
    (tmp_path / "q.jsonl").write_text(content)
    assert message in run("--labels", tmp_path / "q.jsonl", "--out", tmp_path / "out", code=2).stderr


def test_a_few_labels_give_a_report_that_says_so(run, small_eval, tmp_path):
    rows = (small_eval / "questions.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "q.jsonl").write_text("\n".join([rows[0], rows[-1]]) + "\n", "utf-8")
    result = run("--labels", tmp_path / "q.jsonl", "--out", tmp_path / "out", code=5)
    assert "too few unanswerable labels to certify the score gate" in " ".join(result.stdout.split())
    assert "failed: certificate: Not certified: 1 unanswerable questions are too few" in result.stdout
    (tmp_path / "q.jsonl").write_text(rows[0] + "\n", "utf-8")
    result = run("--labels", tmp_path / "q.jsonl", "--out", tmp_path / "out", code=5)
    assert "failed: false answers: score: too few unanswerable labels to judge" in result.stdout
    assert not re.search(r"\b(nan|inf)\b", result.stdout)


def test_a_note_that_could_not_be_read_leaves_with_3(run, small_eval, tmp_path, monkeypatch):
    corpus = tmp_path / "corpus"
    note = small_eval / "corpus" / "bike.md"
    os.utime(note, (1, 1))  # looks changed

    def fails(file, **_):
        raise OSError("the disk is on fire")

    monkeypatch.setattr("brainkit.ingestion.prepare.read_all", fails)
    result = run("--out", tmp_path / "out", code=3)
    assert "failed: import: 1 files failed, 0 chunks wait" in result.stdout
    assert not corpus.exists()
    monkeypatch.undo()
    run("--out", tmp_path / "out")


def test_a_place_that_cannot_be_written_is_wrong_use(run, tmp_path):
    (tmp_path / "file").write_text("x")
    assert "the report cannot be written below" in run("--out", tmp_path / "file" / "out", code=2).stderr


def test_a_corpus_that_is_not_there_is_wrong_use(run, small_eval, tmp_path, held):
    result = run("--corpus", held[0] / "nothing", "--labels", small_eval / "questions.jsonl", "--out", tmp_path, code=2)
    assert "no such folder or file" in result.stderr


def test_the_evaluation_never_touches_the_notes_of_the_user(small_eval, tmp_path):
    config = load_config(small_eval / "settings.toml")
    mine = Settings(home=tmp_path, database_url="postgresql://localhost:9/mine", relevance_threshold=0.5, gate="cosine")
    here = eval_home(mine, config)
    assert here.database_url is None
    assert here.home.parent == tmp_path / "eval"
    assert here.home != eval_home(mine, load_config(small_eval / "settings.toml", tmp_path / "corpus")).home
    assert (here.gate, here.retrieval) == ("score", str(config.settings["hybrid"]))
    assert here.import_extensions[-1] == "py"


def test_ctrl_c_stops_with_130_and_the_next_run_goes_on(small_eval, held, tmp_path, run):
    for note in (small_eval / "corpus").rglob("*"):
        os.utime(note, (2, 2))  # looks changed, so that it is read again
    env = {**os.environ, "BOR_HOME": str(held[0]), "BOR_EMBEDDER": "wordllama"}
    command = [
        sys.executable,
        "-m",
        "brainkit.eval",
        "--settings",
        str(small_eval / "settings.toml"),
        "--out",
        str(tmp_path / "out"),
    ]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert first.startswith("reading notes: 11/11")
    assert process.returncode == 130
    assert err.endswith("Stopped. What was done is kept; run the same command again to go on.\n")
    assert "Traceback" not in err
    assert out == ""
    assert not (tmp_path / "out").exists()
    run("--out", tmp_path / "out")


# With a language model


def test_the_sufficiency_gate_stands_in_the_comparison(run, runs, small_eval, tmp_path, llm):
    """A model that knows which questions the notes answer, and a server that tells its probabilities."""
    yes = {
        row["question"]
        for row in map(json.loads, (small_eval / "questions.jsonl").read_text().splitlines())
        if row["answerable"]
    }

    def knows(body):
        question = body["messages"][-1]["content"].rpartition("\n\nQuestion: ")[2].splitlines()[0]
        return LLMReply(logprobs={"Yes": -0.1, "No": -2.4} if question in yes else {"Yes": -2.4, "No": -0.1})

    llm.behave = knows
    settings = tmp_path / "settings.toml"
    settings.write_text((small_eval / "settings.toml").read_text().replace('"evidence"]', '"evidence", "sufficiency"]'))
    where = ["--corpus", small_eval / "corpus", "--labels", small_eval / "questions.jsonl", "--settings", settings]
    assert "BOR_LLM_BASE_URL is not set" in run(*where, "--out", tmp_path / "out", code=2).stderr
    model = {"BOR_LLM_BASE_URL": llm.url, "BOR_LLM_MODEL": "double"}
    data = json.loads(run(*where, "--json", "--out", tmp_path / "out", **model).stdout)
    gates = {gate["name"]: gate for gate in data["gates"]}
    assert gates["sufficiency"]["auroc"] == 1.0
    assert gates["sufficiency"]["answered"]["x"] > gates["evidence"]["answered"]["x"]
    assert len(llm.requests) == 40  # each question once; what is hidden sets no threshold of a gate that is not in use
    times = json.loads((Path(data["report"]).parent / "timings.json").read_text())
    assert times["judge_calls"] == 40
