"""What a CI needs of the evaluation: baselines and exit codes, runs that stop and go on, filters, drafts, grids."""

import json
import os
import re
import signal

import pytest

from brainkit import Settings
from brainkit.eval import evaluate, executing
from brainkit.eval.asking import Asked, ask
from brainkit.eval.config import load_config
from brainkit.eval.executing import Stop, asker
from brainkit.labels import load
from brainkit.retrieval import RetrievalSettings
from brainkit.retrieval.sweep import Pool

GRID = """
grid = "hybrid(dense=[1,2,30],lexical=[1,4],fusion=[rrf],k=[1,60])"
weights = "hybrid(dense=3,lexical=30,fusion=rrf,k=5,wd=[0,0.5],wl=1)"
convex = "hybrid(dense=[2,9],lexical=3,alpha=[0,0.4,1],top=[1,2])"
one = "dense([1,5])"
words = "lexical([2,30],rank=[bm25,ts_rank,ts_rank_cd])"
aged = "hybrid(dense=4,lexical=4)+recency(30d)+mmr(0.6)"
linked = "hybrid(dense=2,lexical=2)+expand(1)"
"""


@pytest.fixture(autouse=True)
def quick_picture(monkeypatch):
    """Pictures have their own tests, and take a third of a small run."""
    monkeypatch.setattr("brainkit.eval.files.histogram", lambda *arguments: arguments[-1].touch())


@pytest.fixture(scope="module")
def copied(small_eval, tmp_path_factory):
    """Makes settings files of one's own over the same corpus, changed as told."""

    def make(*changes, also=""):
        folder = tmp_path_factory.mktemp("own")
        text = f"corpus = {json.dumps(str(small_eval / 'corpus'))}\n" + (small_eval / "settings.toml").read_text()
        one_gate = ('gates = ["seed", "cosine", "score", "evidence"]', 'gates = ["score"]')
        for old, new in (one_gate, *changes):
            assert old in text
            text = text.replace(old, new)
        (folder / "settings.toml").write_text(text + also)
        (folder / "questions.jsonl").write_bytes((small_eval / "questions.jsonl").read_bytes())
        return folder / "settings.toml"

    return make


@pytest.fixture(scope="module")
def with_baseline(copied, run, tmp_path_factory):
    """A settings file that has a baseline beside it."""
    file = copied()
    result = run("--update-baseline", "--out", tmp_path_factory.mktemp("out"), settings=file)
    assert f"baseline: {file.with_name('baseline.json')}" in result.stderr
    return file


def newest(out):
    return (out / "latest").resolve()


def summary(out):
    return json.loads((newest(out) / "summary.json").read_text("utf-8"))


# Baselines and exit codes


def test_an_unchanged_run_is_identical_to_its_baseline(with_baseline, run, tmp_path):
    result = run("--out", tmp_path, settings=with_baseline)
    assert f"Against {with_baseline.with_name('baseline.json')}: identical" in " ".join(result.stdout.split())
    report = (newest(tmp_path) / "report.md").read_text("utf-8")
    assert re.search(r"passed: regression context: context \d\.\d{3}: identical, no question of 24 changed", report)
    found = summary(tmp_path)["comparison"]
    assert found["verdict"] == "identical"
    assert [one["metric"] for one in found["metrics"]] == ["nDCG@10", "context"]
    assert found["broken"] == found["fixed"] == []


def test_a_worse_system_leaves_with_1_after_every_file_is_written(with_baseline, run, tmp_path, monkeypatch):
    """Somebody turned the ranking round."""
    right = Pool.fused
    monkeypatch.setattr(Pool, "fused", lambda pool, settings: right(pool, settings)[::-1])
    data = json.loads(run("--out", tmp_path, "--json", code=1, settings=with_baseline).stdout)
    assert data["comparison"]["verdict"] == "regression"
    failed = {check["name"] for check in data["checks"] if not check["passed"]}
    assert {"regression nDCG@10", "regression context", "must pass"} <= failed
    broken = data["comparison"]["broken"]
    report = (newest(tmp_path) / "report.md").read_text("utf-8")
    assert len(broken) > 12
    for one in broken:
        assert (one["before"]["context"], one["after"]["context"]) == (1, 0)
        assert f"  - {one['id']}: " in report
        assert re.search(r": ranked at \d+, by meaning (at \d+|nowhere), by words (at|nowhere)", one["remark"])


def test_a_baseline_of_other_questions_or_notes_leaves_with_4(with_baseline, run, tmp_path, small_eval):
    labels = with_baseline.with_name("questions.jsonl")
    before = labels.read_text("utf-8")
    baseline = with_baseline.with_name("baseline.json")
    try:
        labels.write_text(before.replace("Which image does paperless run?", "Which image is it?"), "utf-8")
        result = run("--out", tmp_path, code=4, settings=with_baseline)
        told = " ".join(result.stdout.split())
        assert "were not asked the same: 1 questions are changed: a19; make it anew with --update-baseline" in told
    finally:
        labels.write_text(before, "utf-8")
    other = tmp_path / "other.json"
    data = json.loads(baseline.read_text("utf-8"))
    other.write_text(json.dumps({**data, "corpus": "f" * 16, "model": "f" * 64}))
    told = " ".join(run("--out", tmp_path, "--baseline", other, code=4, settings=with_baseline).stdout.split())
    assert "was made with other notes" in told
    assert "was made with another embedding model (ffffffffffff, now " in told
    other.write_text("{")
    assert "is damaged" in run("--out", tmp_path / "x", "--baseline", other, code=2, settings=with_baseline).stderr
    assert not (tmp_path / "x").exists()
    gone = run("--out", tmp_path, "--baseline", tmp_path / "no.json", code=2, settings=with_baseline)
    assert "no such run, summary or baseline" in gone.stderr


def test_a_filtered_run_is_compared_on_its_questions_and_makes_no_baseline(with_baseline, run, tmp_path):
    result = run("--filter", "a0*", "--out", tmp_path, settings=with_baseline, code=5)
    assert summary(tmp_path)["comparison"]["verdict"] == "identical"
    assert summary(tmp_path)["labels"] == {"answerable": 10}
    assert "Filtered: 10 questions; the certificate is not kept." in result.stdout
    wrong = run("--filter", "a0*", "--update-baseline", "--out", tmp_path, settings=with_baseline, code=2)
    assert "leave --filter out" in wrong.stderr
    assert "no id, kind or tag fits the filter 'x*'" in run("--filter", "x*", settings=with_baseline, code=2).stderr
    assert "no answerable question" in run("--filter", "off_topic", settings=with_baseline, code=2).stderr


def test_a_warning_fails_only_if_strict(with_baseline, run, tmp_path):
    """The baseline was better at three questions, which may be chance."""
    data = json.loads(with_baseline.with_name("baseline.json").read_text("utf-8"))
    worse = [row for row in data["questions"].values() if row["nDCG@10"] < 1][:3]
    assert worse
    for row in worse:
        row["nDCG@10"] = 1.0
    better = tmp_path / "better.json"
    better.write_text(json.dumps(data))
    arguments = ("--out", tmp_path, "--json", "--tolerance", "0.0001", "--baseline", better)
    (warning,) = json.loads(run(*arguments, settings=with_baseline).stdout)["verdict"]["warnings"]
    assert re.match(r"nDCG@10 \d\.\d+ -> \d\.\d+ .*: warning; a fall of", warning)
    run(*arguments, "--strict", code=1, settings=with_baseline)


def test_runs_and_settings_are_compared_on_disk(with_baseline, run, tmp_path):
    run("--out", tmp_path, settings=with_baseline)
    place = newest(tmp_path)
    same = run("compare", place, place / "summary.json", settings=None)
    assert "identical" in same.stdout.splitlines()[0]
    found = json.loads(run("compare", f"{place}:hybrid", f"{place}:dense", "--json", settings=None).stdout)
    assert [one["metric"] for one in found["metrics"]] == ["nDCG@10", "hit@2"]
    assert found["notes"][0].startswith("another retrieval: hybrid(")
    assert (
        "has no setting 'x'; it has dense, lexical, hybrid"
        in run("compare", place, f"{place}:x", code=2, settings=None).stderr
    )
    (place / "results.jsonl").unlink()
    assert "results.jsonl cannot be read" in run("compare", place, place, code=2, settings=None).stderr


# Stopping and going on


def counting(monkeypatch, stop_at, how):
    """The ids that are asked; at one of them, once, something happens."""
    asked, once = [], [how]

    def count(brain, label, config):
        asked.append(label.id)
        if len(asked) == stop_at and once:
            once.pop()()
        return ask(brain, label, config)

    monkeypatch.setattr(executing, "ask", count)
    return asked


def test_ctrl_c_reports_what_was_asked_and_resume_asks_the_rest(copied, run, tmp_path, monkeypatch):
    file = copied()
    asked = counting(monkeypatch, 7, lambda: os.kill(os.getpid(), signal.SIGINT))
    before = signal.getsignal(signal.SIGINT)
    result = run("--out", tmp_path, code=3, settings=file)
    assert signal.getsignal(signal.SIGINT) is before
    assert len(asked) == 7
    assert "Stopping after this question" in result.stderr
    assert "Interrupted: asked 7 of 40 questions; run again with --resume." in result.stdout
    assert summary(tmp_path)["verdict"]["complete"] is False
    folder = newest(tmp_path)
    assert len((folder / "results.jsonl").read_text().splitlines()) == 7
    asked.clear()
    result = run("--out", tmp_path, "--resume", settings=file)
    assert "7 questions had been asked before" in result.stderr
    assert len(asked) == 33
    assert newest(tmp_path) == folder
    resumed = (folder / "summary.json").read_bytes(), (folder / "results.jsonl").read_bytes()
    assert not (folder / "asked.jsonl").exists()
    run("--out", tmp_path, settings=file)
    whole = newest(tmp_path)
    assert whole != folder
    assert ((whole / "summary.json").read_bytes(), (whole / "results.jsonl").read_bytes()) == resumed


def test_what_a_killed_run_asked_is_not_asked_again(copied, run, tmp_path, monkeypatch):
    file = copied()

    def dies():
        raise MemoryError

    asked = counting(monkeypatch, 12, dies)
    run("--out", tmp_path, code=1, settings=file)
    (folder,) = tmp_path.iterdir()
    with (folder / "results.jsonl").open("a") as results:
        results.write('{"id": "half a li')  # as kill -9 may leave it
    assert json.loads((folder / "manifest.json").read_text())["state"] == "running"
    asked.clear()
    run("--out", tmp_path, "--resume", settings=file)
    assert len(asked) == 40 - 11
    assert json.loads((folder / "manifest.json").read_text())["state"] == "complete"
    asked.clear()
    assert "nothing to resume" in run("--out", tmp_path, "--resume", settings=file).stderr
    assert len(asked) == 40
    assert load(file.with_name("questions.jsonl"))[0].id == "a00"


def test_a_run_under_other_settings_is_not_gone_on_with(copied, run, tmp_path, monkeypatch):
    counting(monkeypatch, 3, lambda: os.kill(os.getpid(), signal.SIGINT))
    run("--out", tmp_path, code=3, settings=copied())
    other = copied(("alpha=0.5", "alpha=0.4"))
    assert "nothing to resume" in run("--out", tmp_path, "--resume", settings=other).stderr


def test_what_a_question_gave_reads_back(held, small_eval):
    config = load_config(small_eval / "settings.toml")
    for label in load(config.labels)[::9]:
        asked = ask(held[1], label, config)
        again = Asked.from_dict(json.loads(json.dumps(asked.to_dict())))
        assert again == asked


def test_several_at_a_time_give_the_same(with_baseline, run, tmp_path):
    run("--out", tmp_path / "a", settings=with_baseline)
    run("--out", tmp_path / "b", "--jobs", "3", settings=with_baseline)
    one, other = ((newest(tmp_path / name) / "summary.json").read_bytes() for name in "ab")
    assert one == other


def test_a_stop_among_several_leaves_the_rest_unasked(held, small_eval):
    config = load_config(small_eval / "settings.toml")
    labels = load(config.labels)[:6]
    stop = Stop()
    with asker(held[1], config, jobs=2, executor="") as asked_by:
        found = []
        for one in asked_by(labels, stop):
            found.append(one.label)
            stop.now = True
    assert found == ["a00"]


@pytest.mark.parametrize("executor", ["spark://x", "dask"])
def test_an_executor_that_is_none_is_wrong_use(run, executor, with_baseline, tmp_path):
    result = run("--executor", executor, "--out", tmp_path, code=2, settings=with_baseline)
    assert "give dask://HOST:PORT" in result.stderr


@pytest.mark.slow
def test_a_cluster_of_two_gives_the_same(with_baseline, run, tmp_path, request):
    if request.config.getoption("markexpr") != "slow":
        pytest.skip("two more processes that load everything take twenty seconds")
    distributed = pytest.importorskip("distributed")
    run("--out", tmp_path / "a", settings=with_baseline)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        place = cluster.scheduler_address.replace("tcp://", "dask://")
        run("--out", tmp_path / "b", "--executor", place, settings=with_baseline)
    one, other = ((newest(tmp_path / name) / "summary.json").read_bytes() for name in "ab")
    assert one == other


def test_a_cluster_that_is_not_there_is_wrong_use(run, with_baseline, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("brainkit.eval.cluster._CONNECT_SECONDS", 0.2)
    result = run("--executor", "dask://127.0.0.1:9", "--out", tmp_path, code=2, settings=with_baseline)
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in result.stderr


# Grids


def test_at_one_go_gives_what_one_by_one_gives_ties_included(held, small_eval, copied):
    """Every chunk with its score and ranks, every document, and the evidence, for words the notes do not hold, too."""
    settings = list(load_config(copied(also=GRID)).settings.values())
    assert len(settings) == 3 + 12 + 2 + 12 + 2 + 6 + 2
    questions = [label.question for label in load(small_eval / "questions.jsonl")][::5]
    for question in [*questions, "", "baterry of the Eatn", "Wärmepumpenwartung", "the and of"]:
        for one, together in zip(settings, held[1].recall_each(question, settings, k=9), strict=True):
            alone = held[1].recall(question, 9, one)
            assert together == alone, str(one)
            assert [document.path for document in together.documents] == [d.path for d in alone.documents]
            assert together.evidence == alone.evidence, str(one)


def test_without_an_embedding_every_setting_searches_by_words(held, monkeypatch):
    from brainkit.errors import EmbedderUnavailableError

    def down(*_):
        raise EmbedderUnavailableError("is down")

    settings = [RetrievalSettings.parse(text) for text in ("dense(2)", "hybrid(dense=3,lexical=2)", "lexical(3)")]
    brain = held[1]
    monkeypatch.setattr(brain._searcher, "_embed", down)
    for one, together in zip(settings, brain.recall_each("Eaton battery restic", settings, k=9), strict=True):
        assert together == brain.recall("Eaton battery restic", 9, one)
        assert together.degraded.startswith("searched by words only")


# Drafts, calibration, plans


def test_init_writes_drafts_that_judge_nothing_until_they_are_reviewed(run, small_eval, tmp_path):
    file = tmp_path / "mine" / "settings.toml"
    result = run("init", "--corpus", small_eval / "corpus", "--settings", file, settings=None)
    assert "Review the drafts" in result.stdout
    labels = load(file.with_name("questions.jsonl"))
    assert len(labels) >= 8
    assert {label.tags for label in labels} == {("synthetic",)}
    again = run("init", "--corpus", small_eval / "corpus", "--settings", file, settings=None, code=2)
    assert "is there already" in again.stderr
    checked = run("labels", "check", "--settings", file, settings=None)
    assert f"{len(labels)} labels, {len(labels)} of them drafts to review, 0 problems" in checked.stdout
    result = run("--out", tmp_path / "out", settings=file)
    assert f"All {len(labels)} labels are drafts that nobody has reviewed" in " ".join(result.stdout.split())
    assert result.stdout.startswith("Nothing is judged")
    found = summary(tmp_path / "out")
    assert {check["name"] for check in found["checks"]} == {"import", "labels"}
    assert len(found["settings"]) == 7
    reviewed = file.with_name("questions.jsonl").read_text("utf-8").replace('"synthetic"', "", 3)
    file.with_name("questions.jsonl").write_text(reviewed, "utf-8")
    run("--out", tmp_path / "out", settings=file, code=5)
    found = summary(tmp_path / "out")
    assert (found["labels"], found["drafts"]) == ({"answerable": 3}, len(labels) - 3)


def test_labels_check_leaves_with_2_where_something_is_wrong(run, copied):
    file = copied()
    labels = file.with_name("questions.jsonl")
    labels.write_text(labels.read_text("utf-8").replace("RBC7", "RBC8"), "utf-8")
    found = json.loads(run("labels", "check", "--json", code=2, settings=file).stdout)
    assert [one["id"] for one in found["problems"]] == ["a01"]


def test_calibrate_sets_the_threshold_or_leaves_with_5(run, copied, tmp_path, held):
    file = copied()
    result = run("calibrate", "--out", tmp_path, settings=file)
    assert re.match(r"Certified threshold of the score gate: 0\.\d+ \(alpha 0\.3", result.stdout)
    data = json.loads((newest(tmp_path) / "calibration.json").read_text())
    assert data["certificate"]["threshold"] == held[1].threshold().value
    assert [gate["name"] for gate in data["cross_fitted"]] == ["score"]
    assert "Not certified" in run("calibrate", "--alpha", "0.01", "--out", tmp_path, settings=file, code=5).stdout
    assert "alpha = 2.0 is not allowed" in run("calibrate", "--alpha", "2", settings=file, code=2).stderr


def test_a_dry_run_says_what_would_be_asked_and_writes_nothing(run, with_baseline, tmp_path):
    told = run("--dry-run", "--out", tmp_path / "out", settings=with_baseline).stdout
    assert "40 questions of" in told
    plan = json.loads(run("--dry-run", "--json", "--filter", "a*", settings=with_baseline).stdout)
    assert (plan["questions"], plan["recalls"], plan["judgements"]) == (24, 24 * 3 + 48, 0)
    assert not (tmp_path / "out").exists()


def test_trec_files_are_what_trec_tools_read(with_baseline, run, tmp_path):
    import ir_measures

    run("--out", tmp_path, settings=with_baseline)
    folder = newest(tmp_path)
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.trec")))
    ranking = list(ir_measures.read_trec_run(str(folder / "run.trec")))
    found = ir_measures.calc_aggregate([ir_measures.nDCG(dcg="log2") @ 10], qrels, ranking)
    (hybrid,) = [one for one in summary(tmp_path)["settings"] if one["name"] == "hybrid"]
    assert list(found.values()) == pytest.approx([hybrid["metrics"]["nDCG@10"]], abs=1e-6)


# From Python


def test_evaluate_gives_tidy_frames(small_eval, held, with_baseline):
    user = Settings(home=held[0], embedder="wordllama")
    told = []
    found = evaluate(
        with_baseline, settings=user, retrievals={"rrf": "hybrid(fusion=rrf,k=[10,60])", "dense": "dense(30)"},
        progress=lambda what, done, total: told.append((what, done, total)),
    )  # fmt: skip
    assert ("ask", 40, 40) in told
    assert list(found.values.columns) == ["question", "setting", "metric", "value"]
    assert len(found.values) == 24 * 3 * 4
    means = found.values.groupby(["setting", "metric"])["value"].mean()
    for row in found.settings.itertuples():
        assert means[row.setting, row.metric] == pytest.approx(row.mean)
    assert set(found.ranks["setting"]) == {"rrf k=10", "rrf k=60", "dense"}
    assert found.outcome.main == "rrf k=10"
    assert len(found.scores) == 40
    assert set(found.rates["of"]) == {
        "answerable", "unanswerable", "off_topic", "missing_note", "missing_detail", "false_premise"
    }  # fmt: skip
    assert evaluate(with_baseline, settings=user, baseline="", only="a1*").outcome.comparison.identical
