"""From scores to a certificate: threshold, counts, which strata are covered, all by hand."""

import math

import pytest

from brainkit.errors import UsageError
from brainkit.gate import Interval, LabelledEvidence, certify, clopper_pearson, make_gate
from brainkit.retrieval import Evidence

GATE = make_gate("cosine", "minilm")


def asked(stratum, *cosines, hidden=False):
    return [LabelledEvidence(f"{stratum}{i}", stratum, Evidence(best_cosine=c), hidden) for i, c in enumerate(cosines)]


def made(labelled, alpha=0.1, delta=0.1, **more):
    return certify(GATE, labelled, alpha=alpha, delta=delta, fingerprint={"gate": "cosine"}, **more)


def hundredths(n):
    return [i / 100 for i in range(n)]


def test_threshold_is_just_above_the_second_largest_of_38_missing_notes():
    # 38 labels at .1 / .1 tolerate one false answer (Wilks), so the threshold lies above the second largest, .36.
    found = made(asked("missing_note", *hundredths(38)) + asked("", 0.2, 0.36, 0.37, 0.9))
    assert found.threshold == math.nextafter(0.36, 1)
    assert (found.n, found.k, found.needed) == (38, 1, 22)
    assert (found.answerable, found.answered) == (4, 2)
    assert found.gate == "cosine"
    assert found.feasible
    rate = found.strata["missing_note"]
    assert (rate.n, rate.answered, rate.covered, rate.missing) == (38, 1, True, 0)
    assert Interval(rate.low, rate.high) == clopper_pearson(1, 38)
    assert found.fingerprint == {"gate": "cosine"}


def test_other_strata_do_not_move_the_threshold_and_are_tested_at_it():
    labelled = asked("missing_note", *hundredths(22))  # threshold just above .21
    labelled += asked("off_topic", *[0.1] * 22)  # 0 of 22: covered
    labelled += asked("false_premise", *[0.1] * 10)  # 0 of 10: twelve more could cover it
    labelled += asked("missing_detail", *[0.5] * 8, *[0.1] * 12)  # 8 of 20: no number of labels would
    found = made(labelled)
    assert found.threshold == math.nextafter(0.21, 1)
    assert found.covers == ("missing_note", "off_topic")
    assert {name: (r.n, r.answered, r.covered, r.missing) for name, r in found.strata.items()} == {
        "false_premise": (10, 0, False, 12),
        "missing_detail": (20, 8, False, 0),
        "missing_note": (22, 0, True, 0),
        "off_topic": (22, 0, True, 0),
    }


def test_one_false_answer_of_many_needs_the_labels_of_the_tables():
    # At 1 of 30, 38 labels (one tolerated) would bring 1.27 false answers, 52 (two tolerated) bring 1.73.
    labelled = asked("missing_note", *hundredths(22)) + asked("off_topic", 0.9, *[0.0] * 29)
    rate = made(labelled).strata["off_topic"]
    assert (rate.answered, rate.covered, rate.missing) == (1, False, 52 - 30)


def test_hidden_and_written_missing_notes_count_alike():
    found = made(asked("missing_note", *hundredths(12)) + asked("missing_note", *hundredths(12), hidden=True))
    assert (found.n, found.feasible, list(found.strata)) == (24, True, ["missing_note"])


def test_too_few_labels_give_no_threshold_and_cover_nothing():
    found = made(asked("missing_note", *hundredths(21)) + asked("off_topic", *[0.0] * 50) + asked("", 0.9))
    assert (found.feasible, found.threshold, found.k, found.covers) == (False, None, -1, ())
    assert (found.answerable, found.answered) == (1, 0)
    assert {name: (r.answered, r.missing) for name, r in found.strata.items()} == {
        "missing_note": (0, 1), "off_topic": (0, 0),
    }  # fmt: skip


def test_without_any_label_nothing_is_certified():
    found = made([])
    assert (found.n, found.answerable, found.feasible, dict(found.strata)) == (0, 0, False, {})
    assert "22 more would do" in found.promise()


def test_without_missing_notes_the_promise_is_of_the_mixture():
    labelled = asked("off_topic", *hundredths(30)) + asked("false_premise", *[0.5] * 8)
    found = made(labelled)
    assert (found.n, found.k, found.threshold) == (38, 1, math.nextafter(0.5, 1))
    assert found.covers == ()  # the threshold was set on both together: neither test by itself keeps its level
    assert found.promise().startswith(
        "Of unanswerable questions like those labelled, all together, at most 10% get an answer, with 90% confidence;"
    )
    assert "false_premise" not in found.promise()
    assert "; things that are not so are not covered by themselves (0 of 8 were answered);" in found.promise()


def test_a_single_other_stratum_is_certified_as_itself():
    found = made(asked("off_topic", *hundredths(22)))
    assert found.covers == ("off_topic",)
    assert found.promise().startswith(
        "Of questions about things far from your notes, at most 10% get an answer, with 90% confidence;"
    )


def test_jointly_the_strictest_stratum_sets_the_threshold_and_all_are_covered():
    labelled = asked("missing_note", *hundredths(22))  # by itself: just above .21
    labelled += asked("missing_detail", *[c + 0.4 for c in hundredths(38)])  # above the second largest, .76
    labelled += asked("off_topic", *[0.1] * 22) + asked("", 0.5, 0.8)
    found = made(labelled, joint=True)
    assert (found.threshold, found.n, found.k) == (math.nextafter(0.76, 1), 38, 1)
    assert found.covers == ("missing_detail", "missing_note", "off_topic")
    assert {name: r.answered for name, r in found.strata.items()} == {
        "missing_detail": 1, "missing_note": 0, "off_topic": 0,
    }  # fmt: skip
    assert (found.answered, found.joint) == (1, True)


def test_jointly_one_stratum_with_too_few_labels_is_enough_to_certify_nothing():
    found = made(asked("missing_note", *hundredths(60)) + asked("off_topic", 0.1, 0.2), joint=True)
    assert (found.feasible, found.n, found.covers) == (False, 2, ())
    assert {name: r.missing for name, r in found.strata.items()} == {"missing_note": 0, "off_topic": 20}
    assert not made([], joint=True).feasible


def test_an_estimate_covers_nothing():
    found = made(asked("missing_note", *hundredths(38), hidden=True), basis="38 drafted questions")
    assert (found.threshold, found.certified, found.covers) == (math.nextafter(0.36, 1), False, ())


def test_the_certificate_keeps_who_passed_and_a_sample_of_the_scores():
    labelled = asked("missing_note", *hundredths(22)) + asked("off_topic", 0.9, *[0.0] * 29)
    labelled += asked("missing_note", 0.15, hidden=True) + asked("", *[i / 1000 for i in range(1000)])
    found = made(labelled)
    assert found.passed == ("off_topic0",)  # a hidden form is no label to look after
    assert len(found.answerable_scores) == 200
    assert (found.answerable_scores[0], found.answerable_scores[-1]) == (0.0, 0.999)
    gaps = {round(b - a, 3) for a, b in zip(found.answerable_scores, found.answerable_scores[1:], strict=False)}
    assert gaps <= {0.005, 0.006}
    assert found.unanswerable_scores == tuple(sorted([*hundredths(22), 0.9, *[0.0] * 29, 0.15]))


def test_levels_out_of_range_are_refused():
    with pytest.raises(UsageError, match="alpha = 1"):
        made(asked("missing_note", *hundredths(38)), alpha=1.0)
    with pytest.raises(UsageError, match="delta = 0"):
        made(asked("missing_note", *hundredths(38)), delta=0.0)
