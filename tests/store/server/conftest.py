import os
import subprocess
import sys
from pathlib import Path

import pytest

import brainkit
from brainkit.store.server import EmbeddedServer, process

ACTORS = Path(__file__).with_name("server_actors.py")


@pytest.fixture
def empty_home(tmp_path):
    """A home nobody has used, which no other user can enter; its server and data are gone afterwards."""
    tmp_path.chmod(0o700)
    yield tmp_path / "home"
    EmbeddedServer(tmp_path / "home").erase()


@pytest.fixture(scope="session")
def lived_in(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lived-in")
    folder.chmod(0o700)
    with EmbeddedServer(folder / "home"):
        pass
    yield folder / "home"
    EmbeddedServer(folder / "home").erase()


@pytest.fixture
def home(lived_in):
    """A home with data, shared by the tests to save their initdb; no server runs before or after a test."""
    yield lived_in
    server = EmbeddedServer(lived_in)
    if process.holders(server.data_dir):
        server.start()
        process.stop(process.postmaster(server.data_dir))
        server.release()


@pytest.fixture
def server(home):
    """A started server."""
    with EmbeddedServer(home) as started:
        yield started


@pytest.fixture
def actor():
    """Starts an actor of server_actors.py; those that still run at the end are killed."""
    started = []

    def start(name, *arguments):
        path = os.pathsep.join([str(Path(brainkit.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"PYTHONPATH": path}
        child = subprocess.Popen(
            [sys.executable, ACTORS, name, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()
        child.communicate()
