"""No secret that lies in a file, its name or a question reaches a table, the server's files, a report or a log."""

import json
import random
import string

import pytest
from psycopg import sql

from brainkit import Brain

LETTERS = string.ascii_letters + string.digits


def secrets():
    """Fresh ones of kinds that are told by their shape or their label, none of them anyone's."""
    rng = random.Random(20261130)

    def some(count, alphabet=LETTERS):
        return "".join(rng.choices(alphabet, k=count))

    def github():
        return "gh" + "p_" + some(36)

    return {
        "aws": "AK" + "IA" + some(16, string.ascii_uppercase + "234567"),
        "github": github(),
        "github_in_title": github(),
        "github_in_tag": github(),
        "github_in_link": github(),
        "github_in_name": github(),
        "github_in_folder": github(),
        "github_in_key": github(),
        "github_in_question": github(),
        "github_in_label": github(),
        "gitlab": "glpat" + "-" + some(20),
        "password": "Xq7" + some(12),
        "password_in_folder": "Zt4" + some(12),
        "json": "Vb8" + some(14),
        "url": "Lm3" + some(12),
        "pem": some(64),
    }


@pytest.fixture(scope="module")
def planted():
    return secrets()


@pytest.fixture
def folder(tmp_path, planted):
    s = planted
    folder = tmp_path / "notes"
    folder.mkdir()
    begin, end = (f"-----{word} " + "PRIVATE KEY-----" for word in ("BEGIN", "END"))
    (folder / "plain.md").write_text(
        f"---\ntitle: Token {s['github_in_title']}\ntags: [{s['github_in_tag']}, strom]\n---\n"
        f"# Keys\n\nkey {s['aws']} and {s['github']} then [[{s['github_in_link']}]]\n\n"
        f"password: {s['password']}\n\n## Zugang {s['gitlab']}\n\n{begin}\n{s['pem']}\n{end}\n"
    )
    (folder / "deploy.yaml").write_text(
        f"db:\n  url: postgresql://ina:{s['url']}@db.fernhof.example/x\n  {s['github_in_key']}: 1\n"
    )
    (folder / "app.json").write_text(json.dumps({"db_password": s["json"], "port": 8971}))
    (folder / f"{s['github_in_name']}.md").write_text("named after a token\n")
    (folder / f"password={s['password_in_folder']}").mkdir()
    (folder / f"password={s['password_in_folder']}" / "b.md").write_text("in a folder named after a password\n")
    (folder / s["github_in_folder"]).mkdir()
    (folder / s["github_in_folder"] / "a.md").write_text("in a folder named after a token\n")
    (folder / s["github_in_folder"] / "empty.md").touch()
    return folder


def everything_stored(database):
    """All tables, row by row, as text."""
    with database.connection() as connection:
        names = [row[0] for row in connection.execute("select tablename from pg_tables where schemaname = 'public'")]
        assert {"documents", "chunks", "lexemes", "lexeme_stats", "sources", "query_log", "labels"} <= set(names)
        return {
            name: "\n".join(
                row[0] for row in connection.execute(sql.SQL("select t::text from {} t").format(sql.Identifier(name)))
            )
            for name in names
        }


def test_no_planted_secret_is_stored_shown_or_logged(open_brain, folder, planted, server, caplog):
    caplog.set_level("DEBUG", logger="brainkit")
    brain: Brain = open_brain()
    report = brain.import_paths([folder])
    assert len(report.indexed) == 6
    assert brain.import_paths([folder / planted["github_in_folder"]]).unchanged
    asked = f"Is {planted['github_in_question']} the token of the database?"
    brain.ask(asked)
    label = {
        "id": "q1",
        "question": f"Whose token is {planted['github_in_label']}?",
        "answerable": True,
        "relevant": [{"doc": "app.json", "quote": ""}],
    }
    brain.calibrate([label])
    shown = [str(report), json.dumps(report.to_dict()), json.dumps(brain.list_documents()), caplog.text]
    stored = everything_stored(brain._database)
    with brain._database.connection() as connection:
        connection.execute("checkpoint")
    raw = (
        b"".join(path.read_bytes() for path in server.data_dir.rglob("*") if path.is_file())
        + server.log_path.read_bytes()
    )
    for kind, secret in planted.items():
        for name, text in stored.items():
            assert secret.lower() not in text.lower(), f"{kind} is in table {name}"
        assert all(secret not in text for text in shown), f"{kind} is shown"
        assert secret.encode() not in raw, f"{kind} is in the server's files"
        assert brain.find_texts(secret) == 0
    # What stands beside them is there: the notes were not thrown away with their secrets.
    texts = "\n".join(brain.document_texts().values())
    for kept in (
        "password:",
        "db.fernhof.example",
        "8971",
        "named after a token",
        "in a folder named after a password",
    ):
        assert kept in texts
    assert sum(report.redactions.values()) >= 9


def test_the_search_above_would_find_a_secret(open_brain, tmp_path, server):
    """A word that is no secret is found by the same means, in tables and in the server's files."""
    (tmp_path / "n").mkdir()
    word = "harmless" + "".join(random.Random(1).choices(string.ascii_lowercase, k=20))
    (tmp_path / "n" / "a.md").write_text(f"# A\n\n{word}\n")
    brain = open_brain()
    brain.import_paths([tmp_path / "n"])
    stored = everything_stored(brain._database)
    assert {name for name, text in stored.items() if word in text} == {"documents", "chunks", "lexemes", "lexeme_stats"}
    with brain._database.connection() as connection:
        connection.execute("checkpoint")
    raw = b"".join(path.read_bytes() for path in server.data_dir.rglob("*") if path.is_file())
    assert word.encode() in raw
