"""Retrieval settings as one string, the same in code, environment, command line, TOML and reports.

::

    hybrid(dense=30,lexical=30,fusion=convex,alpha=0.5,docs=2)   both channels, their scores mixed
    hybrid(dense=30,lexical=30,fusion=rrf,k=60,docs=2)           both channels, their ranks mixed
    dense(30)   lexical(30,rank=bm25)                            one channel
    hybrid(...,top=3)                                            a document counts by its best three chunks
    hybrid(...)+maxsim(10)                                       then the first ten reranked token by token,
    hybrid(...)+rerank(20,model=bge-reranker-v2-m3)              or by a server's model,
    hybrid(...)+recency(180d)+mmr(0.7)                           newer notes and unlike ones moved up
    hybrid(...)+expand(1)                                        then what the found documents are linked with
"""

from __future__ import annotations

import contextlib
import difflib
import operator
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, NoReturn, SupportsFloat, SupportsIndex

from brainkit.errors import RetrievalSettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORM = (
    "hybrid(dense=30,lexical=30,fusion=convex,alpha=0.5,docs=2), dense(30) or lexical(30), "
    "then +maxsim(10), +rerank(20), +recency(180d), +mmr(0.7), +expand(1) if wanted"
)
_TERM = re.compile(r"\s*([a-z_]\w*)\s*(?:\(([^()]*)\))?\s*(?:\+|$)", re.IGNORECASE)
_SUFFIXES = {
    "maxsim": ["maxsim", "weight"],
    "rerank": ["rerank", "model"],
    "recency": ["recency"],
    "mmr": ["mmr"],
    "expand": ["expand"],
}
"""What may follow a mode, in the order in which it is done, each with its parts."""
_EXAMPLES = {
    "maxsim": "+maxsim(10)",
    "rerank": "+rerank(20)",
    "recency": "+recency(180d)",
    "mmr": "+mmr(0.7)",
    "expand": "+expand(1)",
}


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How a question becomes a recall; ``str()`` prints it, ``parse`` reads it back.

    Two settings that retrieve alike are equal and print alike: a field that does nothing in its mode keeps its default.

    Attributes:
        mode: hybrid, dense or lexical.
        dense: chunks the dense channel contributes, 1..10000.
        lexical: chunks the lexical channel contributes, 1..10000.
        fusion: convex (scores: alpha x cosine + (1 - alpha) x lexical share) or rrf (ranks: weight / (k + rank)).
        alpha: share of the cosine in convex, 0..1.
        k: constant of rrf, 1..10000.
        dense_weight: weight of the dense channel in rrf, 0..100; ``wd`` in the string.
        lexical_weight: weight of the lexical channel in rrf, 0..100; ``wl`` in the string.
        rank: how the lexical channel scores: bm25, ts_rank or ts_rank_cd.
        docs: documents that go into the answer's context, 1..10000.
        top: chunks whose scores, added up, are a document's; 1 (its best chunk) up to 100.
        maxsim: chunks that late interaction reranks, 1..10000; 0 is off.
        maxsim_weight: weight of late interaction's score, 0..100; ``weight`` in the string.
        rerank: chunks that the server at BOR_RERANK_URL reranks, 1..10000; 0 is off.
        rerank_model: name of its model, "" for the server's own; ``model`` in the string.
        recency: days after which a note counts three quarters of the newest one, 1..100000; 0 is off.
        mmr: share of relevance against being unlike what comes before, 0..1; 1 is off.
        expand: steps along links from the found documents, whose ends come after them, 1..3; 0 is off.

    Raises:
        RetrievalSettingsError: a value is not allowed, or set where it does nothing.

    Example:
        >>> settings = RetrievalSettings.parse("hybrid(fusion=rrf) + maxsim(10)")
        >>> str(settings)
        'hybrid(dense=30,lexical=30,fusion=rrf,k=60,docs=2)+maxsim(10)'
        >>> RetrievalSettings.parse(str(settings)) == settings
        True
    """

    mode: Literal["hybrid", "dense", "lexical"] = "hybrid"
    dense: int = 30
    lexical: int = 30
    fusion: Literal["convex", "rrf"] = "convex"
    alpha: float = 0.5
    k: int = 60
    dense_weight: float = 1.0
    lexical_weight: float = 1.0
    rank: Literal["bm25", "ts_rank", "ts_rank_cd"] = "bm25"
    docs: int = 2
    top: int = 1
    maxsim: int = 0
    maxsim_weight: float = 1.5
    rerank: int = 0
    rerank_model: str = ""
    recency: int = 0
    mmr: float = 1.0
    expand: int = 0

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            object.__setattr__(self, name, kind.read(name, getattr(self, name)))
        acting = {"mode", *_SUFFIXES, *(_field(key) for key in _keys(self.mode, self.fusion))}
        for name in self._suffixes():
            acting |= {_field(key) for key in _SUFFIXES[name]}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in acting and value != field.default:
                _fail(f"{field.name}={value} does nothing in {self}", "leave it at its default")
        if self.dense_weight == self.lexical_weight == 0:
            _fail("wd=0,wl=0 leaves nothing to rank by", "give one of them a weight above 0")

    @classmethod
    def parse(cls, text: str) -> RetrievalSettings:
        """The settings ``text`` names; what it leaves out takes its default, spaces and case do not matter.

        Raises:
            RetrievalSettingsError: names the part that is wrong, what is allowed, and the nearest name if one is near.
        """
        (mode, parts), *suffixes = _terms(text)
        _known(mode, _MODE.options, "a retrieval mode")
        fusion = _FUSION.read("fusion", parts.get("fusion", cls().fusion))
        place = f"{mode} with fusion={fusion}" if mode == "hybrid" else mode
        values: dict[str, Any] = {"mode": mode}
        for key, value in parts.items():
            _known(key, _keys(mode, fusion), f"a part of {place}")
            values[_field(key)] = _KINDS[_field(key)].read(key, value)
        for name, suffix in suffixes:
            _known(name, _SUFFIXES, "a suffix")
            if name in values:
                _fail(f"+{name}(...) is given twice", "give it once")
            for key, value in suffix.items():
                _known(key, _SUFFIXES[name], f"a part of {_EXAMPLES[name]}")
                values[_field(key)] = _KINDS[_field(key)].read(key, value)
            if values.get(name, cls.__dataclass_fields__[name].default) == cls.__dataclass_fields__[name].default:
                _fail(f"+{name} without a number is not allowed", f"write {_EXAMPLES[name]}, or leave it out")
        return cls(**values)

    def __str__(self) -> str:
        """The canonical string; a hybrid leaves out only rank=bm25, top=1 and weights of 1, the short forms docs=2."""
        quiet = {"wd", "wl", "rank", "top"} if self.mode == "hybrid" else {"docs", "top"}
        text = _print(self.mode, self, _keys(self.mode, self.fusion), quiet)
        suffixes = [_print(name, self, _SUFFIXES[name], {"weight", "model"}) for name in self._suffixes()]
        return "+".join([text, *suffixes])

    def _suffixes(self) -> list[str]:
        """Names of the suffixes that are on."""
        return [name for name in _SUFFIXES if getattr(self, name) != self.__dataclass_fields__[name].default]


@dataclass(frozen=True, slots=True)
class _Choice:
    options: tuple[str, ...]

    def read(self, name: str, value: object) -> str:
        if value not in self.options:
            near = _nearest(str(value), self.options)
            _fail(f"{name}={value} is not allowed{near}", f"give one of {', '.join(self.options)}")
        return str(value)


@dataclass(frozen=True, slots=True)
class _Whole:
    low: int
    high: int = 10_000
    unit: str = ""

    def read(self, name: str, value: object) -> int:
        number = -1
        if isinstance(value, str):
            number = int(value.removesuffix(self.unit)) if re.fullmatch(f"[0-9]{{1,9}}{self.unit}?", value) else -1
        elif isinstance(value, SupportsIndex) and not isinstance(value, bool):
            number = operator.index(value)
        if not self.low <= number <= self.high:
            _fail(f"{name}={value} is not allowed", f"give a whole number from {self.low} to {self.high}")
        return number


@dataclass(frozen=True, slots=True)
class _Decimal:
    high: int

    def read(self, name: str, value: object) -> float:
        number = -1.0
        if isinstance(value, str | SupportsFloat) and not isinstance(value, bool):
            with contextlib.suppress(ValueError):
                number = float(value)
        if not 0 <= number <= self.high:
            _fail(f"{name}={value} is not allowed", f"give a number from 0 to {self.high}")
        return number + 0.0  # -0.0 would print as another string than the 0.0 it equals


@dataclass(frozen=True, slots=True)
class _Name:
    def read(self, name: str, value: object) -> str:
        if not isinstance(value, str) or not re.fullmatch(r"[\w./:@-]{0,200}", value, re.ASCII):
            _fail(f"{name}={value} is not allowed", "give a name of letters, digits and . / : @ _ -")
        return value


_MODE = _Choice(("hybrid", "dense", "lexical"))
_FUSION = _Choice(("convex", "rrf"))
_KINDS: dict[str, _Choice | _Whole | _Decimal | _Name] = {
    "mode": _MODE,
    "dense": _Whole(1),
    "lexical": _Whole(1),
    "fusion": _FUSION,
    "alpha": _Decimal(1),
    "k": _Whole(1),
    "dense_weight": _Decimal(100),
    "lexical_weight": _Decimal(100),
    "rank": _Choice(("bm25", "ts_rank", "ts_rank_cd")),
    "docs": _Whole(1),
    "top": _Whole(1, 100),
    "maxsim": _Whole(0),
    "maxsim_weight": _Decimal(100),
    "rerank": _Whole(0),
    "rerank_model": _Name(),
    "recency": _Whole(0, 100_000, "d"),
    "mmr": _Decimal(1),
    "expand": _Whole(0, 3),
}
_SHORT = {"wd": "dense_weight", "wl": "lexical_weight", "weight": "maxsim_weight", "model": "rerank_model"}


def _field(key: str) -> str:
    return _SHORT.get(key, key)


def _keys(mode: str, fusion: str) -> list[str]:
    """Names of the parts that act, in the order they are printed."""
    if mode == "hybrid":
        mixed_by = ["alpha"] if fusion == "convex" else ["k", "wd", "wl"]
        return ["dense", "lexical", "fusion", *mixed_by, "rank", "docs", "top"]
    return [mode, *(["rank"] if mode == "lexical" else []), "docs", "top"]


def _print(name: str, settings: RetrievalSettings, keys: Iterable[str], quiet: set[str]) -> str:
    """``name(part,key=part,...)`` without those of ``quiet`` that have their default."""
    parts = []
    for key in keys:
        value = getattr(settings, _field(key))
        if key in quiet and value == RetrievalSettings.__dataclass_fields__[_field(key)].default:
            continue
        shown = repr(value).removesuffix(".0") if isinstance(value, float) else f"{value}{_unit(_field(key))}"
        parts.append(shown if key == name else f"{key}={shown}")
    return f"{name}({','.join(parts)})"


def _unit(field: str) -> str:
    return getattr(_KINDS[field], "unit", "")


def _terms(text: str) -> list[tuple[str, dict[str, str]]]:
    """``name(part, ...)+name(...)`` as names with their parts; a part without a key belongs to the name itself."""
    terms: list[tuple[str, dict[str, str]]] = []
    rest = text.strip()
    while not terms or rest:
        found = _TERM.match(rest)
        if not found:
            _fail(f"retrieval {text!r} cannot be read at {rest[:40]!r}", f"write {_FORM}")
        name, inner = found[1].lower(), found[2] or ""
        parts: dict[str, str] = {}
        for part in inner.split(",") if inner.strip() else []:
            key, equals, value = (piece.strip() for piece in part.partition("="))
            key, value = (key.lower(), value) if equals else (name, key)
            if key != "model":
                value = value.lower()
            if not key or not value or (key == name == "hybrid"):
                _fail(f"{part.strip()!r} in {name}(...) cannot be read", f"write {_FORM}")
            if key in parts:
                _fail(f"{key} is given twice in {name}(...)", "give it once")
            parts[key] = value
        terms.append((name, parts))
        rest = rest[found.end() :]
    if text.rstrip().endswith("+"):
        _fail(f"retrieval {text!r} ends in +", f"write {_FORM}")
    return terms


def _known(name: str, allowed: Iterable[str], what: str) -> None:
    allowed = list(allowed)
    if name not in allowed:
        _fail(f"{name!r} is not {what}{_nearest(name, allowed)}", f"allowed are {', '.join(allowed)}")


def _nearest(name: str, allowed: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(allowed), 1, 0.5)
    return f", did you mean {near[0]}?" if near else ""


def _fail(fault: str, remedy: str) -> NoReturn:
    raise RetrievalSettingsError(f"{fault}; {remedy}")
