"""Plain BM25: the notes as the keyword engine itself ranks them, before any signal of ours looks inside them.

The baseline that says what the signals are worth; `keyword mode` is not one, as it has all of them but the vectors.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import numpy as np

from agent.index.files import IndexFiles
from agent.index.keyword import Engine, open_engine
from agent.index.passage_store import open_store
from agent.index.query import parse_query
from agent.index.weights import Weights


@contextmanager
def plain_notes(files: IndexFiles, engine: Engine) -> Iterator[Callable[[str, int], list[str]]]:
    """A search of a finished index: the paths of at most so many notes for a question, the best first."""
    keyword = open_engine(engine, files.keyword(engine), Weights())
    with closing(keyword), closing(open_store(files.store, write=False)) as store:
        keyword.refresh()
        paths = {number: path for path, number in store.ids(store.hashes()).items()}

        def search(text: str, count: int) -> list[str]:
            query = parse_query(text, store.facet_keys() if ":" in text else frozenset())
            allowed = np.array(store.matching(query.filters), dtype=np.int64) if query.filters else None
            if allowed is not None and not len(allowed):
                return []
            return [paths[number] for number in keyword.search(query.terms, count, allowed)]

        yield search
