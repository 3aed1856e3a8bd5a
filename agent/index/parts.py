"""The parts of an index, opened where it is: in the files of this machine, or in a database that several share.

What reads and writes an index asks here, and knows no other difference between the two.
"""

from typing import TYPE_CHECKING, Protocol, TypeAlias, Union, cast

from agent.index.checksums import Checksums
from agent.index.files import IndexFiles
from agent.index.note_store import NoteStore
from agent.index.passage_store import open_store as open_file_store
from agent.lazy import later

if TYPE_CHECKING:
    from agent.index.keyword import Engine, KeywordIndex, Weights, open_engine
    from agent.index.postgres_keyword import PostgresKeyword
    from agent.index.postgres_place import PostgresPlace
    from agent.index.postgres_store import PostgresStore
    from agent.index.postgres_vectors import PostgresVectors, PostgresVectorWriter, check_state
    from agent.index.vector_writer import VectorWriter
    from agent.index.vectors import VectorIndex, load_vector_files
else:  # numpy, which nobody needs who only looks at the state; an extra
    open_engine = later("agent.index.keyword", "open_engine")
    VectorWriter = later("agent.index.vector_writer", "VectorWriter")
    load_vector_files = later("agent.index.vectors", "load_vector_files")
    PostgresKeyword = later("agent.index.postgres_keyword", "PostgresKeyword")
    PostgresVectors = later("agent.index.postgres_vectors", "PostgresVectors")
    PostgresVectorWriter = later("agent.index.postgres_vectors", "PostgresVectorWriter")
    check_state = later("agent.index.postgres_vectors", "check_state")

IndexPlace: TypeAlias = Union[IndexFiles, "PostgresPlace"]
VectorReader: TypeAlias = Union["VectorIndex", "PostgresVectors"]
AnyVectorWriter: TypeAlias = Union["VectorWriter", "PostgresVectorWriter"]


class Seal(Protocol):
    """What tells that the parts of an index belong together, and that none has changed since it was written."""

    def verify(self) -> None:
        """Raise `Damaged` when a part has changed."""
        ...

    def write(self, generation: int) -> None:
        """Record that the parts are of this generation."""
        ...

    def is_of(self, generation: int) -> bool:
        """True if the parts are of this generation."""
        ...


class OneTransaction:
    """The seal of an index whose parts are all written in one transaction."""

    def verify(self) -> None: ...

    def write(self, generation: int) -> None: ...

    def is_of(self, generation: int) -> bool:
        return True


def open_store(place: IndexPlace, *, write: bool) -> NoteStore:
    """The passage store, created if missing and `write`; raises `Damaged` for a missing or broken one."""
    if isinstance(place, IndexFiles):
        return open_file_store(place.store, write=write)
    return place.open_store(write=write)


def open_keyword(place: IndexPlace, engine: "Engine", weights: "Weights", store: NoteStore) -> "KeywordIndex":
    """The keyword index beside a store."""
    if isinstance(place, IndexFiles):
        return open_engine(engine, place.keyword(engine), weights)
    return PostgresKeyword(_of(store).session, weights)


def open_seal(place: IndexPlace, engine: "Engine") -> Seal:
    """The seal of all parts."""
    return Checksums(place.keyword(engine)) if isinstance(place, IndexFiles) else OneTransaction()


def vector_writer(place: IndexPlace, dimensions: int, store: NoteStore) -> AnyVectorWriter:
    """What writes the vectors beside a store."""
    if isinstance(place, IndexFiles):
        return VectorWriter(place, dimensions)
    return PostgresVectorWriter(_of(store).session, dimensions)


def load_vectors(
    place: IndexPlace, store: NoteStore, dimensions: int, held: VectorReader | None = None
) -> VectorReader:
    """The vectors beside a store, for searches; those of an earlier state `held` are not read again. Raises
    `Damaged`."""
    state = store.meta("vectors")
    if isinstance(place, IndexFiles):
        return load_vector_files(place, state, dimensions, held)
    check_state(state, dimensions)
    return PostgresVectors(_of(store).session)


def has_vectors(place: IndexPlace, state: str) -> bool:
    """True if the vectors of a recorded state are there, or if it has none."""
    return place.has_vectors(state) if isinstance(place, IndexFiles) else True


def _of(store: NoteStore) -> "PostgresStore":
    """The store of a place that is no folder."""
    return cast("PostgresStore", store)
