"""Settings: every variable once, wrong values named with what is allowed, no secret shown anywhere."""

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from brainkit.errors import SettingsError
from brainkit.settings import Settings, unknown_variables, variable_of

PASSWORD = "Quark" + "-7711-geheim"

WRONG = [
    ("BOR_EMBEDDER", "bert", "'minilm', 'wordllama', 'ollama' or 'openai'"),
    ("BOR_EMBEDDING_DIM", "0", "greater than or equal to 1"),
    ("BOR_EMBEDDING_DIM", "384.5", "valid integer"),
    ("BOR_EMBEDDING_DIM", "5000", "less than or equal to 4000"),
    ("BOR_EMBEDDING_TIMEOUT", "0", "greater than 0"),
    ("BOR_EMBEDDING_TIMEOUT", "nan", "less than or equal to 3600"),
    ("BOR_EMBEDDING_BATCH", "many", "valid integer"),
    ("BOR_THREADS", "0", "greater than or equal to 1"),
    ("BOR_IMPORT_EXTENSIONS", " , ,", "at least one file ending"),
    ("BOR_MAX_FILE_MB", "inf", "less than or equal to 100000"),
    ("BOR_MAX_FILE_MB", "-1", "greater than 0"),
    ("BOR_CHUNK_TARGET_CHARS", "199", "greater than or equal to 200"),
    ("BOR_CHUNK_OVERLAP_CHARS", "601", "less than or equal to 600"),
    ("BOR_SCRUB_EMAIL", "perhaps", "valid boolean"),
    ("BOR_STREAM_THINKING", "2", "valid boolean"),
    ("BOR_RELEVANCE_THRESHOLD", "nan", "finite number"),
    ("BOR_RELEVANCE_THRESHOLD", "high", "valid number"),
    ("BOR_STEERING_MAX_CHARS", "-1", "greater than or equal to 0"),
    ("BOR_LOG", "loud", "'debug', 'info', 'warning' or 'error'"),
    ("BOR_PG_OSUSER", "Robert'); drop", "match pattern"),
    ("BOR_HOME", "~nobody-of-that-name/brain", "there is no user ~nobody-of-that-name"),
    ("BOR_DATABASE_URL", "mysql://db", "starts with postgresql://"),
    ("BOR_OLLAMA_URL", "http://amsel:11434,meise:11434", "starts with http://"),
    ("BOR_OLLAMA_URL", ",", "starts with http://"),
    ("BOR_EMBEDDING_BASE_URL", "http://amsel/v1,,http://meise/v1", "starts with http://"),
    ("BOR_HTTP_PORT", "65536", "less than or equal to 65535"),
    ("BOR_MCP_ROOTS", "/notes:notes", "notes is relative"),
    ("BOR_MCP_ROOTS", "~nobody-of-that-name/v", "there is no user ~nobody-of-that-name"),
    ("BOR_VECTOR_CACHE", "~nobody-of-that-name/v", "there is no user ~nobody-of-that-name"),
]


@pytest.mark.parametrize(("variable", "value", "allowed"), WRONG)
def test_a_wrong_value_names_the_variable_and_what_is_allowed(monkeypatch, variable, value, allowed):
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as caught:
        Settings()
    assert caught.value.exit_code == 2
    assert str(caught.value).startswith(variable)
    assert allowed in str(caught.value)
    if variable != "BOR_DATABASE_URL":
        assert repr(value) in str(caught.value)


@pytest.mark.parametrize(("variable", "value", "_allowed"), WRONG)
def test_a_keyword_of_a_wrong_value_is_refused_alike(variable, value, _allowed):
    with pytest.raises(SettingsError, match=f"^{variable}"):
        Settings(**{variable.removeprefix("BOR_").lower(): value})


def test_every_fault_is_told_at_once():
    with pytest.raises(SettingsError) as caught:
        Settings(embedder="bert", threads=0)
    assert [line.split()[0] for line in str(caught.value).splitlines()] == ["BOR_EMBEDDER", "BOR_THREADS"]


def test_a_keyword_that_is_no_setting_gets_a_suggestion_and_its_value_is_not_shown():
    with pytest.raises(SettingsError) as caught:
        Settings(databse_url=f"postgresql://u:{PASSWORD}@h/d", wibble=1)
    assert "databse_url is not a setting; did you mean database_url?" in str(caught.value)
    assert "wibble is not a setting" in str(caught.value)
    assert PASSWORD not in str(caught.value)


def test_the_original_names_work(monkeypatch):
    values = {
        "BOR_RELEVANCE_THRESHOLD": "0.62", "BOR_EMBEDDING_DIM": "768", "BOR_IMPORT_EXTENSIONS": "md,.TXT, yaml,md",
        "BOR_CHUNK_TARGET_CHARS": "2000", "BOR_CHUNK_OVERLAP_CHARS": "100", "BOR_DATABASE_URL": "postgres://h/d",
        "BOR_STREAM_THINKING": "0", "BOR_STEERING_MAX_CHARS": "12",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert settings.relevance_threshold == 0.62
    assert settings.embedding_dim == 768
    assert settings.import_extensions == ("md", "txt", "yaml")
    assert (settings.chunk_target_chars, settings.chunk_overlap_chars) == (2000, 100)
    assert settings.database_url == SecretStr("postgres://h/d")
    assert settings.stream_thinking is False
    assert settings.steering_max_chars == 12


def test_ollama_url_is_an_alias_that_gives_way(monkeypatch):
    assert Settings().ollama_url == "http://127.0.0.1:11434"
    monkeypatch.setenv("OLLAMA_URL", "http://kranich:11434")
    assert Settings().ollama_url == "http://kranich:11434"
    assert origin(Settings(), "BOR_OLLAMA_URL") == "environment"
    monkeypatch.setenv("BOR_OLLAMA_URL", "http://amsel:11434")
    assert Settings().ollama_url == "http://amsel:11434"
    assert Settings(ollama_url="http://meise:11434").ollama_url == "http://meise:11434"
    assert unknown_variables() == {}


def origin(settings, variable):
    return next(row.origin for row in settings.describe() if row.variable == variable)


def test_origin_tells_keyword_environment_and_default(monkeypatch, tmp_path):
    monkeypatch.setenv("BOR_EMBEDDER", "wordllama")
    monkeypatch.setenv("BOR_THREADS", "")  # empty counts as not set
    settings = Settings(home=tmp_path)
    assert origin(settings, "BOR_EMBEDDER") == "environment"
    assert origin(settings, "BOR_HOME") == "keyword"
    assert origin(settings, "BOR_THREADS") == "default"
    assert origin(Settings(embedder="minilm"), "BOR_EMBEDDER") == "keyword"


def test_a_keyword_over_a_broken_variable_can_be_described(monkeypatch):
    monkeypatch.setenv("BOR_EMBEDDER", "bert")
    settings = Settings(embedder="minilm")
    assert origin(settings, "BOR_EMBEDDER") == "keyword"


def test_describe_lists_every_setting_once_with_its_help():
    rows = Settings().describe()
    names = [row.variable for row in rows]
    assert names == [variable_of(name) for name in Settings.model_fields]
    assert len(set(names)) == len(names)
    assert all(name.startswith("BOR_") for name in names)
    assert all(row.help.endswith(".") for row in rows)


SECRET_SETTINGS = [
    {"database_url": f"postgresql://u:{PASSWORD}@h/d"},
    {"embedding_api_key": PASSWORD},
    {"embedding_base_url": f"https://u:{PASSWORD}@h/v1"},
    {"ollama_url": f"http://u:{PASSWORD}@h:11434"},
]


@pytest.mark.parametrize("keywords", SECRET_SETTINGS, ids=lambda k: next(iter(k)))
def test_no_secret_is_shown_by_describe_repr_or_str(keywords):
    settings = Settings(**keywords)
    shown = f"{settings!r} {settings} {settings.describe()}"
    assert PASSWORD not in shown
    assert "****" in shown


def test_no_secret_is_shown_by_errors():
    for keywords in (
        {"database_url": f"mysql://u:{PASSWORD}@h/d"},
        {"embedding_api_key": [PASSWORD]},
        {"embedding_timeout": f"https://u:{PASSWORD}@h/v1"},
    ):
        with pytest.raises(SettingsError) as caught:
            Settings(**keywords)
        assert PASSWORD not in str(caught.value)
        assert caught.value.__cause__ is None


def test_unknown_variables_get_the_nearest_name(monkeypatch):
    monkeypatch.setenv("BOR_EMBEDER", "minilm")
    monkeypatch.setenv("BOR_XYZZY_PLUGH", "1")
    assert unknown_variables() == {"BOR_EMBEDER": "BOR_EMBEDDER", "BOR_XYZZY_PLUGH": ""}


def test_paths_are_absolute_and_at_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert Settings(home="~/b").home == tmp_path / "b"
    assert Settings(scrub_rules="rules.toml").scrub_rules == tmp_path / "rules.toml"
    assert Settings(vector_cache="~/v").vector_cache == tmp_path / "v"
    assert Settings(mcp_roots="~/a::/b c:").mcp_roots == (tmp_path / "a", Path("/b c"))
    assert Settings().mcp_roots == ()
    (shown,) = [one.value for one in Settings(mcp_roots="/a:/b").describe() if one.variable == "BOR_MCP_ROOTS"]
    assert shown == "/a:/b"
    assert Settings(vector_cache="off").vector_cache == "off"
    monkeypatch.delenv("BOR_VECTOR_CACHE")
    assert Settings().vector_cache is None


def test_settings_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        Settings().embedder = "wordllama"


@pytest.mark.parametrize("name", ["ollama_url", "embedding_base_url"])
@pytest.mark.parametrize("value", ["http://amsel:1", "http://amsel,https://meise", "http://amsel:1, http://meise:2 ,"])
def test_an_address_or_several(name, value):
    assert getattr(Settings(**{name: value}), name) == value


def test_no_password_of_several_addresses_is_shown():
    urls = f"http://u:{PASSWORD}@amsel,http://v:{PASSWORD}@meise"
    settings = Settings(ollama_url=urls)
    assert PASSWORD not in f"{settings!r} {settings.describe()}"
    with pytest.raises(SettingsError) as caught:
        Settings(ollama_url=f"{urls},ftp://w:{PASSWORD}@star")
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize("name", ["ollama_url", "embedding_base_url"])
@pytest.mark.parametrize("value", ["http://[::", "localhost:11434", "ftp://host", "http://", "http://host:99999"])
def test_an_address_that_is_none_names_its_variable(name, value):
    with pytest.raises(SettingsError, match=variable_of(name)):
        Settings(**{name: value})
