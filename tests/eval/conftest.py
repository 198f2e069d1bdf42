"""A small evaluation: ten notes of an invented household, forty labelled questions, one planted secret."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from brainkit import Brain, Settings
from brainkit.eval.command import app
from brainkit.eval.config import load_config
from brainkit.eval.run import eval_home

NOTES = {
    "ups.md": "# UPS\n\nThe cellar's Eaton got a new battery RBC7 on 12 March 2024. It feeds amsel and a switch.\n",
    "dns.md": "# DNS\n\nAdGuard runs on eule and listens on port 53. The upstream is unbound on port 5335.\n",
    "backup.md": "# Backups\n\nrestic runs every night at 02:40 and keeps 14 daily snapshots. The drill is in May.\n",
    "zigbee.md": "# Zigbee\n\nThe coordinator moved to channel 25 in 2024, because the neighbours were louder.\n",
    "bread.md": "# Sourdough\n\nHeinrich is fed with 50 g of rye flour. The loaf bakes 45 minutes at 240 degrees.\n",
    "bike.md": "# Gravel bike\n\nThe tyres are 40 mm wide and run at 2.8 bar. The chain was changed at 4200 km.\n",
    "heizung.md": "# Heizung\n\nDie Heizkurve der Wärmepumpe steht auf 0,4. Die Wartung macht die Firma Nordfrost.\n",
    "deploy/paperless.yaml": "services:\n  paperless:\n    image: paperless-ngx:2.14\n    ports:\n      - 8971:8000\n",
    "deploy/plan.json": '{"vlans": {"iot": 30, "guests": 40}, "gateway": "10.40.0.1"}\n',
    "norway.txt": "Norway: the ferry from Kiel costs 312 euro, the cabin at the fjord was booked for nine nights.\n",
}
ANSWERABLE = [
    ("ups.md", "When did the Eaton get a new battery?", "12 March 2024"),
    ("ups.md", "Which battery does the UPS in the cellar take?", "RBC7"),
    ("ups.md", "What is fed by the Eaton?", "amsel and a switch"),
    ("dns.md", "Where does AdGuard run?", "eule"),
    ("dns.md", "On which port is unbound?", "5335"),
    ("dns.md", "Which port does AdGuard listen on?", "port 53"),
    ("backup.md", "At what time does restic run?", "02:40"),
    ("backup.md", "How many daily snapshots are kept?", "14 daily"),
    ("backup.md", "When is the drill?", "May"),
    ("zigbee.md", "Which channel is the coordinator on?", "channel 25"),
    ("zigbee.md", "Why was the Zigbee channel moved?", "neighbours"),
    ("bread.md", "How long does the loaf bake?", "45 minutes"),
    ("bread.md", "What is Heinrich fed with?", "rye flour"),
    ("bread.md", "How hot is the oven for bread?", "240 degrees"),
    ("bike.md", "How wide are the tyres of the gravel bike?", "40 mm"),
    ("bike.md", "At how many km was the chain changed?", "4200 km"),
    ("bike.md", "What pressure do the tyres run at?", "2.8 bar"),
    ("heizung.md", "Auf welchem Wert steht die Heizkurve?", "0,4"),
    ("heizung.md", "Welche Firma macht die Wartung der Wärmepumpe?", "Nordfrost"),
    ("deploy/paperless.yaml", "Which image does paperless run?", "2.14"),
    ("deploy/paperless.yaml", "On which port is paperless published?", "8971"),
    ("deploy/plan.json", "Which VLAN do guests get?", ""),
    ("norway.txt", "What does the ferry from Kiel cost?", "312 euro"),
    ("norway.txt", "How many nights was the cabin at the fjord booked?", "nine nights"),
]
UNANSWERABLE = {
    "off_topic": """Who won the world cup in 1990? / How do I knit a scarf? / What is the capital of Peru? /
        How tall is the Eiffel tower?""",
    "missing_note": """How is Traefik configured? / Which disks are in the NAS? / When was the car serviced? /
        How is the printer connected?""",
    "missing_detail": """What did the battery of the Eaton cost? / Who mixed the rye flour? / What brand are the
        tyres? / Which cabin did we book at the fjord?""",
    "false_premise": """Why does restic run at noon? / Why did I move Zigbee to channel 11? / Why is AdGuard on amsel? /
        Why did the ferry leave from Hamburg?""",
}
SECRET = "gl" + "pat-" + "Rz7mQ2vXk9TnB4wLhC8d"
SETTINGS = """
main = "hybrid"
gate = "score"
gates = ["seed", "cosine", "score", "evidence"]
alpha = 0.3
delta = 0.1
slack = 0.2
[settings]
dense = "dense(30)"
lexical = "lexical(30)"
hybrid = "hybrid(dense=30,lexical=30,fusion=convex,alpha=0.5,docs=2)"
"""


def label_rows():
    rows = [
        {
            "id": f"a{n:02}",
            "question": question,
            "answerable": True,
            "relevant": [{"doc": doc, "quote": quote}],
            "must_pass": n == 0,
        }
        for n, (doc, question, quote) in enumerate(ANSWERABLE)
    ]
    rows[5]["relevant"].append({"doc": "bike.md", "grade": 3})  # two documents, of unlike worth
    rows += [
        {"id": f"{kind}{n}", "question": question, "answerable": False, "kind": kind}
        for kind, questions in UNANSWERABLE.items()
        for n, question in enumerate(" ".join(questions.split()).split(" / "))
    ]
    return rows


@pytest.fixture(scope="session")
def small_eval(tmp_path_factory) -> Path:
    """Folder with settings.toml, corpus/, questions.jsonl and planted-fake-secrets.jsonl."""
    folder = tmp_path_factory.mktemp("small")
    for name, text in NOTES.items():
        path = folder / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    secret_note = folder / "corpus" / "fake-secrets.md"
    secret_note.write_text(f"# Tokens\n\ngitlab token: {SECRET}\n", "utf-8")
    (folder / "planted-fake-secrets.jsonl").write_text(
        json.dumps({"doc": "fake-secrets.md", "secret": SECRET, "kind": "t"}) + "\n"
    )
    (folder / "questions.jsonl").write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in label_rows()), "utf-8"
    )
    (folder / "settings.toml").write_text(SETTINGS, "utf-8")
    return folder


@pytest.fixture(scope="module")
def held(small_eval, tmp_path_factory):
    """The evaluation's brain, held open so that its server does not start anew for each run; empty at first."""
    home = tmp_path_factory.mktemp("home")
    with Brain.open(
        eval_home(Settings(home=home, embedder="wordllama"), load_config(small_eval / "settings.toml"))
    ) as brain:
        yield home, brain


@pytest.fixture(scope="module")
def run(small_eval, held):
    """Runs ``python -m brainkit.eval ARGUMENTS`` in this process and checks the exit code."""

    def command(*arguments, code=0, settings=small_eval / "settings.toml", **variables):
        env = {"BOR_HOME": str(held[0]), "BOR_EMBEDDER": "wordllama", "COLUMNS": "160", **variables}
        where = [] if settings is None or "--settings" in arguments else ["--settings", settings]
        named = arguments[: {"labels": 2, "calibrate": 1}.get(str(arguments[0]), 0)] if arguments else ()
        rest = arguments[len(named) :]
        result = CliRunner().invoke(app, [str(a) for a in (*named, *where, *rest)], env=env)
        assert result.exit_code == code, f"{result.output}{result.exception!r}"
        assert "Traceback" not in result.output
        return result

    return command
