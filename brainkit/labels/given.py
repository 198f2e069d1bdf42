"""Labels as people hand them in: a file, or objects; and without their secrets, as they are stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from brainkit.errors import LabelsError
from brainkit.labels.jsonl import load
from brainkit.labels.model import Label
from brainkit.scrub import Scrubber


def given_labels(
    labels: Path | str | Iterable[Mapping[str, Any] | Label] | None, documents: Collection[str]
) -> list[Label]:
    """The labels of a file, of dicts as in it, or none.

    Args:
        labels: what was handed in.
        documents: the names labels may use.

    Raises:
        LabelsError: the file cannot be read, a label is wrong, or it names another document.
    """
    if labels is None:
        return []
    if isinstance(labels, (str, Path)):
        given = load(Path(labels))
    else:
        given = [
            item if isinstance(item, Label) else Label.from_dict(item, f"labels[{number}]")
            for number, item in enumerate(labels)
        ]
    for label in given:
        for item in label.relevant:
            if item.doc not in documents:
                raise LabelsError(f"label {label.id!r}: no document {item.doc!r} in the brain; import it first")
    return given


def scrubbed(label: Label, scrubber: Scrubber) -> dict[str, Any]:
    """A label as it is stored: every text in it without secrets."""
    data = label.to_dict()
    for key in ("question", "reference", "source"):
        data[key] = scrubber.scrub(data[key]).text
    data["tags"] = [scrubber.scrub(tag).text for tag in data["tags"]]
    for item in data["relevant"]:
        item["quote"] = scrubber.scrub(item["quote"]).text
    return data
