"""Questions asked by the workers of a Dask cluster, for grids that outgrow one machine.

Every worker opens the evaluation's brain as it finds it: on the machine of the one who asks it is the same; on another
it is made from the same notes, which must lie at the same path there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from brainkit.brain import Brain
from brainkit.errors import UsageError
from brainkit.eval.asking import Asked, ask
from brainkit.eval.config import EvalConfig
from brainkit.labels import Label
from brainkit.settings import Settings

if TYPE_CHECKING:
    from brainkit.eval.executing import AskAll, Stop

CHUNK = 8
"""Questions a worker gets at a time."""
_CONNECT_SECONDS = 10


@contextlib.contextmanager
def asking_cluster(address: str, settings: Settings, config: EvalConfig) -> Iterator[AskAll]:
    """What asks labels on the cluster and gives what they gave, in their order.

    Raises:
        UsageError: ``distributed`` is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError("a Dask executor needs another package: pip install 'brainkit[dask]'") from error
    try:
        connect: Any = Client  # which has no types
        client = connect(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:

        def ask_all(labels: Sequence[Label], stop: Stop | None) -> Iterator[Asked]:
            parts = [list(labels[start : start + CHUNK]) for start in range(0, len(labels), CHUNK)]
            futures = [client.submit(ask_some, settings, config, part, pure=False) for part in parts]
            try:
                for future in futures:
                    if stop and stop.asked():
                        return
                    for data in future.result():
                        yield Asked.from_dict(data)
            finally:
                client.cancel(futures)

        yield ask_all


def ask_some(settings: Settings, config: EvalConfig, labels: Sequence[Label]) -> list[dict[str, Any]]:
    """On a worker: ask these labels; the notes are imported first where that was not done."""
    with Brain.open(settings) as brain:
        if not brain.counts()["documents"]:
            brain.import_paths([config.corpus], prune=True)
        return [ask(brain, label, config).to_dict() for label in labels]
