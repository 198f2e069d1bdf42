"""Who imports whom: a room looks only at rooms above it, and nothing but the top knows the brain."""

import ast
import statistics
from pathlib import Path

import pytest

import brainkit

PACKAGE = Path(brainkit.__file__).parent
ORDER = [
    {"errors", "settings"}, {"scrub"}, {"readers"}, {"chunking"}, {"embedding"}, {"store"}, {"labels"}, {"ingestion"},
    {"memory"}, {"retrieval"}, {"gate"}, {"answering"}, {"proactive"}, {"brain"},
    {"cli", "eval", "widgets", "interfaces", "__main__"},
]  # fmt: skip
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST, LONGEST_MEDIAN = 450, 130


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> set[str]:
    """Full names of everything of brainkit that a module imports, wherever the import stands."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"a relative import: {ast.unparse(node)}"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.split(".")[0] == "brainkit"}


def rooms(names: set[str]) -> set[str]:
    """First part below brainkit; what ``from brainkit import Brain`` gives counts as its own room."""
    public = {name: home.split(".")[1] for name, home in brainkit._HOMES.items()} | {"__version__": "errors"}
    parts = {name.split(".")[1] for name in names if "." in name}
    return {public.get(part, part) for part in parts}


def test_every_part_of_the_package_has_its_place_in_the_order():
    assert {room_of(path) for path in MODULES} - {"__init__"} <= set(LEVEL)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_from_rooms_above_it(path):
    room = room_of(path)
    if room == "__init__":
        return  # the public face: it names all, and imports none before it is asked
    found = rooms(imported(ast.parse(path.read_text("utf-8"))))
    assert found <= set(LEVEL)
    same = {room} if room != "settings" else {"errors"}
    wrong = {other for other in found - same if LEVEL[other] >= LEVEL[room]}
    if LEVEL[room] == len(ORDER) - 1:
        wrong = {other for other in wrong if LEVEL[other] > LEVEL[room]}  # those on top know one another
    assert not wrong, f"{room} is not above {wrong}"


def test_only_the_top_imports_the_brain():
    knowing = {room_of(p) for p in MODULES if "brain" in rooms(imported(ast.parse(p.read_text("utf-8"))))}
    assert knowing <= ORDER[-1] | {"__init__", "brain"}


def test_the_rule_sees_imports_in_functions_and_by_the_public_name():
    hidden = (
        "def f():\n    from brainkit.brain import Brain\n    import brainkit.cli.app\n    from brainkit import Recall\n"
    )
    assert rooms(imported(ast.parse(hidden))) == {"brain", "cli", "retrieval"}


def test_modules_are_short():
    lengths = {str(p.relative_to(PACKAGE)): len(p.read_text("utf-8").splitlines()) for p in MODULES}
    assert {name: n for name, n in lengths.items() if n > LONGEST} == {}
    assert statistics.median(lengths.values()) <= LONGEST_MEDIAN


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_says_in_its_first_line_what_it_is(path):
    first = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n")[0]
    assert len(first) >= 20
    assert first[0].isupper() or first.startswith("`")
    assert first[-1] in ".:;,"


def test_library_code_does_not_print():
    printing = [
        path.name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert printing == []
