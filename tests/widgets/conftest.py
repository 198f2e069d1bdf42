"""A small brain with labelled questions, as the notebooks open it."""

import json

import pytest

from brainkit.widgets import open_workbench

NOTES = {
    "ups.md": "# UPS\n\nThe cellar's Eaton got a new battery RBC7 on 12 March 2024.\n",
    "dns.md": "# DNS\n\nAdGuard runs on eule and listens on port 53. The upstream is unbound on port 5335.\n",
    "backup.md": "# Backups\n\nrestic runs every night at 02:40 and keeps 14 daily snapshots.\n",
    "bread.md": "# Sourdough\n\nThe loaf bakes 45 minutes at 240 degrees.\n",
    "bike.md": "# Gravel bike\n\nThe tyres are 40 mm wide and run at 2.8 bar.\n",
}
ASKED = {
    "ups.md": ["When did the Eaton get a new battery?", "Which battery does the UPS take?", "Eaton battery"],
    "dns.md": ["Where does AdGuard run?", "On which port is unbound?", "Which port does AdGuard listen on?"],
    "backup.md": ["When does restic run?", "How many daily snapshots are kept?", "What runs every night?"],
    "bread.md": ["How long does the loaf bake?", "How hot is the oven for the loaf?", "Sourdough minutes"],
    "bike.md": ["How wide are the tyres?", "What pressure do the tyres run at?", "Gravel bike tyres"],
}
OFF = ["Who won the world cup in 1990?", "How do I knit a scarf?", "What is the capital of Peru?", "Eiffel tower?"]


@pytest.fixture
def brain(open_brain, tmp_path):
    brain = open_brain()
    for name, text in NOTES.items():
        (tmp_path / "notes").mkdir(exist_ok=True)
        (tmp_path / "notes" / name).write_text(text, "utf-8")
    brain.import_paths([tmp_path / "notes"])
    return brain


@pytest.fixture
def labels_file(tmp_path):
    rows = [
        {"id": f"{doc}{n}", "question": question, "answerable": True, "relevant": [{"doc": doc}]}
        for doc, questions in ASKED.items()
        for n, question in enumerate(questions)
    ] + [{"id": f"o{n}", "question": text, "answerable": False, "kind": "off_topic"} for n, text in enumerate(OFF)]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def bench(brain, labels_file):
    opened = open_workbench(labels_file, settings=brain.settings)
    yield opened
    opened.close()
