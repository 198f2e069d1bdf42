"""The report in Markdown: verdict, checks, settings, gates, broken, fixed and missed questions, cost, fingerprints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from brainkit.eval.comparison import Comparison
from brainkit.eval.config import METRICS
from brainkit.eval.outcome import Outcome, RankedQuestion
from brainkit.eval.selective import Figure
from brainkit.gate import Count
from brainkit.labels import Label

MISSED_SHOWN = 15
LATENCY = "Milliseconds a question: median of single recalls, the question's embedding and token vectors in memory."
FIGURES = (
    "How good the scores and the decisions are, with 95 % percentile bootstrap intervals over the questions. An answer "
    "is right if the notes hold it and a relevant document is given. AURC: mean share of wrong answers over all "
    "thresholds, E-AURC: what of it a better order would save (lower is better). No-answer F1: deflecting as a way to "
    "find what the notes do not answer. Truthfulness: +1 for a right answer or a right deflection, 0 for a missing, -1 "
    "for a wrong answer. Calibration error: of scores that are probabilities, at the labels' own mix. Wrong context: "
    "percent of the answered that were given no relevant document, with Clopper-Pearson interval."
)


def verdict(outcome: Outcome) -> str:
    """The evaluation in one sentence."""
    main = outcome.setting_result(outcome.main)
    fit = outcome.gate_result(outcome.gate).fit
    state = "All checks passed" if not outcome.failed else f"{outcome.failed} of {len(outcome.checks)} checks failed"
    if not outcome.judged:
        state = "Nothing is judged"
    hit = f"{main.metrics['hit@2']:.0%} of {main.questions} questions"
    finds = f"{outcome.main} puts the right note among the first two for {hit}"
    if not fit.feasible:
        return f"{state}: {finds}; too few unanswerable labels to certify the {outcome.gate} gate."
    return (
        f"{state}: {finds}; the {outcome.gate} gate answers {percent(fit.answered)} of them and "
        f"{percent(fit.false_answers)} of {fit.false_answers.n} questions the notes do not answer."
    )


def percent(count: Count) -> str:
    """A share as "12 %", or "-" when there was nothing to count."""
    return "-" if count.rate is None else f"{count.rate:.0%}"


def decimals(value: float | None) -> str:
    """Three decimals, or "-" where nothing could be told."""
    return "-" if value is None else f"{value:.3f}"


def with_interval(count: Count) -> str:
    """A share and its 95 % Clopper-Pearson interval, in percent: ``12 (5-23)``."""
    if count.rate is None:
        return "-"
    low, high = count.interval
    return f"{100 * count.rate:.0f} ({100 * low:.0f}-{100 * high:.0f})"


def settings_rows(outcome: Outcome) -> list[list[str]]:
    """Header and one row a retrieval setting."""
    return [
        ["setting", *METRICS, "ms/question"],
        *([s.name, *(f"{s.metrics[m]:.3f}" for m in METRICS), f"{s.milliseconds:.1f}"] for s in outcome.settings),
    ]


def gate_rows(outcome: Outcome, *, counts: bool) -> list[list[str]]:
    """Header and one row a gate, in percent; with ``counts`` each share shows how many of how many it is."""
    strata = sorted({name for gate in outcome.gates for name in gate.fit.strata}, key=_stratum_order)
    rows = [["gate", "AUROC", "answered", *(name.replace("_", " ") for name in strata)]]
    for gate in outcome.gates:
        shares = [gate.fit.answered, *(gate.fit.strata.get(name, Count(0, 0)) for name in strata)]
        cells = [with_interval(share) + (f" {share.x}/{share.n}" if counts else "") for share in shares]
        rows.append([gate.name, decimals(gate.auroc), *cells])
    return rows


def figure_rows(outcome: Outcome, *, intervals: bool) -> list[list[str]]:
    """Header and one row a gate: how good its scores and decisions are; AUROC only with ``intervals``."""
    gates = [(gate.name, gate.quality) for gate in outcome.gates if gate.quality]
    names = [one for one in (gates[0][1].figures if gates else ()) if intervals or one != "AUROC"]
    return [
        ["gate", *names, "wrong context"],
        *(
            [name, *(_figure(q.figures[one], intervals=intervals) for one in names), with_interval(q.wrong_context)]
            for name, q in gates
        ),
    ]


def _figure(figure: Figure, *, intervals: bool) -> str:
    """``0.123 (0.100, 0.150)``."""
    if figure.interval is None or not intervals:
        return decimals(figure.value)
    low, high = figure.interval
    return f"{decimals(figure.value)} ({low:.3f}, {high:.3f})"


def hardness_line(outcome: Outcome) -> str:
    """How hard the labels are, in a sentence."""
    h = outcome.hardness
    medians = ", ".join(f"{name} {value:.2f}" for name, value in h.median_cosine.items())
    return (
        f"How hard the labels are: words alone (BM25) reach nDCG@10 {h.lexical_ndcg:.3f}; the best cosine alone tells "
        f"answerable from not with AUROC {decimals(h.cosine_auroc)} (medians: {medians})."
    )


def threshold_line(outcome: Outcome) -> str:
    """The certified threshold and its promise."""
    c = outcome.certificate
    if c.threshold is None:
        return f"No certified threshold. {c.promise()}"
    return (
        f"Certified threshold of the {c.gate} gate: {c.threshold:.4f} (alpha {c.alpha:g}, delta {c.delta:g}, n {c.n}, "
        f"k {c.k}). {c.promise()}"
    )


def markdown(outcome: Outcome, labels: Sequence[Label], picture: str) -> str:
    """The whole report; ``picture`` is the file name of the histogram beside it."""
    c = outcome.corpus
    counts = ", ".join(f"{n} {name}" for name, n in outcome.labels.items())
    held = f"{c['documents']} documents, {c['chunks']} chunks, {c['redactions']} secrets kept out; labels: {counts}."
    how = (
        "Percent answered, with 95 % Clopper-Pearson interval and counts. Cross-fitted at "
        f"alpha {outcome.alpha:g}, delta {outcome.delta:g}: the threshold comes from one half of the unanswerable "
        "questions, the rates from the other half, and the same swapped. `answered` is of the answerable questions; "
        "the other columns are false answers."
    )
    parts = [
        "# Evaluation",
        verdict(outcome),
        *remarks(outcome),
        f"{held} {outcome.import_line[0].upper()}{outcome.import_line[1:]}.",
        "## Checks",
        "\n".join(
            f"- {'passed' if check.passed else '**failed**'}: {check.name}: {check.detail}" for check in outcome.checks
        ),
        "## Retrieval settings",
        _table(settings_rows(outcome)),
        "\n".join(f"- {s.name}: `{s.retrieval}`" for s in outcome.settings),
        hardness_line(outcome),
        "## Gates",
        how,
        _table(gate_rows(outcome, counts=True)),
        FIGURES,
        _table(figure_rows(outcome, intervals=True)),
        threshold_line(outcome),
        f"![Scores of the {outcome.gate} gate]({picture})",
        *([f"## Against {outcome.comparison.before}", compared(outcome.comparison)] if outcome.comparison else []),
        f"## Questions {outcome.main} misses",
        _missed(outcome, labels),
        "## Cost and latency",
        "\n".join(f"- {name}: {value:.1f} s" for name, value in outcome.seconds.items()),
        f"{outcome.judge_calls} calls of a language model. {LATENCY}",
        "## Fingerprints",
        "\n".join(f"- {name}: `{value}`" for name, value in outcome.fingerprint.items()),
        f"- notes: `{outcome.corpus_digest}`",
    ]
    return "\n\n".join(parts) + "\n"


def remarks(outcome: Outcome) -> list[str]:
    """What a reader must know beside the verdict, a sentence each."""
    found = [f"Interrupted: {outcome.interrupted}; run again with --resume."] if outcome.interrupted else []
    if outcome.filtered:
        found.append(f"Filtered: {len(outcome.questions)} questions; the certificate is not kept.")
    if outcome.drafts and not outcome.judged:
        found.append(f"All {outcome.drafts} labels are drafts that nobody has reviewed: nothing is judged by them.")
    elif outcome.drafts:
        found.append(f"{outcome.drafts} drafts that nobody has reviewed are left out.")
    return [*found, *(f"Warning: {one}" for one in outcome.warnings)]


def compared(comparison: Comparison) -> str:
    """A comparison as a list: metrics, what else differs, broken and fixed questions with why they are missed."""
    if not comparison.comparable:
        return "\n".join(f"- not comparable: {one}" for one in comparison.hindrances)
    lines = [f"- {one}" for one in (*comparison.metrics, *comparison.notes)]
    for what, changes in (("broken", comparison.broken), ("fixed", comparison.fixed)):
        lines.append(f"- {len(changes)} {what}{':' if changes else ''}")
        for one in changes:
            moved = ", ".join(f"{name} {value:.3f} -> {one.after[name]:.3f}" for name, value in one.before.items())
            lines.append(f"  - {one.label}: {moved}" + (f"; {one.remark}" if one.remark else ""))
    return "\n".join(lines)


def _missed(outcome: Outcome, labels: Sequence[Label]) -> str:
    by_id = {label.id: label for label in labels}
    ranks = {(row.label, row.setting): row.first_relevant for row in outcome.ranked}
    missed = sorted(
        (row for row in outcome.ranked if row.setting == outcome.main and not row.metrics["hit@2"]), key=_missed_order
    )
    lines = []
    for row in missed[:MISSED_SHOWN]:
        others = ", ".join(f"{s.name} {ranks[row.label, s.name] or 'not found'}" for s in outcome.settings)
        wanted = ", ".join(by_id[row.label].grades)
        why = f"; {row.missed}" if row.missed else ""
        lines.append(f'- {row.label} "{by_id[row.label].question}": {wanted} (rank: {others}){why}')
    rest = len(missed) - len(lines)
    return "\n".join([*lines, *([f"- and {rest} more in results.jsonl"] if rest > 0 else [])]) or "None."


def _missed_order(row: RankedQuestion) -> tuple[int, str]:
    return (-(row.first_relevant or 10_000), row.label)


def _stratum_order(name: str) -> tuple[int, str]:
    known = ("off_topic", "missing_note", "missing_detail", "false_premise")
    return (known.index(name) if name in known else len(known), name)


def _table(rows: Iterable[Sequence[str]]) -> str:
    head, *body = [list(row) for row in rows]
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
