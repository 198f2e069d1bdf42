"""Run an evaluation: import the notes, ask every label under every setting, judge the gates, check what must hold."""

from __future__ import annotations

import hashlib
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from brainkit.brain import Brain
from brainkit.brain.parts import configured_gate
from brainkit.embedding.cache import cache_file
from brainkit.errors import LabelsError
from brainkit.eval.checks import run_checks
from brainkit.eval.config import METRICS, EvalConfig
from brainkit.eval.crossfit import judge_gate
from brainkit.eval.metrics import parse_metric
from brainkit.eval.outcome import Hardness, Outcome, RankedQuestion, SettingResult
from brainkit.eval.stats import auroc
from brainkit.gate import LabelledEvidence, certify, gather
from brainkit.gate.judging import JudgedEvidence
from brainkit.gate.sufficiency import SUFFICIENCY
from brainkit.ingestion import ImportReport
from brainkit.labels import Label, check, load, scrubbed
from brainkit.retrieval import Recall, RetrievalSettings, context_documents
from brainkit.scrub import Scrubber
from brainkit.settings import Settings

Progress = Callable[[str, int, int], None]
DEPTH = 10


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


def run(settings: Settings, config: EvalConfig, progress: Progress | None = None) -> Outcome:
    """Evaluate; the brain is made under ``settings.home`` on the first run and kept.

    Raises:
        LabelsError: the labels do not fit the corpus, or none is answerable; the message lists the first faults.
        UsageError: the corpus is not there.
        SettingsError: a gate to compare needs a language model, and none is set.
        LLMUnavailableError: that model does not answer.
    """
    labels = load_labels(settings, config)
    if not any(label.answerable for label in labels):
        raise LabelsError(f"{config.labels}: holds no answerable question, so there is nothing to find")
    for name in config.gates:
        configured_gate(name, settings.embedder, settings)
    started = time.perf_counter()
    with Brain.open(eval_home(settings, config)) as brain:
        opened = time.perf_counter()
        report = brain.import_paths([config.corpus], prune=True, progress=progress)
        imported = time.perf_counter()
        texts = brain.document_texts()
        if problems := check(labels, texts):
            listed = "\n".join(f"  {problem.id}: {problem.message}" for problem in problems[:10])
            raise LabelsError(f"{config.labels}: {len(problems)} faults, the first:\n{listed}")
        ranked = _rank(brain, labels, config, progress)
        results = [_mean(name, str(retrieval), ranked) for name, retrieval in config.settings.items()]
        labelled = gather(labels, brain.evidence, progress)
        if SUFFICIENCY in config.gates:
            _judge(labelled if config.gate == SUFFICIENCY else [one for one in labelled if not one.hidden], progress)
        astray = {row.label for row in ranked if row.in_context is False}
        gates = [judge_gate(name, labels, labelled, brain.settings.embedder, config, astray) for name in config.gates]
        certificate = certify(
            brain.gate, labelled, alpha=config.alpha, delta=config.delta, fingerprint=brain.fingerprint(),
            corpus=brain.corpus(),
        )  # fmt: skip
        if certificate.feasible:
            brain.keep_certificate(certificate)
        finished = time.perf_counter()
        return Outcome(
            corpus=brain.counts(),
            labels=_count(labels),
            settings=results,
            gates=gates,
            certificate=certificate,
            hardness=_hardness(labelled, results),
            checks=run_checks(config, report, results, gates, ranked, labels, certificate, brain.find_texts),
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
        )


def _rank(brain: Brain, labels: Sequence[Label], config: EvalConfig, progress: Progress | None) -> list[RankedQuestion]:
    """Every answerable question under every setting."""
    asked = [label for label in labels if label.answerable]
    metrics = [parse_metric(name) for name in METRICS]
    found = []
    for number, label in enumerate(asked, 1):
        for name, retrieval in config.settings.items():
            recall = brain.recall(label.question, k=DEPTH, retrieval=retrieval)
            paths = [_name(document.path, document.source, label.grades) for document in recall.documents]
            hits = [place for place, path in enumerate(paths, 1) if path in label.grades]
            values = {str(metric): metric(paths, label.grades) for metric in metrics}
            given = _relevant_given(recall, label.grades) if name == config.main else None
            found.append(
                RankedQuestion(
                    label.id, name, values, hits[0] if hits else 0, tuple(paths[:DEPTH]), recall.latency_ms, given
                )
            )
        if progress:
            progress("ask", number, len(asked))
    return found


def _judge(labelled: Sequence[LabelledEvidence], progress: Progress | None) -> None:
    """Have the language model read the notes of each question, which takes a while."""
    for number, item in enumerate(labelled, 1):
        if isinstance(item.evidence, JudgedEvidence):
            item.evidence.sufficiency  # noqa: B018 - kept in the evidence
        if progress:
            progress("judge", number, len(labelled))


def _relevant_given(recall: Recall, grades: Mapping[str, int]) -> bool:
    """Whether a relevant document, or a near-copy of one, is among those an answer is given."""
    given = context_documents(recall, RetrievalSettings.parse(recall.settings).docs)
    return any(_name(one.path, one.source, grades) in grades for first, also in given for one in (first, *also))


def _name(path: str, source: str, grades: Mapping[str, int]) -> str:
    full = f"{source}:{path}"
    return full if full in grades else path


def _mean(name: str, retrieval: str, ranked: Sequence[RankedQuestion]) -> SettingResult:
    rows = [row for row in ranked if row.setting == name]
    means = {metric: statistics.fmean(row.metrics[metric] for row in rows) for metric in METRICS}
    return SettingResult(name, retrieval, means, len(rows), statistics.median(row.milliseconds for row in rows))


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
