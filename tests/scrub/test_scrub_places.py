"""A secret goes wherever it stands: within strings and sentences, between tags, before a file's ending."""

from __future__ import annotations

import base64

import pytest

from brainkit.scrub import scrub

LETTERS = "IeYBvhq" + "BeFZdv"
PASSWORD = "Uhw4O8Bj" + "BFHC36!"
MIXED = "fqMwNu" + "kjkU1In"
LONG = "wJ4lrXUtnFEMI/K7MDEN+" + "bPxRfiCYzQ8vT2nLk3p"
BASIC = base64.b64encode(b"ina:" + b"Sommer-Regen-77x").decode()
RANDOM = base64.b64encode(bytes(range(101, 125))).decode()

PLACES = [
    "{}",
    "export {}",
    "X = '{}'",
    '{{"a": "{}"}}',
    '{{"a":"{}","b":"c"}}',
    'echo "{{\\"a\\": \\"{}\\"}}"',
    "see `{}` there",
    "run `export {}` first",
    "We set {} in the env file.",
    "We set {}.",
    "see {}, then restart",
    "\u201c{}\u201d",
    '["{}", "B=c"]',
    "('{}','B=c')",
    "({})",
    "[{}, B=c]",
    "docker run -e {} img",
    "<td>{}</td>",
    "<code>{}</code>",
    "<li>{}",
    "{}<br>",
]


@pytest.mark.parametrize("name", ["DB_PASSWORD", "PASSWORD", "ROOT_PASSWD", "APP_SECRET", "GH_TOKEN", "API_KEY"])
@pytest.mark.parametrize("place", PLACES)
def test_an_environment_variable_is_judged_alike_everywhere(place: str, name: str) -> None:
    before, after = place.format("\0").split("\0")
    out = scrub(place.format(f"{name}={LETTERS}")).text
    assert out.startswith(f"{before}{name}=[REDACTED:")
    assert out.endswith("]" + after)


MARKUP = [
    "<td>password: {}</td>",
    "<td>DB_PASSWORD={}</td>",
    "<td>Das Passwort lautet {}</td>",
    "<td class='x'>The password is {}</td>",
    "<tr><td>password</td><td>{}</td></tr>",
    "<tr><td>user</td><td>ina</td></tr>\n<tr><th>Passwort</th>\n<td><code>{}</code></td></tr>",
    "<dt>password</dt><dd>{}</dd>",
    "<li>Passwort: <b>{}</b></li>",
    "<b>password:</b> {}<br>",
    "<strong>DB_PASSWORD</strong>={}",
    "<p>Das Passwort lautet <code>{}</code>.</p>",
    "<br/>password={}<br/>",
    "<note>password: {}</note>",
    '<server host="nas" password="{}" user="ina"><a/></server>',
    "<server password={}>nas</server>",
    '<entry key="password">{}</entry>',
    '<add key="Password" value="{}"></add>',
    "<password>{}</password>",
    '<password type="plain">{}</password>',
    "<db:password>{}</db:password>",
    "<password>\n  {}\n</password>",
    "<password><![CDATA[{}]]></password>",
    "<key>password</key><string>{}</string>",
    "<key>password</key>\n\t<string>{}</string>",
    "&lt;password&gt;{}&lt;/password&gt;",
]


@pytest.mark.parametrize("secret", [LETTERS, PASSWORD, MIXED])
@pytest.mark.parametrize("markup", MARKUP)
def test_tags_bound_a_value_and_its_label(markup: str, secret: str) -> None:
    before, after = markup.split("{}")
    for frame in ("{}", "<html><body>\n{}\n</body></html>\n"):
        start, end = frame.split("{}")
        out = scrub(start + before + secret + after + end).text
        assert out.startswith(start + before + "[REDACTED:")
        assert out.endswith("]" + after + end)


def test_a_value_with_a_tag_inside_goes_and_the_tag_stays() -> None:
    out = scrub("<p>password: correct horse <b>battery</b> staple</p>").text
    assert [word for word in ("horse", "battery", "staple") if word in out] == []
    assert out.startswith("<p>password: [REDACTED:")
    assert "<b>" in out
    assert out.endswith("</p>")


@pytest.mark.parametrize(
    "text",
    [
        "<td>password</td><td>string</td>",
        "<th>password</th><th>Beschreibung</th>",
        "<td>password: required</td>",
        "<td>password: </td>",
        "<dt>password</dt><dd>The password of the user</dd>",
        "<password>${db.password}</password>",
        "<password>string</password>",
        "<label>Password: <input type=password></label>",
        "<key>CFBundleName</key><string>MyNiceApplication</string>",
        "Map<String, Token> password = load();",
        "List<String> secret = other;",
        "token: <token>, password: <password>",
    ],
)
def test_markup_without_a_secret_stays(text: str) -> None:
    assert scrub(text).text == text


ENDINGS = [".md", ".txt", ".yaml", ".yml", ".json", ".py", ".markdown", ".conf", ".env"]
GLUED = [
    ("Authorization: Basic ", BASIC),
    ("Authorization: Bearer ", LONG),
    ("aws_secret_access_key = ", LONG),
    ("password: ", RANDOM),
    ("password: ", MIXED),
    ("password: '", MIXED),
    ("token: ", "3f9a1c0d" * 4),
    ("DB_PASSWORD=", MIXED),
    ("DB_PASSWORD=", LETTERS),
    ("see DB_PASSWORD=", MIXED),
    ("notes/DB_PASSWORD=", MIXED),
    ("the password is ", MIXED),
    ("Das Passwort lautet ", MIXED),
    ("login --password ", MIXED),
    ("<td>password: ", MIXED),
]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("label", "secret"), GLUED)
def test_a_file_ending_saves_no_secret(label: str, secret: str, ending: str) -> None:
    closing = "'" if label.endswith("'") else "</td>" if label.startswith("<td>") else ""
    after = closing + "\nnext line\n"
    out = scrub(label + secret + ending + after).text
    assert out.startswith(label + "[REDACTED:")
    assert out.endswith(after)
    for whole in (out, scrub(label + secret + ending + closing).text):
        assert secret[:6] not in whole
        assert secret[-6:] not in whole


@pytest.mark.parametrize(
    "text",
    [
        "password: notes.md",
        "password: docker-compose.yml",
        "PASSWORD=password.md",
        "DB_PASSWORD=db_password.txt",
        "token: config.py",
        "token=parser.py",
        "secret: keys/restic/repo.env",
        "password: 2024-05-01.md",
        "the password is in password.txt",
        "Authorization: Basic auth.md",
        "key: 5d41402abc4b2a76b9719d911017c592.json",
        "grafana 5d41402abc4b2a76b9719d911017c592.json",
    ],
)
def test_a_file_stays(text: str) -> None:
    assert scrub(text).text == text
