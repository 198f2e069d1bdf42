"""The user's rules and allow-list, e-mail addresses, the LlamaIndex step, and the tables of formats themselves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import re2
from llama_index.core.schema import Document, MediaResource, Node, NodeRelationship, RelatedNodeInfo, TextNode

import brainkit.scrub
from brainkit.errors import SettingsError
from brainkit.scrub import SCRUB_VERSION, Scrubber, ScrubTransform, scrub
from brainkit.scrub.lead import lead
from brainkit.scrub.page import options
from brainkit.scrub.rules import rows, words


def rules_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_exported_names() -> None:
    assert brainkit.scrub.__all__ == ["SCRUB_VERSION", "Finding", "ScrubResult", "ScrubTransform", "Scrubber", "scrub"]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        brainkit.scrub.nothing  # noqa: B018 - the access itself is under test


def test_user_rules_and_allow_list(tmp_path: Path) -> None:
    path = rules_file(
        tmp_path,
        """
allow = ["Fernhof2019", "re:demo-[0-9]+"]

[[rule]]
kind = "badge"
pattern = 'badge no\\. (\\d{6})'
ignore_case = true

[[rule]]
pattern = 'Grünspecht'
""",
    )
    scrubber = Scrubber(rules=path)
    assert scrubber.scrub("Badge No. 123456 ok").text == "Badge No. [REDACTED:badge] ok"
    assert scrubber.scrub("der Grünspecht").text == "der [REDACTED:user-rule]"
    for kept in ("password: Fernhof2019", "password: demo-12345"):
        assert scrubber.scrub(kept).text == kept
    assert "Fernhof2019" not in scrub("password: Fernhof2019").text


def test_what_only_shows_after_a_redaction_goes_too_and_is_found_in_the_input(tmp_path: Path) -> None:
    scrubber = Scrubber(rules=rules_file(tmp_path, "[[rule]]\nkind = 'next'\npattern = ':password\\] ([a-z]+)'"))
    text = "a password: hunter2! after, password: hunter3! more"
    result = scrubber.scrub(text)
    assert (
        result.text == "a password: [REDACTED:password] [REDACTED:next], password: [REDACTED:password] [REDACTED:next]"
    )
    assert [text[f.start : f.end] for f in result.findings] == ["hunter2!", "after", "hunter3!", "more"]
    assert scrubber.scrub(result.text).findings == ()


def test_rules_that_never_settle_end(tmp_path: Path) -> None:
    scrubber = Scrubber(rules=rules_file(tmp_path, "[[rule]]\npattern = '(?:\\A|\\]) ?([a-z])'"))
    assert len(scrubber.scrub("a b c d e f g h i j").findings) >= 5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("allow = [", "is not TOML"),
        ("rules = 1", "'rules' is not known"),
        ("allow = 3", "allow"),
        ("allow = ['']", "allow"),
        ("allow = ['re:(']", "RE2 cannot run"),
        ("rule = [1]", "rule 1"),
        ("[[rule]]\nkind = 'x'", "rule 1"),
        ("[[rule]]\nkind = 'A B'\npattern = 'x'", "kind is lower-case"),
        ("[[rule]]\npattern = '(?=a)'", "RE2 cannot run"),
        ("[[rule]]\npattern = 'a*'", "empty text"),
    ],
)
def test_a_bad_rules_file_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(says)) as error:
        Scrubber(rules=rules_file(tmp_path, text))
    assert "BOR_SCRUB_RULES" in str(error.value)


def test_a_missing_or_undecodable_rules_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"BOR_SCRUB_RULES .* cannot be read"):
        Scrubber(rules=tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="BOR_SCRUB_RULES"):
        Scrubber(rules=tmp_path / "bad.toml")


def test_email_only_when_asked() -> None:
    text = "write to ina@fernhof.example today"
    assert scrub(text).text == text
    assert Scrubber(email=True).scrub(text).text == "write to [REDACTED:email] today"


def test_version_names_the_rules_in_force(tmp_path: Path) -> None:
    plain = Scrubber()
    versions = {
        plain.version,
        Scrubber(email=True).version,
        Scrubber(rules=rules_file(tmp_path, "allow = ['a']")).version,
    }
    assert len(versions) == 3
    assert plain.version == Scrubber().version
    assert plain.version.startswith(SCRUB_VERSION)


def test_transform_cleans_text_metadata_and_relations() -> None:
    secret = "hunter" + "2!x"
    node = TextNode(
        text=f"password: {secret}",
        metadata={
            "note": f"token: {'a1B2' * 6}",
            "tags": [f"pw={secret}"],
            "password": secret,
            "pages": 3,
            "long": "a\nb",
        },
    )
    node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(
        node_id="1", metadata={"title": f"password: {secret}"}
    )
    node.relationships[NodeRelationship.CHILD] = [RelatedNodeInfo(node_id="2", metadata={"title": f"pw: {secret}"})]
    other = Node(text_resource=MediaResource(text=f"password: {secret}"))
    document = Document(text=f"password: {secret}")
    cleaned = ScrubTransform()([node, other, document])
    assert [type(n) for n in cleaned] == [TextNode, Node, Document]
    for item in cleaned:
        assert secret not in item.model_dump_json()
        assert "[REDACTED:password]" in item.get_content()
    assert cleaned[0].metadata["pages"] == 3
    assert cleaned[0].metadata["long"] == "a\nb"


def test_transform_takes_options(tmp_path: Path) -> None:
    step = ScrubTransform(email=True, rules=rules_file(tmp_path, "[[rule]]\npattern = 'Amsel'"))
    [node] = step([TextNode(text="Amsel a@b.example")])
    assert node.get_content() == "[REDACTED:user-rule] [REDACTED:email]"


def test_every_rule_runs_on_re2_and_says_where_its_format_is_published() -> None:
    table = rows()
    assert len(table) > 300
    for row in table:
        compiled = re2.compile(row.pattern.encode("latin-1"), options())
        assert compiled.groups <= 3
        assert row.source
        assert re.fullmatch("[a-z0-9-]+", row.kind)
        assert compiled.search(b"") is None


def test_word_lists_are_plain_words() -> None:
    for name in ("nothing", "harmless_after", "harmless_before", "vendors"):
        found = words(name)
        assert len(found) == len(set(found)) > 20


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\bgh[pousr]_[A-Za-z0-9]{36,255}", "x ghp_" + "a1B2" * 9),
        (r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}", "a" * 14 + ".atlasv1." + "b" * 64),
        (r"(?i)a(?:b|cd+)?e{2}f*[^x]g|hij", "ABEEzG"),
        (r"(?i)a(?:b|cd+)?e{2}f*[^x]g|hij", "xxhij"),
        (r"x{0,2}y{3}(?:z{7,}|w)+q", "yyyzzzzzzzzq"),
        (r"(?:token|key-[a-z]{3,9})-?[0-9]:x", "key-abcdef-1:x"),
    ],
)
def test_a_lead_is_in_every_match(pattern: str, text: str) -> None:
    assert re2.search(pattern, text)
    assert re2.search(lead(pattern).pattern, text)
