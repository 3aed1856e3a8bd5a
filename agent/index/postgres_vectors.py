"""The chunk vectors of an index in PostgreSQL: half-precision numbers of pgvector, found by its HNSW graph.

Until the first index is whole, and while the vectors are few, all are compared. The graph finds nearly all that a
comparison of all does; `signals` scores what is found.
"""

import json
from collections.abc import Iterable, Sequence

import numpy as np

from agent.dataclass import dataclass
from agent.index.arrays import Floats
from agent.index.files import Damaged
from agent.index.postgres_session import IndexSession
from agent.json_value import parse_json

GRAPH_FROM = 5_000
"""Chunks from which there is a graph: to compare as many takes 2 ms."""
_TIED = 8
"""Factor on the wanted number, for what is equally near."""
_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"


@dataclass(slots=True)
class PostgresVectorWriter:
    """The vectors of one index while it is written, in the transaction of its store."""

    session: IndexSession
    dimensions: int

    @property
    def names(self) -> tuple[str, ...]:
        """No files."""
        return ()

    def load(self, state: str, *, verify: bool = False) -> None:
        """Continue from a state; raises `Damaged` when it is of other dimensions."""
        check_state(state, self.dimensions)

    def add(self, notes: Sequence[int], vectors: Sequence[Floats]) -> None:
        """Add the chunk vectors of notes that are not in the index."""
        counts = [len(each) for each in vectors]
        if not sum(counts):
            return
        self._make()
        row = np.dtype(
            [("fields", ">i2"), ("note_size", ">i4"), ("note", ">i4"), ("place_size", ">i4"), ("place", ">i4")]
            + [("size", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"), ("vector", ">f2", (self.dimensions,))]
        )
        rows = np.zeros(sum(counts), row)
        rows["fields"], rows["note_size"], rows["place_size"] = 3, 4, 4
        rows["size"], rows["dimensions"] = 4 + 2 * self.dimensions, self.dimensions
        rows["note"] = np.repeat(np.array(notes), counts)
        rows["place"] = np.concatenate([np.arange(each) for each in counts])
        rows["vector"] = np.concatenate([each for each in vectors if len(each)])
        query = "copy chunk from stdin (format binary)"
        with self.session.reading() as connection, connection.cursor().copy(query) as copy:
            copy.write(b"".join((_HEADER, rows.tobytes(), _END)))

    def remove(self, notes: Iterable[int]) -> None:
        """Remove notes, whether indexed or not."""
        gone = sorted({*notes})
        if gone and self.session.has("chunk"):
            with self.session.reading() as connection:
                connection.execute("delete from chunk where note = any(%s::int[])", (gone,))

    def save(self) -> str:
        """The state for `load` and for readers."""
        self._make()
        return json.dumps([self.dimensions])

    def _make(self) -> None:
        if not self.session.has("chunk"):
            with self.session.reading() as connection:
                connection.execute(
                    f"create table chunk (note int not null, place int not null, vector halfvec({self.dimensions}) "
                    "not null, primary key (note, place))"
                )
                connection.execute("alter table chunk alter column vector set storage plain")


def make_graph(session: IndexSession) -> None:
    """Make the graph of an index whose first notes are all there, if it has none and its vectors are many."""
    with session.reading() as connection:
        if not session.has("chunk") or session.has("chunk_graph"):
            return
        few = connection.execute("select count(*) from (select from chunk limit %s) few", (GRAPH_FROM,)).fetchone()
        if few is None or few[0] < GRAPH_FROM:
            return
        with connection.transaction():
            # A graph that fits into this memory is built several times as fast; half a million chunks take 1 GB.
            connection.execute(
                "select set_config('maintenance_work_mem', '1GB', true) "
                "where pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('1GB')"
            )
            connection.execute("create index chunk_graph on chunk using hnsw (vector halfvec_cosine_ops)")


def check_state(state: str, dimensions: int) -> None:
    """Raise `Damaged` for no state, or for vectors of other dimensions."""
    try:
        (found,) = parse_json(state)
    except (ValueError, TypeError) as error:
        raise Damaged("the vectors are missing") from error
    if found != dimensions:
        raise Damaged("the vectors have {found} dimensions instead of {dimensions}", found=found, dimensions=dimensions)


@dataclass(frozen=True, slots=True)
class PostgresVectors:
    """The vectors of an index, for searches."""

    session: IndexSession

    def search(self, vector: Floats, count: int) -> list[int]:
        """The notes of the nearest chunks, nearest first, at most `count` and those at an equal distance."""
        asked = "[" + ",".join(f"{each:.5g}" for each in vector.tolist()) + "]"
        chunks = count * 2
        while True:
            query = "select note, vector <=> %s::halfvec as apart from chunk order by apart limit %s"
            with self.session.reading() as connection:
                rows = connection.execute(query, (asked, chunks)).fetchall()
            nearest: dict[int, float] = {}
            for note, apart in rows:
                nearest.setdefault(note, apart)
            furthest = [*nearest.values()][:count][-1:]
            is_sure = len(nearest) > count and rows[-1][1] > furthest[0]
            if is_sure or len(rows) < chunks or chunks >= count * 2 * _TIED:
                break
            chunks *= 2
        return [note for note, apart in nearest.items() if apart <= furthest[0]][: count * _TIED]
