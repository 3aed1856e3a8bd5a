"""The gate of recall: the probability that one passage helps with one question or request.

It is a logistic of how the passage fits (the rare words that it has and misses, its meaning, a name in both) and of
what is asked: about somebody's own things, about one case ("which", "when", "the"), or about a thing in general ("a").
So one passage comes in while its neighbour, or the next sentence of the request, brings nothing. Fitted with
`python -m tests.bench.gate` on conversations in English and Chinese, LoCoMo and the two help vaults, against general
tasks that use the same everyday words.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeAlias

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.index.hit import Hit, Mode

Floor: TypeAlias = Literal["off", "normal", "strict"]
LEAST = MappingProxyType({"off": 0.0, "normal": 0.45, "strict": 0.6})
"""The probability below which a passage is not given unasked."""
SURE = 0.5
"""The share of a question's rare words from which a passage is taken for an answer to a search."""
BY_ITSELF = MappingProxyType({"off": 0.25, "normal": 0.25, "strict": 0.4})
"""The probability, by what it says alone, below which text of strangers is not given unasked."""
_NAME = re.compile(r"(?<![\w'’-])[A-Z][^\W\d_]+")
_WORDS = re.compile(r"\w+")
_FEW_NOTES = 3
"""A word that not more of the notes found have is a name, if it is the title of one."""
_LONG = 3
"""The characters of a script without spaces that make a name as telling as two words."""
_OF_CLAUSE = ("own_thing", "own_choice", "one_case", "definite", "indefinite")


@dataclass(frozen=True, slots=True)
class Logistic:
    """The weights of a fit: of what is asked (the lists of these names in `understanding.yaml`), and of the passage.
    `coverage` and `missed` are the rare words of what is asked that it has and misses, `unit_cosine` is the similarity
    of meaning, `date` the closeness to a day that is named, `name` says that both have a name."""

    constant: float
    own_thing: float = 0.0
    own_self: float = 0.0
    own_choice: float = 0.0
    one_case: float = 0.0
    definite: float = 0.0
    indefinite: float = 0.0
    name: float = 0.0
    coverage: float = 0.0
    missed: float = 0.0
    unit_cosine: float = 0.0
    date: float = 0.0


FEATURES = tuple(Logistic.__annotations__)[1:]
HYBRID = Logistic(-3.96, 2.58, 4.49, 2.46, 1.97, 0.62, -0.39, 2.98, 1.91, -0.26, 6.83, 4.47)
KEYWORD = Logistic(-3.64, 1.02, 3.13, 0.85, 1.27, -0.24, -1.18, 3.52, 7.28, 0.02, 0.0, 3.19)
_STRANGERS = Logistic(-5.26, coverage=1.02, missed=-0.54, unit_cosine=11.52)
_STRANGERS_KEYWORD = Logistic(-3.19, coverage=5.1, missed=-0.08)
"""For text of strangers: what is asked does not speak for it, only what it says."""


def likelihood(asked: str, hit: Hit, mode: Mode) -> float:
    """The probability, 0 to 1, that a passage helps with one question or request; the hit has its signals (`why`)."""
    return _probability(features(asked, hit), HYBRID if mode in {"hybrid", "vector"} else KEYWORD)


def likelihood_by_itself(hit: Hit, mode: Mode) -> float:
    """The probability that a passage helps by what it says alone, whatever is asked for. Text of strangers has to be
    likely by this measure."""
    if _signals(hit).get("date", 0.0) > 0:
        return 1.0
    fit = _STRANGERS if mode in {"hybrid", "vector"} else _STRANGERS_KEYWORD
    return _probability(_signals(hit), fit)


def fits_by_itself(hit: Hit, mode: Mode) -> bool:
    """True if a passage that a search has found is likely to help by what it says alone, or has at least half of the
    question's rare words: a search for one name finds it in a long text about something else. True, too, where nothing
    is known of how it fits, as for a search by filters alone."""
    return not hit.why or coverage(hit) >= SURE or likelihood_by_itself(hit, mode) >= BY_ITSELF["normal"]


def coverage(hit: Hit) -> float:
    """The share of the question's rare words that a passage has, 0 to 1."""
    return _signals(hit).get("coverage", 0.0)


def features(asked: str, hit: Hit) -> dict[str, float]:
    """The values that the weights of a `Logistic` are multiplied with, by name."""
    clause, names = _of_clause(asked)
    return {**_signals(hit), **clause, "name": float(not names.isdisjoint(_NAME.findall(hit.passage)))}


def named_notes(asked: str, found: Sequence[Hit]) -> frozenset[str]:
    """The notes among those found whose title, file name or alias is in what is asked, if that name is of several
    words, or few notes have its word."""
    said, named = _plain(asked), set[str]()
    for hit in found:
        stem = hit.path.rpartition("/")[2].removesuffix(".md")
        aliases = (value for key, value in hit.facets if key in {"alias", "aliases"})
        names = filter(None, map(_plain, (hit.title, stem, *aliases)))
        if any(_has(said, name) and (_is_long(name) or _is_rare(name, found)) for name in names):
            named.add(hit.path)
    return frozenset(named)


def _is_long(name: str) -> bool:
    return len(terms(name)) > 1 if name.isascii() else len(name) >= _LONG


def _is_rare(name: str, found: Sequence[Hit]) -> bool:
    having = {hit.path for hit in found if _has(_plain(f"{hit.title} {hit.passage}"), name)}
    return bool(terms(name)) and len(name) > 1 and not name.isdecimal() and len(having) <= _FEW_NOTES


def _has(text: str, name: str) -> bool:
    return f" {name} " in f" {text} " if name.isascii() else name in text


def _plain(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))


def _probability(values: dict[str, float], fit: Logistic) -> float:
    total = fit.constant + sum(getattr(fit, name) * values.get(name, 0.0) for name in FEATURES)
    return 1.0 / (1.0 + math.exp(-total))


def _signals(hit: Hit) -> dict[str, float]:
    return {leg.name: leg.score for leg in hit.why}


@lru_cache(maxsize=64)
def _of_clause(asked: str) -> tuple[Mapping[str, float], frozenset[str]]:
    """What is asked, as features, and the names in it."""
    text = asked.replace("’", "'")
    found = {name: float(pattern(name).search(text) is not None) for name in _OF_CLAUSE}
    is_self = pattern("own_self").search(pattern("in_passing").sub(" ", text)) is not None
    found["own_self"] = float(is_self and not found["own_thing"])
    return found, frozenset(name for name in _NAME.findall(asked) if terms(name))
