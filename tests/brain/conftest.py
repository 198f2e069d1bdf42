"""Thirty notes about things, and a label about each."""

import pytest

THINGS = (
    "piano", "lawnmower", "aquarium", "telescope", "motorcycle", "trampoline", "microscope", "accordion", "hammock",
    "greenhouse", "snowboard", "typewriter", "barometer", "chandelier", "wheelbarrow", "saxophone", "dishwasher",
    "beehive", "tractor", "fireplace", "sailboat", "drone", "chessboard", "turntable", "printer", "bicycle",
    "freezer", "kayak", "tent", "violin",
)  # fmt: skip


@pytest.fixture
def things(tmp_path):
    """A folder ``things`` with a note on each."""
    folder = tmp_path / "things"
    folder.mkdir()
    for number, thing in enumerate(THINGS):
        text = f"# {thing.title()}\n\nThe {thing} cost {100 + number} euro. It stands in room {number} of the house.\n"
        (folder / f"{thing}.md").write_text(text, "utf-8")
    return folder


@pytest.fixture
def labels():
    """An answerable label about each thing, as dicts."""
    return [
        {
            "id": thing,
            "question": f"What did the {thing} cost?",
            "answerable": True,
            "relevant": [{"doc": f"{thing}.md"}],
        }
        for thing in THINGS
    ]
