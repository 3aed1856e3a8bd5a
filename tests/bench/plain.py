"""Plain BM25: notes or passages as the keyword engine itself ranks them, without any other signal.

The baseline for search by passages, without any of our signals. A passage of one line finds what is said in that line
only; our passages are up to `window.lines` long, so passages of as many lines are the like to compare with.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias

import numpy as np

from agent.index import document
from agent.index.keyword import FIELDS, Engine, Weights, open_engine
from agent.index.parts import IndexPlace, open_keyword, open_store
from agent.index.query import parse_query

Span: TypeAlias = tuple[str, int, int]
"""A note's path, and the first and last line of a passage, inclusive, from 1 in the file."""


@contextmanager
def plain_passages(
    notes: Mapping[str, bytes], lines: int, engine: Engine, folder: Path, weights: Weights
) -> Iterator[Callable[[str, int], list[Span]]]:
    """Index passages of so many units (a heading with its first line, or a line) in `folder`; a search of them."""
    spans: list[Span] = []
    found: list[tuple[str, ...]] = []
    for path in sorted(notes):
        units = [unit for unit in document.parse_document(path, notes[path]).units if unit.first]  # without the title's
        for start in range(0, len(units), lines):
            some = units[start : start + lines]
            spans.append((path, some[0].first, some[-1].last))
            found.append(tuple(term for unit in some for term in unit.terms))
    keyword = open_engine(engine, folder, weights)
    with closing(keyword):
        empty: dict[str, tuple[str, ...]] = {name: () for name in FIELDS}
        keyword.change(((number, {**empty, "body": terms}) for number, terms in enumerate(found)), ())
        keyword.refresh()
        yield lambda text, count: [spans[number] for number in keyword.search(parse_query(text).terms, count)]


@contextmanager
def plain_notes(place: IndexPlace, engine: Engine) -> Iterator[Callable[[str, int], list[str]]]:
    """A search of a finished index: the paths of at most so many notes for a question, the best first."""
    with (
        closing(open_store(place, write=False)) as store,
        closing(open_keyword(place, engine, Weights(), store)) as keyword,
    ):
        keyword.refresh()
        paths = {number: path for path, number in store.ids(store.hashes()).items()}

        def search(text: str, count: int) -> list[str]:
            query = parse_query(text, store.facet_keys() if ":" in text else frozenset())
            allowed = np.sort(np.array(store.matching(query.filters))) if query.filters else None
            if allowed is not None and not len(allowed):
                return []
            return [paths[number] for number in keyword.search(query.terms, count, allowed)]

        yield search
