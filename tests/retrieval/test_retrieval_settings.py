"""Retrieval settings as a string that prints and parses."""

import doctest
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brainkit.retrieval.settings
from brainkit.errors import RetrievalSettingsError
from brainkit.retrieval.settings import RetrievalSettings
from brainkit.settings import Settings

parse = RetrievalSettings.parse
counts = st.integers(1, 10_000)
weights = st.floats(0, 100)
ranks = st.sampled_from(["bm25", "ts_rank", "ts_rank_cd"])
rerank = st.fixed_dictionaries(
    {},
    optional={
        "maxsim": counts,
        "rerank": counts,
        "recency": st.integers(0, 100_000),
        "mmr": st.floats(0, 1),
        "top": st.integers(1, 100),
    },
)
fields = st.one_of(
    st.fixed_dictionaries({"mode": st.just("dense"), "dense": counts}),
    st.fixed_dictionaries({"mode": st.just("lexical"), "lexical": counts, "rank": ranks}),
    st.fixed_dictionaries(
        {"dense": counts, "lexical": counts, "fusion": st.just("convex"), "alpha": st.floats(0, 1), "rank": ranks}
    ),
    st.fixed_dictionaries(
        {
            "dense": counts,
            "lexical": counts,
            "fusion": st.just("rrf"),
            "k": counts,
            "dense_weight": weights,
            "lexical_weight": st.floats(0.001, 100),
            "rank": ranks,
        }
    ),
)


@settings(deadline=None)
@given(fields, counts, rerank)
def test_every_valid_setting_parses_back_from_its_string(chosen, docs, reranker):
    made = RetrievalSettings(**chosen, docs=docs, **reranker)
    assert parse(str(made)) == made
    assert str(parse(str(made))) == str(made)
    assert parse(str(made).upper().replace(",", " , ").replace("(", " ( ").replace("+maxsim", " + maxsim")) == made


@pytest.mark.parametrize(
    "text",
    [
        "hybrid(dense=30,lexical=30,fusion=rrf,k=60,docs=2)",
        "hybrid(dense=30,lexical=30,fusion=convex,alpha=0.5,docs=2)",
        "hybrid(dense=100,lexical=5,fusion=rrf,k=10,wd=2,wl=0.5,rank=ts_rank_cd,docs=3)+maxsim(10,weight=1)",
        "dense(30)",
        "dense(7,docs=1)+maxsim(10)",
        "lexical(30,rank=bm25)",
        "dense(30,top=3)+maxsim(5)+rerank(20,model=BAAI/bge-reranker-v2-m3)+recency(180d)+mmr(0.7)",
    ],
)
def test_canonical_strings_print_as_they_are_written(text):
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("hybrid", "hybrid(dense=30,lexical=30,fusion=convex,alpha=0.5,docs=2)"),
        ("hybrid()", "hybrid(dense=30,lexical=30,fusion=convex,alpha=0.5,docs=2)"),
        (" Hybrid ( fusion = RRF ) ", "hybrid(dense=30,lexical=30,fusion=rrf,k=60,docs=2)"),
        ("hybrid(alpha=1.0,dense=5)", "hybrid(dense=5,lexical=30,fusion=convex,alpha=1,docs=2)"),
        ("dense(dense=9, docs=2)", "dense(9)"),
        ("lexical", "lexical(30,rank=bm25)"),
        ("dense + maxsim ( 10 , weight = 1.50 )", "dense(30)+maxsim(10)"),
        ("dense+mmr(.5)+Recency(90)+maxsim(9)", "dense(30)+maxsim(9)+recency(90d)+mmr(0.5)"),
    ],
)
def test_what_is_left_out_takes_its_default(text, canonical):
    assert str(parse(text)) == canonical


@pytest.mark.parametrize("embedder", ["minilm", "wordllama"])
def test_the_shipped_setting_is_the_default_in_canonical_form(embedder):
    shipped = Settings(embedder=embedder).retrieval
    assert str(parse(shipped)) == shipped
    assert replace(parse(shipped), maxsim=0) == RetrievalSettings()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("hybird(dense=3)", ["'hybird' is not a retrieval mode", "did you mean hybrid?", "hybrid, dense, lexical"]),
        ("maxsim(10)", ["'maxsim' is not a retrieval mode"]),
        ("hybrid(danse=3)", ["'danse' is not a part of hybrid with fusion=convex", "did you mean dense?", "docs"]),
        ("hybrid(fusion=convex,k=60)", ["'k' is not a part of hybrid with fusion=convex", "alpha"]),
        ("hybrid(fusion=rrf,alpha=0.5)", ["'alpha' is not a part of hybrid with fusion=rrf", "wd, wl"]),
        ("hybrid(fusion=rff)", ["fusion=rff is not allowed, did you mean rrf?", "convex, rrf"]),
        ("dense(30,rank=bm25)", ["'rank' is not a part of dense", "allowed are dense, docs"]),
        ("lexical(30,rank=bm26)", ["rank=bm26", "did you mean bm25?", "ts_rank_cd"]),
        ("dense(0)", ["dense=0 is not allowed", "a whole number from 1 to 10000"]),
        ("dense(10001)", ["dense=10001", "1 to 10000"]),
        ("dense(-5)", ["dense=-5"]),
        ("dense(3.5)", ["dense=3.5"]),
        ("dense(many)", ["dense=many"]),
        ("hybrid(alpha=1.5)", ["alpha=1.5", "a number from 0 to 1"]),
        ("hybrid(alpha=nan)", ["alpha=nan"]),
        ("hybrid(alpha=half)", ["alpha=half"]),
        ("hybrid(fusion=rrf,wd=0,wl=0)", ["nothing to rank by"]),
        ("dense(30)+maxsin(10)", ["'maxsin' is not a suffix", "did you mean maxsim?"]),
        (
            "dense(30)+recncy(180d)",
            ["'recncy' is not a suffix", "did you mean recency?", "allowed are maxsim, rerank, recency, mmr"],
        ),
        ("dense(30)+maxsim(10,wait=1)", ["'wait' is not a part of +maxsim(10)", "weight"]),
        ("dense(30)+maxsim", ["+maxsim without a number is not allowed; write +maxsim(10)"]),
        ("dense(30)+maxsim(0)", ["+maxsim without a number is not allowed; write +maxsim(10)"]),
        ("dense(30)+maxsim(ten)", ["maxsim=ten is not allowed"]),
        ("dense(30)+mmr(1)", ["+mmr without a number", "+mmr(0.7)"]),
        ("dense(30)+mmr(2)", ["mmr=2", "0 to 1"]),
        ("dense(30)+recency(6m)", ["recency=6m", "0 to 100000"]),
        ("dense(30)+recency", ["+recency without a number", "+recency(180d)"]),
        ("dense(30)+rerank(20,model=a b)", ["model=a b is not allowed"]),
        ("dense(30,top=0)", ["top=0", "1 to 100"]),
        ("dense(30)+maxsim(10,weight=101)", ["weight=101", "0 to 100"]),
        ("dense(30)+maxsim(10)+maxsim(5)", ["given twice"]),
        ("dense(30)+", ["ends in +"]),
        ("dense(30,30)", ["dense is given twice in dense(...)"]),
        ("hybrid(k=1,k=1)", ["k is given twice"]),
        ("hybrid(30)", ["'30' in hybrid(...) cannot be read", "write hybrid(dense=30"]),
        ("hybrid(dense=)", ["'dense=' in hybrid(...) cannot be read"]),
        ("dense(30,)", ["'' in dense(...) cannot be read"]),
        ("", ["cannot be read", "dense(30)"]),
        ("dense(30", ["cannot be read at 'dense(30'"]),
        ("dense(30))", ["cannot be read"]),
        ("dense(30) lexical(30)", ["cannot be read"]),
    ],
)
def test_errors_name_the_part_and_show_what_is_allowed(text, parts):
    with pytest.raises(RetrievalSettingsError) as caught:
        parse(text)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ({"mode": "dense", "lexical": 7}, "lexical=7 does nothing in dense(30)"),
        ({"fusion": "rrf", "alpha": 0.2}, "alpha=0.2 does nothing in hybrid("),
        ({"maxsim_weight": 1}, "maxsim_weight=1.0 does nothing in hybrid("),
        ({"mode": "sparse"}, "mode=sparse is not allowed"),
        ({"docs": True}, "docs=True is not allowed"),
        ({"docs": 2.0}, "docs=2.0 is not allowed"),
        ({"alpha": True}, "alpha=True is not allowed"),
        ({"alpha": None}, "alpha=None is not allowed"),
        ({"maxsim": -1}, "maxsim=-1 is not allowed"),
    ],
)
def test_made_in_code_the_same_rules_hold(values, part):
    with pytest.raises(RetrievalSettingsError) as caught:
        RetrievalSettings(**values)
    assert part in str(caught.value)


def test_equal_settings_print_alike_whatever_numbers_they_came_from():
    assert str(RetrievalSettings(alpha=-0.0)) == str(RetrievalSettings(alpha=0))
    assert str(RetrievalSettings(dense=np.int64(5), alpha=np.float32(0.5))) == str(
        replace(RetrievalSettings(), dense=5)
    )
    assert hash(parse("dense")) == hash(RetrievalSettings(mode="dense"))


def test_examples_in_the_docstrings():
    assert doctest.testmod(brainkit.retrieval.settings).failed == 0
