"""Labels as people hand them in: a file, or objects; and without their secrets, as they are stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from brainkit.labels.jsonl import load
from brainkit.labels.model import Label
from brainkit.scrub import Scrubber


def given_labels(labels: Path | str | Iterable[Mapping[str, Any] | Label] | None) -> list[Label]:
    """The labels of a file, of dicts as in it, or none.

    Raises:
        LabelsError: the file cannot be read, or a label is wrong.
    """
    if labels is None:
        return []
    if isinstance(labels, (str, Path)):
        return load(Path(labels))
    return [
        item if isinstance(item, Label) else Label.from_dict(item, f"labels[{number}]")
        for number, item in enumerate(labels)
    ]


def scrubbed(label: Label, scrubber: Scrubber) -> dict[str, Any]:
    """A label as it is stored: every text in it without secrets."""
    data = label.to_dict()
    for key in ("question", "reference", "source"):
        data[key] = scrubber.scrub(data[key]).text
    data["tags"] = [scrubber.scrub(tag).text for tag in data["tags"]]
    for item in data["relevant"]:
        item["quote"] = scrubber.scrub(item["quote"]).text
    return data
