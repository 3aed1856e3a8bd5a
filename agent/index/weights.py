"""The weights of a search, read from `configs/retrieval.yaml`, where each stands with the command that gave it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Literal

import yaml

from agent.config.resources import resource
from agent.errors import Permanent

FIELDS = ("title", "path", "tags", "headings", "links", "dates", "body")
"""What every keyword engine indexes apart; `title` has the aliases too."""

EXACT = 100_000
"""Up to so many chunks (33,000 notes of 130 words) every one is compared: 2.3 ms, and no answer is missed."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What each signal counts; see `signals` for what they are."""

    note: float = 0.0
    title: float = 0.0
    unit: float = 0.0
    hood: float = 0.0
    unit_cosine: float = 0.0
    hood_cosine: float = 0.0
    unit_match: float = 0.0
    hood_match: float = 0.0
    date: float = 0.0


SIGNALS = tuple(each.name for each in fields(Signals))


@dataclass(frozen=True, slots=True)
class Weights:
    """All that can be tuned."""

    strategy: Literal["scores", "rrf"]
    k1: float
    b: float
    keyword_candidates: int
    vector_candidates: int
    fields: Mapping[str, float]
    note: Signals
    passage: Signals
    rrf: Signals
    rrf_k: float
    window_lines: int
    window_words: int
    sharpness: float
    exact_chunks: int = EXACT
    """More chunks than these are searched along usearch's graph."""


@cache
def default() -> Weights:
    """The weights that ship; raises `Permanent` when the file is missing or does not hold them."""
    text = (resource("configs") / "retrieval.yaml").read_text("utf-8")
    try:
        return read(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except (KeyError, TypeError, ValueError) as error:
        raise Permanent(f"configs/retrieval.yaml is not complete: {error}", hint="install vault-agent again") from error


def read(tree: Mapping[str, Mapping[str, float]]) -> Weights:
    """The weights in a parsed file; raises `KeyError`, `TypeError` or `ValueError` for what does not fit."""
    strategy = str(tree["strategy"])
    if strategy not in ("scores", "rrf"):
        raise ValueError(f"strategy must be scores or rrf, not {strategy}")
    rrf = dict(tree["rrf"])
    return Weights(
        strategy=strategy,  # type: ignore[arg-type]
        k1=float(tree["bm25"]["k1"]),
        b=float(tree["bm25"]["b"]),
        keyword_candidates=int(tree["candidates"]["keyword"]),
        vector_candidates=int(tree["candidates"]["vector"]),
        fields={name: float(weight) for name, weight in tree["fields"].items()} | {"body": 1.0},
        rrf_k=float(rrf.pop("k")),
        note=Signals(**tree["note"]),
        passage=Signals(**tree["passage"]),
        rrf=Signals(**rrf),
        window_lines=int(tree["window"]["lines"]),
        window_words=int(tree["window"]["words"]),
        sharpness=float(tree["window"]["sharpness"]),
    )
