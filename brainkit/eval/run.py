"""Run an evaluation: import the notes, ask every label under every setting, judge the gates, check what must hold."""

from __future__ import annotations

import hashlib
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from brainkit.brain import Brain
from brainkit.brain.parts import configured_gate
from brainkit.embedding.cache import cache_file
from brainkit.errors import BaselineError, LabelsError
from brainkit.eval.asking import DEPTH, digest_of
from brainkit.eval.checks import run_checks
from brainkit.eval.comparison import Comparison, Record, compare
from brainkit.eval.config import METRICS, EvalConfig
from brainkit.eval.crossfit import judge_gate
from brainkit.eval.executing import Stop, asker
from brainkit.eval.journal import Journal
from brainkit.eval.manifest import corpus_digest, manifest
from brainkit.eval.outcome import Hardness, Outcome, RankedQuestion, SettingResult
from brainkit.eval.records import read_record
from brainkit.eval.stats import auroc
from brainkit.gate import LabelledEvidence, certify
from brainkit.ingestion import ImportReport
from brainkit.labels import Label, check, load, scrubbed
from brainkit.scrub import Scrubber
from brainkit.settings import Settings

Progress = Callable[[str, int, int], None]
DRAFT = "synthetic"
"""Tag of a label that nobody has reviewed."""
TIMED = 30
"""Questions that recalls are timed on."""


def eval_home(settings: Settings, config: EvalConfig) -> Settings:
    """Settings of a brain of its own for this corpus, so that an evaluation never touches the user's notes."""
    place = str(config.corpus.resolve())
    name = f"{config.corpus.resolve().name}-{hashlib.sha256(place.encode()).hexdigest()[:8]}"
    values = {
        "home": settings.home / "eval" / name,
        "vector_cache": cache_file(settings) or "off",  # what the user's brain embedded is not embedded again
        "database_url": None,  # the user's notes are there
        "retrieval": str(config.settings[config.main]),
        "gate": config.gate,
        "import_extensions": tuple(dict.fromkeys((*settings.import_extensions, *config.extensions))),
    }
    return settings.model_copy(update=values)


def load_labels(settings: Settings, config: EvalConfig) -> list[Label]:
    """The labelled questions as reports may show them: without secrets.

    Raises:
        LabelsError: the file cannot be read or is wrong.
    """
    scrubber = Scrubber(email=settings.scrub_email, rules=settings.scrub_rules)
    return [Label.from_dict(scrubbed(label, scrubber), str(config.labels)) for label in load(config.labels)]


def run(
    settings: Settings,
    config: EvalConfig,
    progress: Progress | None = None,
    *,
    journal: Journal | None = None,
    only: str = "",
    jobs: int = 1,
    executor: str = "",
    stop: Stop | None = None,
) -> Outcome:
    """Evaluate; the brain is made under ``settings.home`` on the first run and kept.

    Args:
        settings: of the user; the evaluation's brain is another one.
        config: what to evaluate.
        progress: told what is done.
        journal: keeps each question's results, and knows those of a run that did not end.
        only: of the labels those whose id, kind or tag fits this pattern, such as ``net-*``.
        jobs: questions that are asked at the same time.
        executor: ``dask://HOST:PORT`` of a cluster that asks them instead.
        stop: asked before each question; what was asked until then is evaluated.

    Raises:
        LabelsError: the labels do not fit the corpus, or none is answerable; the message lists the first faults.
        UsageError: the corpus is not there; the baseline cannot be read.
        SettingsError: a gate to compare needs a language model, and none is set.
        LLMUnavailableError: that model does not answer.
    """
    before = read_record(config.baseline) if config.baseline else None
    labels, drafts = chosen_labels(load_labels(settings, config), only, str(config.labels))
    for name in config.gates:
        configured_gate(name, settings.embedder, settings)
    started = time.perf_counter()
    here = eval_home(settings, config)
    with Brain.open(here) as brain:
        opened = time.perf_counter()
        report = brain.import_paths([config.corpus], prune=True, progress=progress)
        imported = time.perf_counter()
        if problems := check(labels, brain.document_texts()):
            listed = "\n".join(f"  {problem.id}: {problem.message}" for problem in problems[:10])
            raise LabelsError(f"{config.labels}: {len(problems)} faults, the first:\n{listed}")
        corpus = corpus_digest(config.corpus)
        known = journal.begin(manifest(brain, config, corpus)) if journal else {}
        known = {key: one for key, one in known.items() if key in {label.id for label in labels}}
        wanted = [one for one in labels if one.id not in known or known[one.id].digest != digest_of(one)]
        with asker(brain, config, jobs=jobs, executor=executor) as asked_by:
            for number, one in enumerate(asked_by(wanted, stop), len(labels) - len(wanted) + 1):
                known[one.label] = one
                if journal:
                    journal.add(one)
                if progress:
                    progress("ask", number, len(labels))
        asked = [label for label in labels if label.id in known]
        interrupted = "" if len(asked) == len(labels) else f"asked {len(asked)} of {len(labels)} questions"
        if not any(label.answerable for label in asked):
            raise KeyboardInterrupt
        ranked = [row for label in asked for row in known[label.id].ranked]
        labelled = [item for label in asked for item in known[label.id].evidence]
        times = {} if interrupted else milliseconds(brain, asked, config)
        results = [_mean(name, str(way), ranked, times.get(name, 0.0)) for name, way in config.settings.items()]
        astray = {row.label for row in ranked if row.in_context is False}
        gates = [judge_gate(name, asked, labelled, brain.settings.embedder, config, astray) for name in config.gates]
        unreviewed = drafts == len(labels)
        certificate = certify(
            brain.gate, labelled, alpha=config.alpha, delta=config.delta, fingerprint=brain.fingerprint(),
            corpus=brain.corpus(), basis="drafted questions" if unreviewed else "labels",
        )  # fmt: skip
        if certificate.feasible and not (interrupted or only or unreviewed):
            brain.keep_certificate(certificate)
        finished = time.perf_counter()
        outcome = Outcome(
            corpus=brain.counts(),
            labels=_count(asked),
            settings=results,
            gates=gates,
            certificate=certificate,
            hardness=_hardness(labelled, results),
            checks=(),
            ranked=ranked,
            main=config.main,
            gate=config.gate,
            alpha=config.alpha,
            delta=config.delta,
            fingerprint=brain.fingerprint(),
            import_line=_import_line(report),
            imported=bool(report.changed or report.embedded),
            complete=report.complete,
            judge_calls=brain.judge_calls,
            seconds={"open": opened - started, "import": imported - opened, "ask": finished - imported},
            corpus_digest=corpus,
            questions=asked,
            interrupted=interrupted,
            filtered=bool(only),
            drafts=drafts,
        )
        comparison = against(before, outcome, config) if before and not unreviewed else None
        checks = run_checks(
            config, report, results, gates, ranked, asked, certificate, brain.find_texts, comparison, drafts=unreviewed
        )
        return replace(outcome, checks=checks, comparison=comparison)


def chosen_labels(labels: Sequence[Label], only: str, where: str) -> tuple[list[Label], int]:
    """The labels to ask, and how many drafts there are; drafts are asked only where there is nothing else.

    Raises:
        LabelsError: none of them is answerable.
    """
    reviewed = [label for label in labels if DRAFT not in label.tags]
    drafts = len(labels) - len(reviewed)
    some = reviewed if any(label.answerable for label in reviewed) else list(labels)
    fitting = [label for label in some if not only or any(fnmatchcase(name, only) for name in _names(label))]
    if only and not fitting:
        raise LabelsError(f"{where}: no id, kind or tag fits the filter {only!r}")
    if not any(label.answerable for label in fitting):
        raise LabelsError(f"{where}: holds no answerable question, so there is nothing to find")
    return fitting, len(fitting) if some is not reviewed and drafts else drafts


def against(before: Record, outcome: Outcome, config: EvalConfig) -> Comparison:
    """The comparison with the baseline; not of other notes, another model or other questions."""
    after = outcome.record()
    hindrances = [
        f"{before.name} was made with {what}; make it anew with --update-baseline, or use --baseline off"
        for what, same in (
            (f"another embedding model ({before.model[:12]}, now {after.model[:12]})", before.model == after.model),
            ("other notes", before.corpus == after.corpus),
        )
        if not same
    ]
    if not hindrances:
        partial = bool(outcome.interrupted) or outcome.filtered
        try:
            return compare(before, after, gated=config.gated, tolerance=config.tolerance, subset=partial)
        except BaselineError as error:
            hindrances = [f"{error}; make it anew with --update-baseline, or use --baseline off"]
    return Comparison(before.name, after.name, hindrances=tuple(hindrances))


def milliseconds(brain: Brain, labels: Sequence[Label], config: EvalConfig) -> dict[str, float]:
    """Median milliseconds of whole recalls by setting, one by one, on up to 30 questions of the set, fewer of many."""
    asked = [label.question for label in labels if label.answerable]
    count = min(len(asked), max(1, min(TIMED, 5 * TIMED // len(config.settings))))
    sample = [asked[place * len(asked) // count] for place in range(count)]
    return {
        name: statistics.median(brain.recall(one, k=DEPTH, retrieval=retrieval).latency_ms for one in sample)
        for name, retrieval in config.settings.items()
    }


def _names(label: Label) -> list[str]:
    return [label.id, label.kind, *label.tags]


def _mean(name: str, retrieval: str, ranked: Sequence[RankedQuestion], milliseconds: float) -> SettingResult:
    rows = [row for row in ranked if row.setting == name]
    means = {metric: statistics.fmean(row.metrics[metric] for row in rows) for metric in METRICS}
    return SettingResult(name, retrieval, means, len(rows), milliseconds)


def _count(labels: Sequence[Label]) -> dict[str, int]:
    strata = Counter(label.stratum for label in labels if not label.answerable)
    return {"answerable": sum(label.answerable for label in labels), **dict(sorted(strata.items()))}


def _hardness(labelled: Sequence[LabelledEvidence], results: Sequence[SettingResult]) -> Hardness:
    cosines: defaultdict[str, list[float]] = defaultdict(list)
    for item in labelled:
        if not item.hidden:
            cosines[item.stratum or "answerable"].append(item.evidence.best_cosine)
    yes = cosines.get("answerable", [])
    no = [value for name, values in cosines.items() if name != "answerable" for value in values]
    lexical = [s for s in results if s.retrieval.startswith("lexical")]
    return Hardness(
        lexical_ndcg=lexical[0].metrics["nDCG@10"] if lexical else 0.0,
        cosine_auroc=auroc(yes, no),
        median_cosine={name: float(np.median(values)) for name, values in sorted(cosines.items())},
    )


def _import_line(report: ImportReport) -> str:
    if not report.changed and not report.embedded:
        return f"nothing to import: all {len(report.unchanged)} documents are unchanged"
    return f"imported: {report}"
