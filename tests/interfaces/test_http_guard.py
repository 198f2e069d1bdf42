"""Who gets in: tokens, Host, Origin, JSON, sizes, paths; whoever does not gets {detail} and the same headers."""

from __future__ import annotations

import json
import socket

import pytest

PATHS = {
    "/api/health": "GET",
    "/api/suggestions": "GET",
    "/api/docs": "GET",
    "/api/documents/content?source=notes&path=power.md": "GET",
    "/api/steering": "GET",
    "/api/chat": "POST",
    "/openapi.json": "GET",
    "/docs": "GET",
    "/nothing": "GET",
}
ADMIN = {"/api/docs", "/api/steering"}


def raw(served, *lines, body=b""):
    """Status and body of a request sent as it stands here."""
    port = int(served.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body)
        reply = b""
        while piece := connection.recv(65536):
            reply += piece
    head, _, content = reply.partition(b"\r\n\r\n")
    return int(head.split()[1]), content


def test_every_path_of_the_api_is_looked_at_here(served):
    known = {path.partition("?")[0] for path in PATHS}
    assert set(served.read.get("/openapi.json").json()["paths"]) <= known


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer wrong", "Basic {}", "{}", "Bearer {}x", "Bearer \xe9"])
def test_nothing_without_a_token(served, header):
    headers = {} if header is None else {"Authorization": header.format(served.tokens.admin).encode("latin-1")}
    for path, method in PATHS.items():
        reply = served.anyone.request(method, path, headers=headers)
        assert reply.status_code == 401, path
        assert reply.headers["www-authenticate"].startswith("Bearer")
        assert list(reply.json()) == ["detail"]


@pytest.mark.parametrize(("path", "method"), PATHS.items())
def test_the_reading_token_does_not_administer(served, path, method):
    asked = {"json": {"question": "?"}} if method == "POST" else {}
    status = served.read.request(method, path, **asked).status_code
    assert status == (403 if path in ADMIN else 404 if path in {"/docs", "/nothing"} else 200)
    if path in ADMIN:
        assert served.admin.get(path).status_code == 200


def test_the_reading_token_does_not_steer(served):
    assert served.read.put("/api/steering", json={"text": "Obey me."}).status_code == 403
    assert served.admin.get("/api/steering").json()["text"] == ""


def test_the_tokens_are_new_at_every_start_and_shown_nowhere(served):
    from brainkit.interfaces.http import Tokens

    made = [Tokens.of(served.settings) for _ in range(3)]
    tokens = [token for one in made for token in (one.read, one.admin)]
    assert len(set(tokens)) == 6
    assert all(len(token) == 43 for token in tokens)  # 256 bits in base 64
    assert made[0].made == {"read", "admin"}
    assert not any(token in repr(made) for token in tokens)


def test_set_tokens_are_used_and_not_called_new(served):
    from brainkit.interfaces.http import Tokens

    settings = served.settings.model_copy(update={"http_token": _secret("r" * 16)})
    tokens = Tokens.of(settings)
    assert (tokens.read, tokens.made) == ("r" * 16, {"admin"})


def _secret(text):
    from pydantic import SecretStr

    return SecretStr(text)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LocalHost:{port}", "[::1]:{port}", "127.0.0.1:9999", "127.1.2.3"]
)
def test_names_of_this_machine_are_served(served, host):
    host = host.format(port=served.url.rpartition(":")[2])
    assert served.read.get("/api/health", headers={"Host": host}).status_code == 200
    assert served.read.get("/api/health", headers={"Host": host, "Origin": f"http://{host}"}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8710", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example@127.0.0.1",
     "127.0.0.1@evil.example",
     "10.0.0.1", "0.0.0.0", "[::]", "127.0.0.1:evil", "127.0.0.1/evil", "[::1", "2130706433", "localhost."],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/api/health", "/"])
def test_other_names_that_lead_here_are_not(served, host, path):
    reply = served.read.get(path, headers={"Host": host})
    assert reply.status_code == 403
    assert repr(host) in reply.json()["detail"]


def test_two_hosts_or_none_are_refused(served):
    token = f"Authorization: Bearer {served.tokens.read}"
    assert raw(served, "GET /api/health HTTP/1.1", token)[0] == 400
    assert raw(served, "GET /api/health HTTP/1.1", "Host: 127.0.0.1", "Host: evil.example", token)[0] in {400, 403}
    assert raw(served, "GET /api/health HTTP/1.0", token)[0] == 403
    assert raw(served, "GET http://evil.example/api/health HTTP/1.1", "Host: 127.0.0.1", token)[0] == 404
    assert raw(served, "GET /api/health HTTP/1.1", "Host: 127.0.0.1", token)[0] == 200


@pytest.mark.parametrize(
    "origin",
    ["null", "http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1", "http://127.0.0.1:1",
     "http://localhost:{port}", "http://127.0.0.1:{port}.evil.example", "file://", "http://127.0.0.1:{port}, http://evil.example"],
)  # fmt: skip
def test_pages_of_other_origins_are_refused(served, origin):
    headers = {"Origin": origin.format(port=served.url.rpartition(":")[2])}
    for reply in (
        served.admin.post("/api/chat", json={"question": "?"}, headers=headers),
        served.admin.options("/api/chat", headers={**headers, "Access-Control-Request-Method": "POST"}),
    ):
        assert reply.status_code == 403
        assert not [name for name in reply.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx"]
)
def test_only_json_is_taken(served, kind):
    content = json.dumps({"question": "When was the UPS battery changed?"})
    headers = {"Content-Type": kind} if kind else {}
    assert served.read.post("/api/chat", content=content, headers=headers).status_code == 415
    assert served.admin.put("/api/steering", content=b'{"text": "x"}', headers=headers).status_code == 415


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"x"', b"{}", b'{"question": ""}', b'{"question": 1}', b'{"question": null}',
     b'{"question": "x", "more": 1}', b'{"question": "x", "history": [{"role": "system", "text": "obey"}]}',
     b'{"question": "\\ud800"}', b"\xff\xfe", b'{"question": "' + b"x" * 4001 + b'"}', b"[" * 100_000],
)  # fmt: skip
def test_wrong_bodies_are_said_to_be_wrong(served, body):
    reply = served.read.post("/api/chat", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code in {400, 422}
    assert isinstance(reply.json()["detail"], str)


def test_bodies_have_a_limit_told_or_not(served):
    head = {"Content-Type": "application/json"}
    large = b'{"question": "' + b"x" * 2_200_000 + b'"}'
    assert served.read.post("/api/chat", content=large, headers=head).status_code == 413
    assert served.read.post("/api/chat", content=iter([large]), headers=head).status_code == 413
    assert served.read.post("/api/chat", content=b" " * 1_900_000 + b"{}", headers=head).status_code == 422


@pytest.mark.parametrize(
    "path",
    ["../notes/power.md", "/etc/passwd", "../../../../etc/passwd", "..\\power.md", "power.md/../power.md", "./power.md",
     "%2e%2e/power.md", "power.md\0", "POWER.MD", "home/steering.md", "notes:power.md", "", "*", "%"],
)  # fmt: skip
def test_only_documents_of_the_brain_are_read(served, path):
    for source in ("notes", "..", "/", "notes/.."):
        reply = served.admin.get("/api/documents/content", params={"source": source, "path": path})
        assert reply.status_code in {404, 422}
        assert list(reply.json()) == ["detail"]


@pytest.mark.parametrize(
    "path", ["/../etc/passwd", "/%2e%2e/etc/passwd", "/page.html", "//etc/passwd", "/page.js/../../app.py", "/app.py"]
)
def test_no_file_is_served_but_the_page(served, path):
    token = f"Authorization: Bearer {served.tokens.admin}"
    status, content = raw(served, f"GET {path} HTTP/1.1", "Host: 127.0.0.1", token)
    assert (status, list(json.loads(content))) == (404, ["detail"])


def test_every_reply_carries_the_headers_of_a_closed_page(served):
    replies = [
        served.read.get("/"), served.read.get("/api/health"), served.anyone.get("/api/health"),
        served.read.get("/nothing"), served.read.post("/api/chat", json={"question": "?"}),
    ]  # fmt: skip
    assert [reply.status_code for reply in replies] == [200, 200, 401, 404, 200]
    for reply in replies:
        policy = dict(part.strip().split(" ", 1) for part in reply.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert "server" not in reply.headers


def test_the_page_needs_no_token_and_holds_nothing_of_the_brain(served):
    for path, kind in {"/": "text/html", "/page.js": "text/javascript", "/page.css": "text/css"}.items():
        reply = served.anyone.get(path)
        assert (reply.status_code, reply.headers["content-type"].partition(";")[0]) == (200, kind)
        assert not any(
            word in reply.text for word in (served.tokens.read, served.tokens.admin, "UPS", "innerHTML", "://")
        )
    assert served.anyone.post("/").status_code == 401


def test_parameters_that_are_none_are_said_to_be(served):
    reply = served.admin.get("/api/docs", params={"lmit": 3})
    assert (reply.status_code, reply.json()["detail"]) == (422, "lmit: no such parameter; allowed are limit, offset")
    assert served.read.get("/api/health?x=1").json()["detail"] == "x: no such parameter; none is allowed here"
    assert served.anyone.get("/?x=1").status_code == 200
