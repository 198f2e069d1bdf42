"""A start for one's own evaluation: drafted questions about one's notes, and settings to compare."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from brainkit.brain import Brain
from brainkit.errors import UsageError
from brainkit.eval.config import load_config
from brainkit.eval.run import DRAFT, Progress, eval_home
from brainkit.labels import save
from brainkit.settings import Settings, default_gate

_SETTINGS = """\
# What `python -m brainkit.eval --settings {file}` compares, and what has to hold.

corpus = {corpus}
main = "{main}"      # the setting that the gates look at and the checks hold for
gate = "{gate}"
alpha = 0.1          # at most this share of unanswerable questions may be answered ...
delta = 0.1          # ... with confidence 1 - delta
gated = ["nDCG@10", "context"]   # of `main`; must not fall below baseline.json (write it with --update-baseline) ...
tolerance = 0.02     # ... by more than this, and significantly
slack = 0.02         # how far `main` may fall below the best other setting in nDCG@10

[settings]           # lists stand for every combination
dense = "dense(30)"
lexical = "lexical(30)"
convex = "hybrid(dense=30,lexical=30,fusion=convex,alpha=[0.3,0.5,0.7],docs=2)"
rrf = "hybrid(dense=30,lexical=30,fusion=rrf,k=[10,60],docs=2)"
{reranked}
"""


@dataclass(frozen=True)
class Started:
    """The files that were written, and the number of drafts."""

    settings: Path
    labels: Path
    drafts: int


def start(
    settings: Settings,
    corpus: Path,
    file: Path,
    write: Callable[[str], str] | None = None,
    progress: Progress | None = None,
) -> Started:
    """Import the corpus into its evaluation brain and write ``file`` and a questions.jsonl beside it.

    The questions are drafts, tagged ``synthetic``: they are kept out of checks and gates until a person has looked at
    them and taken the tag away.

    Args:
        settings: of the user.
        corpus: folder of notes.
        file: settings.toml to write.
        write: makes a question from a document's text, such as a language model.
        progress: told what is done.

    Raises:
        UsageError: one of the files is there already or cannot be written; there are no notes.
    """
    labels = file.with_name("questions.jsonl")
    for path in (file, labels):
        if path.exists():
            raise UsageError(f"{path} is there already; name another folder, such as --settings my-eval/settings.toml")
    if not corpus.exists():
        raise UsageError(f"{corpus}: no such folder or file")
    reranks = settings.embedder == "minilm"
    text = _SETTINGS.format(
        file=file,
        corpus=json.dumps(str(corpus.resolve()), ensure_ascii=False),
        main="hybrid" if reranks else "convex alpha=0.5",
        gate=default_gate(settings.embedder),
        reranked='hybrid = "hybrid(dense=30,lexical=30,fusion=convex,alpha=0.5,docs=2)+maxsim(10)"' if reranks else "",
    )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}") from error
    try:
        with Brain.open(eval_home(settings, load_config(file))) as brain:
            brain.import_paths([corpus], prune=True, progress=progress)
            drafts = [replace(one, tags=(DRAFT,)) for one in brain.drafts(write=write)]
        save(labels, drafts)
    except BaseException:
        file.unlink()
        raise
    return Started(file, labels, len(drafts))
