"""The weights of a search. They are no settings: they were fitted with `python -m tests.bench.tune` (five-fold by
conversation), then rounded.

Every signal is divided by its best value among the candidates, then the weighted shares are added (`fusion`).
"""

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType

from agent.dataclass import dataclass

EXACT_CHUNKS = 16_000
"""Up to this many chunks every one is compared in full: 1 ms, and no match is missed."""
SHORTLIST = 5_500
"""Chunks of a larger index that are compared in full, and one of 200 besides. Of the 10 nearest of a million .991 are
among them (`python -m tests.bench vectors`), of 498,000 of words drawn by chance, all nearly as near, .997."""


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """The weight of each signal; `signals` explains them."""

    note: float = 0.0
    title: float = 0.0
    unit: float = 0.0
    hood: float = 0.0
    unit_cosine: float = 0.0
    hood_cosine: float = 0.0
    unit_match: float = 0.0
    hood_match: float = 0.0
    date: float = 0.0
    coverage: float = 0.0
    missed: float = 0.0


SIGNALS = tuple(SignalWeights.__annotations__)
_FIELD_WEIGHTS = MappingProxyType(
    {"title": 3.0, "path": 1.0, "tags": 2.0, "headings": 1.0, "links": 0.5, "dates": 1.0, "body": 1.0}
)
FIELDS = tuple(_FIELD_WEIGHTS)
"""The separate fields of every keyword engine; `title` includes the aliases."""
_NOTE = SignalWeights(
    note=1.0,
    title=0.5,
    unit=0.5,
    hood=1.2,
    unit_cosine=1.0,
    hood_cosine=1.4,
    unit_match=0.8,
    hood_match=1.8,
    date=2.0,
)
_PASSAGE = SignalWeights(
    note=0.7, title=0.3, unit=1.0, hood=0.7, unit_cosine=0.3, hood_cosine=0.2, unit_match=0.5, date=0.5
)


@dataclass(frozen=True, slots=True)
class Weights:
    """All tunable values; the defaults are the weights that ship."""

    k1: float = 1.2
    b: float = 0.75
    """`k1` and `b` are those of BM25."""
    keyword_candidates: int = 60
    vector_candidates: int = 20
    """Notes taken from each engine before the signals are computed."""
    fields: Mapping[str, float] = field(default_factory=lambda: _FIELD_WEIGHTS)
    """The weight of a term in each field, relative to one in the body."""
    note: SignalWeights = _NOTE
    """For one hit per note: `unit` is a line of the note, `hood` that line with two on each side."""
    passage: SignalWeights = _PASSAGE
    """For one hit per passage."""
    window_lines: int = 4
    window_words: int = 200
    """The most lines and terms of a passage."""
    sharpness: float = 4.0
    """The factor by which the best line of a passage outweighs its neighbours."""
    exact_chunks: int = EXACT_CHUNKS
    """Above this many chunks, only those nearest by the signs of their vectors are compared in full: `shortlist`, and
    one of 200."""
    shortlist: int = SHORTLIST
