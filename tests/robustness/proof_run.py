"""One brain of its own through all that it does, and every byte that it left, printed or sent on the way."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from typer.testing import CliRunner

from brainkit import Brain, Settings
from brainkit.store import Database
from brainkit.store.server import EmbeddedServer

EXTENSIONS = (
    "md,txt,yaml,yml,json,py,ipynb,toml,ini,conf,service,dockerfile,tf,html,rst,org,csv,jsonl"  # all that is read
)
RETRIEVAL = "hybrid(dense=30,lexical=30,fusion=convex,alpha=0.5,docs=2)"
DIMENSIONS = 8
SEEN = "select count(*) from documents"


class Recorder:
    """A stand-in for Ollama over loopback that keeps every byte it is sent."""

    def __init__(self) -> None:
        self.received: list[bytes] = []

    @contextlib.contextmanager
    def serving(self) -> Iterator[str]:
        """Its address, while it runs."""
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            def answer(self, body: bytes, value: object) -> None:
                received.append(self.raw_requestline + bytes(self.headers) + body)
                content = json.dumps(value).encode()
                with contextlib.suppress(OSError):  # the client was killed
                    self.send_response(200)
                    self.send_header("content-length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            def do_GET(self) -> None:
                model = {"name": "nomic-embed-text:latest", "model": "nomic-embed-text:latest", "digest": "0a" * 32}
                self.answer(b"", {"models": [model]})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                texts = json.loads(body)["input"]
                texts = [texts] if isinstance(texts, str) else texts
                self.answer(body, {"embeddings": [_vector_of(text) for text in texts]})

            def log_message(self, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _vector_of(text: str) -> list[float]:
    """Letters counted: texts of the same words lie near each other."""
    counts = [1.0] * DIMENSIONS
    for char in text.lower():
        counts[ord(char) % DIMENSIONS] += 1
    return counts


class Run:
    """A brain in a home of its own whose server keeps all it writes uncompressed; ``places`` holds what was gathered.

    Args:
        folder: where the home, the reports and temporary files go.
        url: of the recorder.
    """

    def __init__(self, folder: Path, url: str, recorder: Recorder) -> None:
        self.folder, self.recorder = folder, recorder
        self.home, self.out, temporary = folder / "home", folder / "out", folder / "tmp"
        for made in (self.home, self.out, temporary):
            made.mkdir(parents=True)
        self.environment = {
            "BOR_HOME": str(self.home),
            "BOR_EMBEDDER": "ollama",
            "BOR_OLLAMA_URL": url,
            "BOR_IMPORT_EXTENSIONS": EXTENSIONS,
            "BOR_RETRIEVAL": RETRIEVAL,
            "BOR_LOG": "debug",
            "TMPDIR": str(temporary),
        }
        self.settings = Settings(
            home=self.home,
            embedder="ollama",
            ollama_url=url,
            import_extensions=EXTENSIONS,
            retrieval=RETRIEVAL,
            vector_cache=None,
        )
        self.places: dict[str, bytes] = {}
        self._log = io.StringIO()
        self._server = EmbeddedServer(self.home)

    @contextlib.contextmanager
    def prepared(self) -> Iterator[Run]:
        """With the server running and empty tables in it; all is erased at the end."""
        handler = logging.StreamHandler(self._log)
        root, level = logging.getLogger(), logging.getLogger().level
        with contextlib.ExitStack() as stack:
            stack.callback(self._erase)
            stack.enter_context(self._server)
            with Database(self.settings) as database, database.connection() as connection:
                for line in (
                    "alter system set fsync = off",  # nothing here has to survive a power cut
                    "alter system set wal_compression = off",
                    "alter system set wal_keep_size = '64GB'",
                    "alter system set log_statement = 'all'",  # with all values that are sent to it
                    "alter system set log_parameter_max_length = -1",
                    "select pg_reload_conf()",
                ):
                    connection.execute(line)
                _store_plainly(connection)
            root.addHandler(handler)
            root.setLevel(logging.DEBUG)
            try:
                yield self
            finally:
                root.removeHandler(handler)
                root.setLevel(level)

    def _erase(self) -> None:
        for home in [*self.home.glob("eval/*"), self.home]:
            EmbeddedServer(home).erase()  # as root the data lie outside the folder

    def connect(self) -> psycopg.Connection[Any]:
        """A connection of our own."""
        return psycopg.connect(self._server.conninfo(), autocommit=True)

    def refuse(self, word: str) -> None:
        """Have the database refuse every note with this word."""
        with self.connect() as connection:
            connection.execute(refusing(word))

    def command(self, *arguments: object) -> subprocess.CompletedProcess[bytes]:
        """The command as a process of its own; what it prints is gathered."""
        done = subprocess.run(self._line(arguments), env=self._whole(), capture_output=True, check=False)
        self._gather("printed", done.stdout + done.stderr)
        return done

    def killed(self, *arguments: object) -> None:
        """The command killed as soon as some documents are stored."""
        process = subprocess.Popen(
            self._line(arguments), env=self._whole(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        with self.connect() as connection:
            while not connection.execute(SEEN).fetchone()[0] and process.poll() is None:
                time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        self._gather("printed", process.communicate()[0])

    def invoke(self, app: Any, *arguments: object) -> Any:
        """The command in this process, which takes less time."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.environment.items():
                patch.setenv(name, value)
            patch.setenv("BOR_VECTOR_CACHE", str(self.home / "cache" / "vectors.sqlite"))
            result = CliRunner().invoke(app, list(map(str, arguments)))
        self._gather("printed", result.output.encode())
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def brain(self, *actions: Callable[[Brain], object]) -> None:
        """The brain as a program uses it: each action's result is gathered as it shows itself."""
        with Brain.open(self.settings) as brain:
            for action in actions:
                result = action(brain)
                self._gather("results", f"{result!r}\n{result}\n".encode())

    def gather_all(self) -> dict[str, bytes]:
        """Everything by its place: what was printed, logged, sent, and what lies in tables and on disk."""
        with self.connect() as connection:
            self._gather("tables", _tables(connection))
            connection.execute("checkpoint")
        self._gather("dump", _dump(self._server))
        data = self._server.data_dir
        self._gather("data directory", _files(data, data / "pg_wal"))
        self._gather("write-ahead log", _files(data / "pg_wal"))
        self._gather("server log", self._server.log_path.read_bytes())
        self._gather("debug log", self._log.getvalue().encode())
        self._gather("embedder", b"\n".join(self.recorder.received))
        self._gather("home", _files(self.home))
        self._gather("reports", _files(self.out))
        self._gather("temporary files", _files(self.folder / "tmp"))
        for home in self.home.glob("eval/*"):
            with EmbeddedServer(home) as server:
                self._gather("evaluated brain", _dump(server))
                self._gather("evaluated brain", _files(server.data_dir) + server.log_path.read_bytes())
        return self.places

    def untouched(self) -> bytes:
        """What the server's files hold before anything is imported."""
        with self.connect() as connection:
            connection.execute("checkpoint")
        return _files(self._server.data_dir) + self._server.log_path.read_bytes()

    def _gather(self, place: str, data: bytes) -> None:
        self.places[place] = self.places.get(place, b"") + data

    def _line(self, arguments: Sequence[object]) -> list[str]:
        return [sys.executable, "-m", "brainkit", *map(str, arguments)]

    def _whole(self) -> dict[str, str]:
        outside = {name: value for name, value in os.environ.items() if not name.startswith("BOR_")}
        return outside | self.environment


def refusing(word: str) -> sql.Composed:
    """The statement that makes a table of documents refuse a word."""
    check = "alter table documents add constraint unwanted check (position({} in content) = 0)"
    return sql.SQL(check).format(sql.Literal(word))


def _store_plainly(connection: psycopg.Connection[Any]) -> None:
    """Long values are kept as they are, since a compressed one could not be searched."""
    columns = connection.execute(
        "select attrelid::regclass::text, attname from pg_attribute join pg_class c on c.oid = attrelid"
        " where relkind = 'r' and relnamespace = 'public'::regnamespace and attnum > 0 and attstorage = 'x'"
    ).fetchall()
    assert len(columns) > 20
    for table, column in columns:
        connection.execute(
            sql.SQL("alter table {} alter {} set storage external").format(
                sql.Identifier(table), sql.Identifier(column)
            )
        )


def _tables(connection: psycopg.Connection[Any]) -> bytes:
    """Every row of every table as JSON."""
    names = [name for (name,) in connection.execute("select tablename from pg_tables where schemaname = 'public'")]
    rows = []
    for name in names:
        query = sql.SQL("select to_json(t)::text from {} t").format(sql.Identifier(name))
        rows += [f"{name} {row}" for (row,) in connection.execute(query)]
    return "\n".join(rows).encode()


def _dump(server: EmbeddedServer) -> bytes:
    """What pg_dump writes; where the server has none, each table as COPY gives it."""
    program = server.programs.bin / "pg_dump"
    if program.is_file():
        return subprocess.run([program, f"--dbname={server.conninfo()}"], capture_output=True, check=True).stdout
    with psycopg.connect(server.conninfo()) as connection, connection.cursor() as cursor:
        names = [name for (name,) in cursor.execute("select tablename from pg_tables where schemaname = 'public'")]
        copied = bytearray()
        for name in names:
            with cursor.copy(sql.SQL("copy {} to stdout").format(sql.Identifier(name))) as copy:
                copied += b"".join(map(bytes, copy))
        return bytes(copied)


def _files(folder: Path, *but: Path) -> bytes:
    """The names and bytes of all files below a folder, but for what lies in some others."""
    found = [path for path in sorted(folder.rglob("*")) if not any(path.is_relative_to(other) for other in but)]
    names = "\n".join(str(path.relative_to(folder)) for path in found).encode("utf-8", "surrogateescape")
    return names + b"".join(path.read_bytes() for path in found if path.is_file() and not path.is_symlink())


def make_repository(folder: Path, messages: Sequence[str]) -> bool:
    """A repository with a commit for each message, whose file has the number's name; False without git."""
    git = shutil.which("git")
    if git is None:
        return False
    stream = []
    for number, message in enumerate(messages):
        said = message.encode()
        stream.append(
            f"commit refs/heads/main\ncommitter Ina <ina@example.com> {1_700_000_000 + number} +0000\n"
            f"data {len(said)}\n".encode()
            + said
            + f"\nM 100644 inline file{number}.txt\ndata 2\nx\n\n".encode()
        )
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder)}
    for arguments, given in ((["init", "-q", "-b", "main"], b""), (["fast-import", "--quiet"], b"".join(stream))):
        subprocess.run([git, "-C", folder, *arguments], input=given, env=environment, check=True, capture_output=True)
    return True
