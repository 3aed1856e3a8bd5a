"""The Protocol of keyword engines, which find the notes that hold given terms, the likeliest first.

An engine only finds candidates: their scores are computed from the passage store, by the same formula for every engine.
That keeps an index that grew by updates equal to one built at once, since engines count deleted notes in their
statistics until they merge.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from numpy.typing import NDArray

from agent.index.hit import Engine as Engine
from agent.index.weights import Weights

FieldTerms: TypeAlias = Mapping[str, Sequence[str]]
"""The terms of a note by field, for each of `weights.FIELDS`."""


class KeywordIndex(Protocol):
    """A folder of postings. One process writes; any number read, and see the last commit after `refresh`."""

    @property
    def name(self) -> Engine: ...

    def change(self, added: Iterable[tuple[int, FieldTerms]], removed: Iterable[int]) -> None:
        """Make one commit: remove the notes `removed`, then index `added`. A note that is indexed again is in both."""
        ...

    def refresh(self) -> None:
        """Load the last commit. Raises `Damaged` when the files are not a complete index."""
        ...

    def search(self, terms: Sequence[str], count: int, allowed: NDArray | None = None) -> list[int]:  # type: ignore[type-arg]
        """At most `count` notes that hold a term, the best first; only those in `allowed` (sorted) when it is given."""
        ...

    def count(self) -> int:
        """The number of indexed notes at the last `refresh`."""
        ...

    def rest(self) -> None:
        """End what an open engine does by itself, such as a thread that looks at a file twice a second; the next
        `change` or `refresh` starts it again."""
        ...

    def close(self) -> None: ...


def engine_for(setting: Literal["auto", "whoosh", "tantivy"]) -> Engine:
    """The engine to use: `auto` is tantivy if it is installed, else Whoosh."""
    if setting == "whoosh" or (setting == "auto" and find_spec("tantivy") is None):
        return "whoosh"
    return "tantivy"


def open_engine(engine: Engine, folder: Path, weights: Weights) -> KeywordIndex:
    """The engine for a folder, which may not exist yet; raises `ImportError` when the engine is not installed.

    Imported here, so that a search with one engine never loads the other.
    """
    module, name = {
        "whoosh": ("agent.index.whoosh_keyword", "WhooshKeyword"),
        "tantivy": ("agent.index.tantivy_keyword", "TantivyKeyword"),
    }[engine]
    opened: KeywordIndex = getattr(import_module(module), name)(folder, weights)
    return opened
