"""A loopback stand-in for a server with an OpenAI-compatible chat API, as well- or ill-behaved as a test wants it."""

from __future__ import annotations

import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "double"
REAL = {k: v for k, v in os.environ.items() if k.startswith("BOR_LLM_")} if os.environ.get("BRAINKIT_REAL_LLM") else {}
"""The settings of the model that the tests of tests/brain/test_real_llm.py ask instead of the double."""


@dataclass
class LLMReply:
    """What the double says to one call.

    Attributes:
        text: the answer; streamed word by word.
        thinking: said before it, in ``reasoning_content`` or, with ``think_tags``, as ``<think>`` in the content.
        status: of the HTTP reply; from 400 on ``error`` is its message.
        delay: seconds before the first token.
        pace: seconds between tokens.
        hang_after: tokens after which nothing comes any more, until the client gives up.
        cut_after: tokens after which the connection is cut.
        finish: why it ended, as the API tells it.
        usage: whether the numbers of tokens are told where they are asked for.
        logprobs: log-probabilities by token, told for the first token where they are asked for.
        headers: more headers of the HTTP reply.
        null_content: whether the first piece has no content, as llama.cpp's.
    """

    text: str = "The notes say so."
    thinking: str = ""
    think_tags: bool = False
    status: int = 200
    error: str = ""
    delay: float = 0.0
    pace: float = 0.0
    hang_after: int | None = None
    cut_after: int | None = None
    finish: str = "stop"
    usage: bool = True
    logprobs: dict[str, float] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    null_content: bool = False

    def tokens(self) -> list[tuple[str, str]]:
        """(field, text) of every piece: words with the white space behind them."""
        thought = re.findall(r"\S+\s*", self.thinking)
        said = [("content", word) for word in re.findall(r"\s*\S+\s*$|\s*\S+\s+|\s+", self.text)]
        if self.think_tags and thought:
            return [
                ("content", "<think>"),
                *[("content", word) for word in thought],
                ("content", "</think>\n\n"),
                *said,
            ]
        return [*[("reasoning_content", word) for word in thought], *said]


def quoting(body: dict[str, Any]) -> LLMReply:
    """What the double says unless told otherwise: the first line below the heading of the first document, cited."""
    prompt = body["messages"][-1]["content"]
    found = re.search(r"^=== (\w+) DOCUMENT 1 \[(.*?)\] .*? ===\n(.*?)\n=== \1 END", prompt, re.DOTALL | re.MULTILINE)
    if found is None:
        return LLMReply(text=prompt.strip().splitlines()[-1])
    lines = [line for line in found[3].splitlines() if line.strip() and not line.startswith("#")]
    return LLMReply(text=f"{lines[0] if lines else 'It is empty.'} [{found[2]}]", thinking="Let me look at the notes. ")


@dataclass
class Double:
    """The server: ``behave`` decides each reply; ``requests`` holds all chat calls, ``closed`` counts given-up ones."""

    behave: Callable[[dict[str, Any]], LLMReply] = quoting
    models: tuple[str, ...] = (MODEL,)
    key: str = ""
    port: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    first_token_at: float = 0.0
    first_token_wall: float = 0.0  # seconds since 1970, to be compared with a browser
    closed: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def settings(self) -> dict[str, Any]:
        """Keywords for ``Settings``."""
        return {"llm_base_url": self.url, "llm_model": self.models[0]}

    def say(self, *replies: LLMReply | str) -> None:
        """Say these one after the other, the last of them again and again."""
        queue = [reply if isinstance(reply, LLMReply) else LLMReply(text=reply) for reply in replies]
        self.behave = lambda _: queue.pop(0) if len(queue) > 1 else queue[0]

    def sent(self) -> str:
        """All that was ever sent to it, as one text."""
        return json.dumps(self.requests, ensure_ascii=False)

    def prompt(self, number: int = -1) -> str:
        """The messages of one call as one text."""
        return "\n".join(message["content"] for message in self.requests[number]["messages"])

    def reply(self, body: dict[str, Any], headers: dict[str, str]) -> LLMReply:
        self.requests.append(body)
        self.headers.append(headers)
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            return LLMReply(status=401, error="Incorrect API key provided")
        if body.get("model") not in self.models:
            return LLMReply(status=404, error=f"model '{body.get('model')}' not found")
        return self.behave(body)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    double: Double

    def do_GET(self) -> None:
        listed = [{"id": name, "object": "model", "max_model_len": 8192} for name in self.double.models]
        self._json(200, {"object": "list", "data": listed}) if self.path == "/v1/models" else self._json(404, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path != "/v1/chat/completions":
            self._json(404, {"error": {"message": "no such page"}})
            return
        reply = self.double.reply(body, {k.lower(): v for k, v in self.headers.items()})
        try:
            time.sleep(reply.delay)
            if reply.status >= 400:
                self._json(reply.status, {"error": {"message": reply.error, "type": "error"}}, reply.headers)
            elif body.get("stream"):
                self._stream(body, reply)
            else:
                self._whole(body, reply)
        except OSError:
            self.double.closed += 1  # the client has given up, as some tests want it to
        self.close_connection = True

    def _stream(self, body: dict[str, Any], reply: LLMReply) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self._event(body, [self._choice({"role": "assistant", "content": None if reply.null_content else ""}, None)])
        tokens = reply.tokens()
        for number, (name, text) in enumerate(tokens):
            if reply.cut_after == number:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            if reply.hang_after == number:
                self._hang()
            if not number:
                self.double.first_token_at, self.double.first_token_wall = time.monotonic(), time.time()
            choice = self._choice({name: text}, None)
            if reply.logprobs and body.get("logprobs") and not number:
                choice["logprobs"] = self._logprobs(reply)
            self._event(body, [choice])
            if reply.pace:
                self._wait(reply.pace)
        self._event(body, [self._choice({}, reply.finish)])
        if reply.usage and (body.get("stream_options") or {}).get("include_usage"):
            self._event(body, [], usage=self._usage(body, len(tokens)))
        self._chunk("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _whole(self, body: dict[str, Any], reply: LLMReply) -> None:
        text = f"<think>{reply.thinking}</think>\n\n{reply.text}" if reply.think_tags else reply.text
        message = {"role": "assistant", "content": text}
        if reply.thinking and not reply.think_tags:
            message["reasoning_content"] = reply.thinking
        choice = {"index": 0, "message": message, "finish_reason": reply.finish, "logprobs": None}
        if reply.logprobs and body.get("logprobs"):
            choice["logprobs"] = self._logprobs(reply)
        usage = self._usage(body, len(reply.tokens()))
        head = {"id": "chat-1", "object": "chat.completion", "created": 0, "model": body["model"]}
        self._json(200, {**head, "choices": [choice], "usage": usage})

    def _wait(self, seconds: float) -> None:
        """Sleep, and find out at once when the client has gone."""
        self.connection.settimeout(seconds)
        try:
            if not self.connection.recv(1):
                raise ConnectionResetError
        except TimeoutError:
            pass
        finally:
            self.connection.settimeout(None)

    def _hang(self) -> None:
        while True:
            self._wait(30)

    @staticmethod
    def _choice(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
        return {"index": 0, "delta": delta, "finish_reason": finish}

    @staticmethod
    def _logprobs(reply: LLMReply) -> dict[str, Any]:
        top = [{"token": token, "logprob": value, "bytes": []} for token, value in reply.logprobs.items()]
        return {"content": [{**max(top, key=lambda one: one["logprob"]), "top_logprobs": top}], "refusal": None}

    @staticmethod
    def _usage(body: dict[str, Any], said: int) -> dict[str, int]:
        taken = sum(len(message["content"].split()) for message in body["messages"])
        return {"prompt_tokens": taken, "completion_tokens": said, "total_tokens": taken + said}

    def _event(self, body: dict[str, Any], choices: list[dict[str, Any]], **more: Any) -> None:
        head = {"id": "chat-1", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
        self._chunk(f"data: {json.dumps({**head, 'choices': choices, **more})}\n\n")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _json(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {
            "content-type": "application/json",
            "content-length": str(len(content)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running(double: Double) -> Iterator[Double]:
    """Run a double on a port of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"double": double}))
    server.daemon_threads = True
    double.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield double
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
