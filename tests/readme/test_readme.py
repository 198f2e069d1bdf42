"""What the README tells a reader to run is run, as it stands there, in an empty home."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from brainkit.store.server import EmbeddedServer

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
NOTES = {
    "power.md": "# UPS\nThe UPS battery was changed on 2025-06-14, an RBC7 from the drawer.\n",
    "invoices.md": "# Invoices\n- INV/2025/00412, surge arrester, 487.90 EUR\n",
}


def blocks(language: str) -> list[str]:
    """Code blocks of the README in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A user's empty home with a few notes; its database goes afterwards."""
    place = tmp_path_factory.mktemp("user")
    (place / "notes").mkdir()
    for name, text in NOTES.items():
        (place / "notes" / name).write_text(text, "utf-8")
    yield place
    for folder in (place / ".local/share/brainkit", place / ".my-brain"):
        if folder.exists():
            EmbeddedServer(folder).erase()


def run(home: Path, *command: str, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command as that user would."""
    return subprocess.run(
        command, cwd=cwd, env=environment(home, variables), capture_output=True, text=True, check=False, timeout=300
    )


def environment(home: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """That of the user, with some variables."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("BOR_", "XDG_", "COV_"))}
    return {**kept, "HOME": str(home), "PYTHONPATH": str(ROOT), **variables}


def own_notes() -> list[str]:
    """The commands of the section on your own notes, without comments."""
    block = next(block for block in blocks("sh") if "brainkit import" in block)
    return [line.partition("  #")[0].strip() for line in block.splitlines() if line.strip()]


def test_the_two_commands_stand_first() -> None:
    first = blocks("sh")[0].splitlines()
    assert first[0].partition("  #")[0].strip() == "pip install -q uv && uv run python -m brainkit.eval"
    assert first[1].partition("  #")[0].strip() == "uv run pytest -n 2 --dist loadfile"


def test_own_notes(home: Path) -> None:
    outputs = {}
    for line in own_notes():
        words = shlex.split(line.replace("~", str(home)))
        assert words[:3] == ["uv", "run", "brainkit"]
        done = run(home, sys.executable, "-m", "brainkit", *words[3:])
        assert done.returncode == 0, (line, done.stderr)
        outputs[words[3]] = done.stdout
    assert "2 indexed" in outputs["import"]
    assert "2025-06-14" in outputs["ask"]
    assert "[power.md]" in outputs["ask"]
    assert "invoices.md" in outputs["recall"]


def test_in_python(home: Path, tmp_path: Path) -> None:
    script = tmp_path / "readme.py"
    script.write_text(blocks("python")[0] + "    print(nodes[0].metadata['path'])\n", "utf-8")
    done = run(home, sys.executable, str(script))
    assert done.returncode == 0, done.stderr
    assert "2025-06-14" in done.stdout
    assert done.stdout.strip().endswith("power.md")


def test_for_llama_index_programs(home: Path, tmp_path: Path) -> None:
    section = README.partition("## For LlamaIndex programs")[2].partition("\n## ")[0]
    script = tmp_path / "llama.py"
    script.write_text("\n".join(re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)), "utf-8")
    run(home, sys.executable, "-m", "brainkit", "import", str(home / "notes"), BOR_HOME=str(home / ".my-brain"))
    done = run(home, sys.executable, str(script))
    assert done.returncode == 0, done.stderr
    scrubbed = "password: [REDACTED:password]\n"
    before, chat = done.stdout.split(scrubbed)
    retrieved, *answered, sources, stock, heading, blank = before.splitlines()
    assert retrieved.split()[0] == stock.split()[0] == "power.md"
    assert 0 < float(stock.split()[1]) <= 1
    assert "2025-06-14" in "".join(answered)
    assert answered[-1].endswith("False")
    assert sources == "['power.md']"
    assert (heading, blank) == ("# NAS", "")
    *told, followed, empty = chat.splitlines()
    assert "2025-06-14" in "".join(told)
    assert followed.startswith("And where did I buy it?")
    assert "UPS battery" in followed
    assert empty == "[]"


def test_a_chat_in_a_notebook(home: Path, tmp_path: Path) -> None:
    section = README.partition("## A chat in a notebook")[2].partition("\n## ")[0]
    (example,) = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    run(home, sys.executable, "-m", "brainkit", "import", str(home / "notes"))
    script = tmp_path / "cell.py"
    script.write_text(example.replace("Chat(brain)", "print(repr(Chat(brain)))"), "utf-8")
    done = run(home, sys.executable, str(script))
    assert done.stdout == "Chat over 2 documents; run the notebook to talk to them\n", done.stderr


def test_for_other_programs(home: Path) -> None:
    section = README.partition("## For other programs and agents")[2].partition("\n## ")[0]
    (example,) = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    token, serve, *curl = example.splitlines()
    assert token.startswith("export BOR_HTTP_TOKEN=")
    words = shlex.split(serve, comments=True)
    assert words == ["uv", "run", "--extra", "http", "brainkit", "serve"]
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")
    run(home, sys.executable, "-m", "brainkit", "import", str(home / "notes"))
    variables = {"BOR_HTTP_TOKEN": "t" * 32, "BOR_HTTP_PORT": "0"}
    process = subprocess.Popen(
        [sys.executable, "-m", "brainkit", *words[5:]],
        env=environment(home, variables),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split()[1].partition("#")[0]
        done = run(home, "bash", "-c", "\n".join(curl).replace("http://127.0.0.1:8710/", url), **variables)
    finally:
        process.terminate()
        process.communicate(timeout=30)
    events = [json.loads(line.removeprefix("data: ")) for line in done.stdout.splitlines() if line.startswith("data: ")]
    assert "2025-06-14" in "".join(event.get("text", "") for event in events)
    assert [source["path"] for source in events[-1]["sources"]] == ["power.md"]
    assert process.returncode == 0


def test_for_agents(home: Path) -> None:
    from anyio import run as run_async
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters

    section = README.partition("## For other programs and agents")[2].partition("\n## ")[0]
    (example,) = re.findall(r"^```json\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    ((_, given),) = json.loads(example)["mcpServers"].items()
    assert (given["command"], given["args"][-2:]) == ("uv", ["brainkit", "mcp"])
    variables = {name: value.replace("/home/me", str(home)) for name, value in given["env"].items()}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", *given["args"][-2:]], env=environment(home, variables)
    )

    async def asked() -> tuple[list[str], str, str]:
        async with Client(server) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            imported = await client.call_tool("import_path", {"path": str(home / "notes")})
            answer = await client.call_tool("ask", {"question": "When did I change the UPS battery?"})
            return tools, str(imported.content), str(answer.content)

    tools, imported, answer = run_async(asked)
    named = re.findall(r"`([a-z_]+)`", section.partition("It gets the tools")[2].partition(".")[0])
    assert sorted(named) == sorted(tools)
    assert "unchanged" in imported
    assert "2025-06-14" in answer


def test_the_label_example_is_a_label() -> None:
    from brainkit import Label

    (example,) = re.findall(r"`(\{\"id\".*?\})`", README)
    assert Label.from_dict(json.loads(example)).grades == {"hosts/nas.md": 1}


def test_the_retrieval_strings_parse() -> None:
    from brainkit import RetrievalSettings

    section = README.partition("## Retrieval")[2].partition("\n## ")[0]
    strings = re.findall(r"`((?:hybrid|dense|lexical)\([^`]*\))`", section)
    assert len(strings) == 4
    for text in strings:
        RetrievalSettings.parse(text)


@pytest.mark.slow
def test_the_main_job(home: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The report on the bundled notes; with the default embedder everything passes, and a second run imports nothing.

    Small, it runs with the fast embedder, in full with the default one.
    """
    embedder = "minilm" if request.config.getoption("markexpr") == "slow" else "wordllama"
    baseline = ROOT / "eval" / ("baseline.json" if embedder == "minilm" else f"baseline-{embedder}.json")
    command = (sys.executable, "-m", "brainkit.eval", "--out", str(tmp_path / "out"), "--baseline", str(baseline))
    first = run(home, *command, BOR_HOME=str(home / f"main-{embedder}"), BOR_EMBEDDER=embedder)
    second = run(home, *command, "--json", BOR_HOME=str(home / f"main-{embedder}"), BOR_EMBEDDER=embedder)
    EmbeddedServer(next((home / f"main-{embedder}" / "eval").iterdir())).erase()
    assert re.fullmatch(r"\d+ passed, \d+ failed", first.stdout.strip().splitlines()[-1]), first.stderr
    summary = json.loads(second.stdout)
    assert summary["comparison"]["verdict"] in {"identical", "no regression", "warning"}, summary["comparison"]
    assert summary["corpus"]["documents"] == len([p for p in (ROOT / "eval/corpus").rglob("*") if p.is_file()])
    secrets = next(check for check in summary["checks"] if check["name"] == "secrets")
    assert secrets["passed"], secrets
    assert (tmp_path / "out" / "latest" / "report.md").exists()
    assert "nothing to import" in (tmp_path / "out" / "latest" / "report.md").read_text("utf-8").lower()
    if embedder == "minilm":
        assert first.returncode == 0, first.stdout


def rows(first: str) -> dict[str, list[str]]:
    """The rows of the README's table whose first column is headed so."""
    table = README.partition(f"\n| {first} |")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines()]
    return {"": cells[0]} | {name: values for name, *values in cells[2:]}


def test_the_figures_are_those_of_the_benchmark() -> None:
    results = json.loads((ROOT / "eval/benchmarks/results/retrieval.json").read_text("utf-8"))
    quality, names = rows("nDCG@10"), {"as it comes": "brainkit, +maxsim(10)", "without the reranker": "brainkit"}
    sets = quality.pop("")
    assert sets == list(results["sets"])
    assert len(quality) == 10
    for name, values in quality.items():
        way = next((way for said, way in names.items() if said in name), name)
        measured = {row["way"]: row["nDCG@10"] for row in results["sets"][sets[0]]}
        assert way in measured
        for given, value in zip(sets, values, strict=True):
            (figure,) = (row["nDCG@10"] for row in results["sets"][given] if row["way"] == way)
            assert float(value) == pytest.approx(figure, abs=0.0006)
    cost = rows("chunks")
    sizes = [int(size.replace(",", "")) for size in cost.pop("")]
    measured_cost = {(row["size"], row["way"]): row["cpu_ms"] for row in results["cost"]}
    assert sizes == sorted({size for size, _ in measured_cost})
    for way, values in cost.items():
        for size, value in zip(sizes, values + [""] * (len(sizes) - len(values)), strict=True):
            assert float(value or "nan") == pytest.approx(
                measured_cost.get((size, way), float("nan")), rel=0.005, abs=0.06, nan_ok=True
            )
