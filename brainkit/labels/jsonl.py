"""Labels on disk: ``questions.jsonl``, one object a line, sorted by id so that a diff shows what changed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from brainkit.errors import LabelsError
from brainkit.labels.model import Label

if TYPE_CHECKING:
    from collections.abc import Iterable


def load(path: str | os.PathLike[str]) -> list[Label]:
    """The labels of a file in its own order; blank lines are skipped, an id that occurs twice is left to ``check``.

    Raises:
        LabelsError: the file cannot be read, a line is no JSON object or a field has the wrong form; names the line.
    """
    path = Path(path)
    try:
        raw = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise LabelsError(f"labels file {path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    labels = []
    # Not splitlines(): U+2028 and its like stand unescaped inside JSON strings.
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{path.name}:{number}"
        try:
            data = json.loads(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise LabelsError(f"{where}: byte {error.start + 1} is not UTF-8; save the file as UTF-8") from None
        except (ValueError, RecursionError) as error:
            raise LabelsError(f"{where}: not JSON ({error}); each line is one whole object") from None
        labels.append(Label.from_dict(data, where))
    return labels


def save(path: str | os.PathLike[str], labels: Iterable[Label]) -> None:
    """Write the labels sorted by id, in UTF-8, all or nothing: a crash leaves the old file.

    Raises:
        LabelsError: the file cannot be written.
    """
    target = Path(path).resolve()  # a symbolic link stays one
    lines = [json.dumps(label.to_dict(), ensure_ascii=False) + "\n" for label in sorted(labels, key=lambda x: x.id)]
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise LabelsError(f"labels file {target} cannot be written: {error.strerror or error}") from None


def merge(old: Iterable[Label], new: Iterable[Label]) -> list[Label]:
    """Both sets in one, sorted by id; where an id is in both (or twice in one) the last one stays."""
    by_id = {label.id: label for labels in (old, new) for label in labels}
    return [by_id[key] for key in sorted(by_id)]
