"""Grids in a retrieval string: every combination, named, or what is wrong."""

import pytest

from brainkit.errors import RetrievalSettingsError, UsageError
from brainkit.eval.config import load_config
from brainkit.eval.grid import expand
from brainkit.retrieval import RetrievalSettings


def test_a_string_without_lists_is_itself():
    assert expand("a", "dense(30)") == {"a": RetrievalSettings.parse("dense(30)")}


def test_lists_stand_for_every_combination():
    found = expand("rrf", "hybrid(dense=[10, 30,100], lexical=30, fusion=rrf, k=[10,60])+maxsim([5,10])")
    assert len(found) == 12
    assert list(found)[:3] == [
        "rrf dense=10 k=10 maxsim=5", "rrf dense=10 k=10 maxsim=10", "rrf dense=10 k=60 maxsim=5",
    ]  # fmt: skip
    assert str(found["rrf dense=100 k=60 maxsim=10"]) == (
        "hybrid(dense=100,lexical=30,fusion=rrf,k=60,docs=2)+maxsim(10)"
    )
    assert str(expand("d", "dense([5,7])")["d dense=7"]) == "dense(7,docs=2)".replace(",docs=2", "")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("dense([])", UsageError, "holds an empty list"),
        ("dense([0,5])", RetrievalSettingsError, "dense=0 is not allowed"),
        ("dense([5)", RetrievalSettingsError, "cannot be read|not allowed"),
        (f"hybrid(dense={list(range(1, 101))},lexical={list(range(1, 12))})", UsageError, "stands for 1100 settings"),
    ],
)
def test_what_is_wrong_is_named(text, error, message):
    with pytest.raises(error, match=message):
        expand("x", text)


def test_a_settings_file_may_hold_grids_and_name_one_of_them_as_main(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text('main = "g alpha=0.5"\n[settings]\ng = "hybrid(alpha=[0.2,0.5])"\nwords = "lexical(30)"\n')
    config = load_config(file)
    assert list(config.settings) == ["g alpha=0.2", "g alpha=0.5", "words"]
    assert config.settings[config.main].alpha == 0.5
    file.write_text('main = "g"\n[settings]\ng = "hybrid(alpha=[0.2,0.5])"\n')
    with pytest.raises(UsageError, match=r"main = 'g' is none of \[settings\]: g alpha=0\.2, g alpha=0\.5"):
        load_config(file)
