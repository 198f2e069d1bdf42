"""What ships is fitted on labels alone; coefficients and thresholds against sklearn and scipy."""

import json
import math

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from brainkit import Brain, Settings
from brainkit.errors import LabelsError
from brainkit.eval.command import app
from brainkit.eval.config import load_config
from brainkit.eval.crossfit import judge_gate
from brainkit.eval.fit import fit_shipped
from brainkit.eval.run import eval_home
from brainkit.gate import GATES, EvidenceGate, LabelledEvidence, make_gate
from brainkit.gate.gates import LATE_FEATURES, PLAIN_FEATURES
from brainkit.labels import Label, Relevant, load
from brainkit.retrieval import Evidence


@pytest.fixture(scope="module")
def fitted(small_eval, tmp_path_factory):
    """The file that ``fit`` writes, and the evidence it must have been made from, by embedder."""
    home, file = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("out") / "shipped.json"
    config = load_config(small_eval / "settings.toml")
    arguments = ["fit", "--settings", str(small_eval / "settings.toml"), "--out", str(file)]
    evidence = {}
    with Brain.open(eval_home(Settings(home=home, embedder="wordllama"), config)) as held:
        result = CliRunner().invoke(app, arguments, env={"BOR_HOME": str(home)})
        assert result.exit_code == 0, result.output
        for embedder in ("minilm", "wordllama"):
            with Brain.open(held.settings.model_copy(update={"embedder": embedder})) as brain:
                rows = []
                for label in load(config.labels):
                    docs = [item.doc for item in label.relevant]
                    rows.append((label, False, brain.recall(label.question).evidence))
                    if docs:
                        rows.append((label, True, brain.recall(label.question, exclude_documents=docs).evidence))
                evidence[embedder] = rows
    evidence["other"] = evidence["minilm"]
    return json.loads(file.read_text("utf-8")), evidence


def test_the_file_says_what_it_was_fitted_on(fitted):
    data, _ = fitted
    assert data["fitted_on"] == "40 bundled labels, alpha 0.3, delta 0.1"
    assert data["retrieval"] == "hybrid(dense=30,lexical=30,fusion=convex,alpha=0.5,docs=2)"
    used = {name: tuple(fit["evidence"]["coefficients"]) for name, fit in data["embedders"].items()}
    assert used == {"minilm": LATE_FEATURES, "other": PLAIN_FEATURES, "wordllama": PLAIN_FEATURES}


@pytest.mark.parametrize("embedder", ["minilm", "other", "wordllama"])
def test_coefficients_give_sklearns_probabilities_on_shown_and_hidden_questions(fitted, embedder):
    data, evidence = fitted
    used = [(hidden, e) for label, hidden, e in evidence[embedder] if label.answerable]
    written = data["embedders"][embedder]["evidence"]
    kept = [name for name, weight in written["coefficients"].items() if weight]  # the others would have spoken against
    assert min(written["coefficients"].values()) >= 0
    x = np.array([[getattr(e, name) for name in kept] for _, e in used])
    oracle = make_pipeline(
        StandardScaler(), LogisticRegression(C=0.02, class_weight="balanced", tol=1e-10, max_iter=10_000)
    )
    oracle.fit(x, [not hidden for hidden, _ in used])
    gate = EvidenceGate(written["intercept"], written["coefficients"])
    assert [gate.score(e) for _, e in used] == pytest.approx(oracle.predict_proba(x)[:, 1], abs=1e-4)


@pytest.mark.parametrize("embedder", ["minilm", "other", "wordllama"])
@pytest.mark.parametrize("name", GATES)
def test_thresholds_let_as_many_missing_notes_through_as_the_binomial_allows(fitted, embedder, name):
    data, evidence = fitted
    written = data["embedders"][embedder]
    gate = make_gate("cosine" if name == "seed" else name, embedder)  # the seed rule's threshold is a cosine
    if name == "evidence":
        fit = written["evidence"]
        gate = EvidenceGate(fit["intercept"], fit["coefficients"])
    scores = sorted(
        (gate.score(e) for label, hidden, e in evidence[embedder] if hidden or label.kind == "missing_note"),
        reverse=True,
    )
    assert len(scores) == 28
    k = max(k for k in range(29) if stats.binom.cdf(k, 28, 0.3) <= 0.1)
    threshold = written["thresholds"][name]
    assert 0 < threshold - scores[k] <= 1.1e-6  # six digits, rounded up: the score itself must not pass
    assert sum(score >= threshold for score in scores) <= k
    assert math.isfinite(threshold)


def test_without_a_file_the_fit_is_printed(small_eval, monkeypatch):
    monkeypatch.setattr("brainkit.eval.fit.fit_shipped", lambda *_: {"embedders": {}})
    result = CliRunner().invoke(app, ["fit", "--settings", str(small_eval / "settings.toml")])
    assert json.loads(result.stdout) == {"embedders": {}}
    result = CliRunner().invoke(app, ["fit", "--settings", str(small_eval / "settings.toml"), "--out", str(small_eval)])
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_too_few_labels_cannot_be_fitted(small_eval, tmp_path, monkeypatch):
    monkeypatch.setattr("brainkit.eval.fit.EMBEDDERS", ("wordllama",))
    (tmp_path / "q.jsonl").write_text(
        "\n".join((small_eval / "questions.jsonl").read_text("utf-8").splitlines()[:5]), "utf-8"
    )
    config = load_config(small_eval / "settings.toml", small_eval / "corpus", tmp_path / "q.jsonl")
    with pytest.raises(LabelsError, match="5 missing notes are too few to fit a threshold: 7 are needed"):
        fit_shipped(Settings(home=tmp_path / "h"), config)


# Cross-fitting


def evidence_of(value):
    return Evidence(best_cosine=value, best_score=value, coverage=value, lexical_hits=1)


def labels_and_evidence(answerable=20, unanswerable=20):
    labels = [Label(f"y{i}", "?", True, (Relevant("d"),)) for i in range(answerable)]
    labels += [Label(f"n{i}", "?", False, kind="off_topic") for i in range(unanswerable)]
    found = []
    for i, label in enumerate(labels):
        found.append(LabelledEvidence(label.id, label.stratum, evidence_of(0.5 * label.answerable + i / 1000)))
        if label.answerable:
            found.append(LabelledEvidence(label.id, "missing_note", evidence_of(0.1 + i / 1000), hidden=True))
    return labels, found


@pytest.fixture
def config(small_eval):
    return load_config(small_eval / "settings.toml")


def test_a_fitted_gate_is_judged_by_scores_of_the_half_a_question_is_not_in(config, monkeypatch):
    fits = []

    def fit(own):
        fits.append({item.label for item in own})
        assert all(item.hidden or not item.stratum for item in own)  # never on what sets the threshold
        return EvidenceGate(float(len(fits)), {})

    monkeypatch.setattr("brainkit.eval.crossfit.fit_evidence", fit)
    labels, found = labels_and_evidence()
    result = judge_gate("evidence", labels, found, "minilm", config)
    assert fits[0] & fits[1] == set()
    assert fits[0] | fits[1] == {label.id for label in labels if label.answerable}
    by_fit = [1 / (1 + math.exp(-n)) for n in (1, 2)]
    for label in labels:
        if label.answerable:
            assert result.scores[label.id] == pytest.approx(by_fit[0 if label.id in fits[1] else 1])


def test_gates_that_are_not_fitted_are_judged_as_they_are(config):
    labels, found = labels_and_evidence()
    result = judge_gate("cosine", labels, found, "minilm", config)
    assert result.scores["y3"] == 0.5 + 3 / 1000
    assert result.auroc == 1.0
    assert (result.fit.answered.x, result.fit.answered.n) == (20, 20)


def test_a_half_without_an_answerable_question_leaves_the_shipped_gate(config):
    labels, found = labels_and_evidence(answerable=1)
    result = judge_gate("evidence", labels, found, "minilm", config)
    assert len(result.scores) == 21
    assert result.fit.feasible
