"""The command as a process: Ctrl-C in the middle, names on a terminal that knows no UTF-8."""

import os
import signal
import subprocess
import sys
import time

import psycopg
import pytest

FILES = 600


@pytest.fixture
def environment(database_url, tmp_path):
    values = {"HOME": tmp_path / "home", "DATABASE_URL": database_url, "EMBEDDER": "wordllama"}
    return {**os.environ, **{f"BOR_{name}": str(value) for name, value in values.items()}}


def start(environment, *arguments, module="brainkit"):
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_in_a_long_import_keeps_what_is_done_and_the_next_run_goes_on(environment, database_url, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:05}.md").write_text(f"# Note {number}\n\nThe value of number {number} is {number * 7}.\n")
    process = start(environment, "import", folder)
    with psycopg.connect(database_url, autocommit=True) as connection:
        while connection.execute("select count(*) from documents").fetchone()[0] < 20:
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        kept = connection.execute("select count(*) from documents").fetchone()[0]
    assert process.returncode == 130
    assert err == "Stopped. What was done is kept; run the same command again to go on.\n"
    assert out == ""
    assert 20 <= kept < FILES
    for file in folder.iterdir():
        if int(file.stem) >= kept + 20:  # a shorter rest will do
            file.unlink()
    (folder / "Wärme.md").write_text("# Wärme\n\nDie Pumpe läuft.\n")
    again = start({**environment, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, "import", folder, "-v")
    out, err = again.communicate(timeout=120)
    assert (again.returncode, "Traceback" in err) == (0, False)
    assert f"21 indexed, {kept} unchanged" in out
    assert "  indexed: notes:Wärme.md\n" in out
