"""The Protocol of keyword engines, which find the notes that hold given terms, the likeliest first.

An engine only finds candidates: their scores are computed from the passage store, by the same formula for every engine.
That keeps an index that grew by updates equal to one built at once, since engines count deleted notes in their
statistics until they merge.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias

from numpy.typing import NDArray

from agent.dataclass import dataclass
from agent.index.query import Engine as Engine


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

    For PostgreSQL the folder is no more than a name, in the database of the environment.

    Imported here, so that a search with one engine never loads the other.
    """
    module, name = {
        "whoosh": ("agent.index.whoosh_keyword", "WhooshKeyword"),
        "tantivy": ("agent.index.tantivy_keyword", "TantivyKeyword"),
        "postgres": ("agent.index.postgres_keyword", "open_postgres_keyword"),
    }[engine]
    opened: KeywordIndex = getattr(import_module(module), name)(folder, weights)
    return opened
