"""What the commands share on screen: progress, errors, Ctrl-C."""

import importlib
import io
import logging

import psycopg
import pytest
import typer
from rich.console import Console

from brainkit.cli import main, screen
from brainkit.errors import LabelsError


def test_progress_in_a_log_is_a_line_at_the_end_and_now_and_then(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(screen.time, "monotonic", lambda: now[0])
    with screen.Progress() as progress:
        for done in range(1, 101):
            now[0] += 0.25
            progress("import", done, 100)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[2] for line in lines] == ["42/100", "83/100", "100/100"]
    assert lines[-1] == "reading notes: 100/100 4/s"


def test_progress_on_a_terminal_is_a_bar_on_stderr_that_goes_away(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(
        screen, "Console", lambda stderr: Console(file=out, force_terminal=True, width=100, stderr=stderr)
    )
    with screen.Progress() as progress:
        progress("embed", 1, 3)
        progress("other", 1, 1)
        progress("embed", 3, 3)
    assert "embedding chunks" in out.getvalue()
    assert "3/3" in out.getvalue()
    assert out.getvalue().rstrip().endswith("\x1b[2K")  # erased


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (LabelsError("q.jsonl:3: not JSON"), 2, "Error: q.jsonl:3: not JSON\n"),
        (KeyboardInterrupt(), 130, "Stopped. What was done is kept; run the same command again to go on.\n"),
    ],
)
def test_errors_become_a_message_and_an_exit_code(capsys, error, code, message):
    @screen.fail_on_error
    def fails():
        raise error

    with pytest.raises(typer.Exit) as left:
        fails()
    assert left.value.exit_code == code
    assert capsys.readouterr().err == message


def test_a_fault_of_brainkit_itself_is_not_hidden():
    @screen.fail_on_error
    def fails():
        return 1 / 0

    with pytest.raises(ZeroDivisionError):
        fails()


def test_json_keeps_umlauts_and_odd_values(capsys):
    screen.print_json({"path": "Wärme", "id": ValueError})
    assert capsys.readouterr().out == '{\n  "path": "Wärme",\n  "id": "<class \'ValueError\'>"\n}\n'


def test_main_survives_wrong_settings_and_an_interrupt_while_it_starts(monkeypatch):
    monkeypatch.setenv("BOR_LOG", "loud")
    called = []

    def app(prog_name):
        called.append(prog_name)
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as left:
        main(app, "brainkit")
    assert (left.value.code, called) == (130, ["brainkit"])


@pytest.mark.parametrize("level", ["error", "debug"])
def test_the_log_level_holds_for_libraries_that_would_set_their_own(monkeypatch, level):
    monkeypatch.setenv("BOR_LOG", level)
    monkeypatch.setattr(logging, "basicConfig", lambda **_: None)  # pytest's own handlers stay
    logger = logging.getLogger("psycopg")
    before = logger.level
    try:
        logger.setLevel(logging.NOTSET)
        main(lambda prog_name: None, "brainkit")
        importlib.reload(psycopg)  # where it sets its level
        assert logging.getLevelName(logging.getLogger("psycopg.pool").getEffectiveLevel()) == level.upper()
    finally:
        logger.setLevel(before)
