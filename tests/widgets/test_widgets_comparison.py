"""Gates compared on the same questions: figures and significance against other computations."""

from itertools import combinations

import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from brainkit.errors import UsageError
from brainkit.eval.stats import holm
from brainkit.widgets import compare_gates, open_workbench

GATES = ("seed", "cosine", "score")


@pytest.fixture
def comparison(bench):
    return compare_gates(bench, GATES, alpha=0.8, delta=0.4)


def test_there_is_a_row_for_each_gate(comparison, bench):
    table = comparison.table()
    assert list(table.index) == list(GATES)
    answerable = {label.id: label.answerable for label in bench.labels}
    for result in comparison.results:
        area = roc_auc_score([answerable[name] for name in result.scores], list(result.scores.values()))
        assert table.loc[result.name, "AUROC"] == f"{area:.3f}"
    assert "off topic %" in table.columns


def test_the_pairs_are_those_with_a_threshold_and_their_p_is_the_sign_tests(comparison):
    """With so few that changed, the randomisation test of 0/1 decisions is the exact sign test (McNemar)."""
    feasible = [result.name for result in comparison.results if result.fit.feasible]
    assert [(pair.b, pair.a) for pair in comparison.pairs[::2]] == list(combinations(feasible, 2))
    assert len(feasible) > 1
    raw = []
    for pair in comparison.pairs:
        gained = round((pair.test.mean * pair.test.n + pair.test.changed) / 2)
        expected = binomtest(gained, pair.test.changed).pvalue if pair.test.changed else 1.0
        assert pair.test.p == pytest.approx(expected)
        raw.append(expected)
    assert [pair.p for pair in comparison.pairs] == pytest.approx(holm(raw))


def test_the_difference_is_that_of_the_shares_in_the_table(comparison):
    shares = {result.name: result.fit.answered.rate for result in comparison.results}
    false = {result.name: result.fit.false_answers.rate for result in comparison.results}
    for pair in comparison.pairs:
        rates = shares if pair.kind == "answerable" else false
        assert pair.test.mean == pytest.approx(rates[pair.a] - rates[pair.b])
    assert comparison.significance().shape == (len(comparison.pairs), 4)


def test_without_labels_it_says_what_to_do(brain, tmp_path):
    empty = open_workbench(tmp_path / "none.jsonl", settings=brain.settings)
    with pytest.raises(UsageError, match="04_label_questions"):
        compare_gates(empty)
    empty.close()
