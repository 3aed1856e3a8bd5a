"""The chunk vectors of an index, which usearch holds in files that are mapped into memory.

base     the vectors of the last merge; the file is never written again
recent   those that came since; each save writes them anew, into a small file of a new name

The key of a chunk is its note's number and its place in the note. The vectors in `base` of a note that was removed or
changed since the merge no longer count: the state lists such notes as `gone`. All are compared with a question, so that
an index that grew finds what one finds that was built at once. Finds candidates only; `signals` scores them.
"""

import errno
import json
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agent.config.private import make_folder, touch
from agent.dataclass import dataclass
from agent.index.arrays import Floats
from agent.index.checksums import MappedFiles, checksum_of
from agent.index.files import Damaged, IndexFiles
from agent.json_value import parse_json

if TYPE_CHECKING:
    from usearch.index import Index

SmallRows: TypeAlias = NDArray[np.int8]
"""Vectors, one in each row, with 8 bits a dimension."""
TIED = 8
"""Factor on the wanted number, for what is equally near; more of it are copies of one template."""
_HIGH, _LOW, _SPREAD = np.uint64(32), np.uint64(0xFFFF_FFFF), np.uint64(0x9E37_79B1)
"""A key's high half is the chunk's place in its note, its low half the note's number plus a multiple of the place:
usearch looks keys up by their low bits, and takes minutes where those of many are alike."""


def load_library() -> None:
    """Import usearch ahead of the first search."""
    import_module("usearch.index")


def small_rows(vectors: Floats) -> SmallRows:
    """Vectors with 8 bits a dimension, each as long as these allow: only directions are compared."""
    longest = np.abs(vectors).max(axis=-1, keepdims=True)
    scale = np.divide(np.float32(127), longest, out=np.zeros_like(longest), where=longest > 0)
    rows: SmallRows = np.rint(vectors * scale).astype(np.int8)
    return rows


def keys_of(note: int, chunks: int) -> NDArray[np.uint64]:
    """The keys of a note's chunks."""
    places = np.arange(chunks, dtype=np.uint64)
    return (places << _HIGH) | ((np.uint64(note) + places * _SPREAD) & _LOW)


def notes_of(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The notes of some chunks."""
    return (keys - (keys >> _HIGH) * _SPREAD) & _LOW


def open_index(dimensions: int, path: Path | None = None, *, mapped: bool = False) -> "Index":
    """The vectors in a file, as a copy in memory or `mapped`, which cannot be changed; without a path, none.

    usearch's graph is as small as it can be: it is not asked. A good one takes minutes to build for 300,000 passages,
    misses some, and depends on the order in which they came.
    """
    from usearch.index import Index

    return Index(
        ndim=dimensions,
        metric="cos",
        dtype="i8",
        connectivity=2,
        expansion_add=1,
        expansion_search=1,
        path=path,
        view=mapped,
        enable_key_lookups=not mapped,
    )


def chunks_of(index: "Index") -> tuple[NDArray[np.uint64], SmallRows]:
    """The keys and the vectors of all chunks; of one that is mapped, no vectors can be had."""
    if not len(index):
        return np.zeros(0, np.uint64), np.zeros((0, index.ndim), np.int8)
    keys = np.asarray(index.keys[:], np.uint64)
    return keys, np.asarray(index.get(keys, dtype="i8"), np.int8)


@dataclass(frozen=True, slots=True)
class VectorFile:
    """A file of vectors as it was written: how many it has, and its bytes."""

    name: str
    count: int
    size: int
    checksum: int

    @property
    def name_in_errors(self) -> str:
        """The file as the person is told of it."""
        return f"vectors/{self.name}.usearch"

    def check(self, files: IndexFiles, *, bytes_too: bool = True) -> Path:
        """The file's path; raises `Damaged` when it is not what was written, by its length or also by its bytes."""
        path = files.vectors(self.name)
        try:
            if path.stat().st_size != self.size:
                raise Damaged("{path} was cut short", path=self.name_in_errors)
            if bytes_too and checksum_of(path) != self.checksum:
                raise Damaged("{path} is damaged", path=self.name_in_errors)
        except OSError as error:
            raise Damaged("{path} cannot be read: {reason}", path=self.name_in_errors, reason=error) from error
        return path

    def open(self, files: IndexFiles, dimensions: int, *, mapped: bool) -> "Index":
        """The vectors, mapped from the file, or as a copy in memory that can be changed; raises `Damaged`."""
        try:
            found = open_index(dimensions, self.check(files), mapped=mapped)
        except RuntimeError as error:  # from usearch, of any file that it does not take
            raise Damaged("{path} is damaged", path=self.name_in_errors) from error
        if len(found) != self.count:
            raise Damaged("{path} is damaged", path=self.name_in_errors)
        return found


def write_vectors(files: IndexFiles, keys: NDArray[np.uint64], rows: SmallRows) -> VectorFile:
    """Write chunks into a file of a new name; raises `OSError`, and leaves none, if the disk has no room for it."""
    index, name = open_index(rows.shape[1]), os.urandom(6).hex()
    if len(keys):
        index.add(keys, rows, threads=1)
    path = files.vectors(name)
    make_folder(path.parent)
    touch(path)
    if not _is_saved(index, path):
        path.unlink(missing_ok=True)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(path))
    return VectorFile(name, len(index), path.stat().st_size, checksum_of(path))


def _is_saved(index: "Index", path: Path) -> bool:
    """Save an index; False if the file is not whole. Of a small one usearch itself does not notice."""
    try:
        index.save(os.fspath(path))
        return len(open_index(index.ndim, path, mapped=True)) == len(index)
    except RuntimeError:
        return False


@dataclass(frozen=True, slots=True)
class VectorState:
    """What is valid, as the passage store records it: the files, and the notes whose vectors in `base` do not count."""

    dimensions: int
    base: VectorFile | None = None
    recent: VectorFile | None = None
    gone: tuple[int, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files."""
        return tuple(each.name for each in (self.base, self.recent) if each is not None)

    def to_json(self) -> str:
        rows = [
            None if each is None else [each.name, each.count, each.size, each.checksum]
            for each in (self.base, self.recent)
        ]
        return json.dumps([self.dimensions, rows, self.gone])


def parse_state(text: str, dimensions: int) -> VectorState:
    """The state in the passage store; raises `Damaged` for none, or for vectors of other dimensions."""
    try:
        found, rows, gone = parse_json(text)
        base, recent = (None if row is None else _file_of(*row) for row in rows)
        state = VectorState(int(found), base, recent, tuple(int(note) for note in gone))
    except (ValueError, TypeError) as error:
        raise Damaged("the vectors are missing") from error
    if found != dimensions:
        raise Damaged("the vectors have {found} dimensions instead of {dimensions}", found=found, dimensions=dimensions)
    return state


def _file_of(name: object, count: object, size: object, checksum: object) -> VectorFile:
    return VectorFile(str(name), int(str(count)), int(str(size)), int(str(checksum)))


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """The vectors of one state, mapped into memory."""

    state: VectorState
    base: "Index | None"
    recent: "Index | None"
    mapped: MappedFiles

    def search(self, vector: Floats, count: int) -> list[int]:
        """The notes of the nearest chunks, nearest first, at most `count` and those at an equal distance.

        Notes at an equal distance are in the order of their numbers, which differ between two builds: all or none must
        be found. Raises `Damaged` when a file became shorter.
        """
        self.mapped.check()
        row, chunks = small_rows(vector), count * 2
        while True:
            nearest, sure = self._nearest(row, chunks)
            furthest = [*nearest.values()][:count][-1:]
            if sure == np.inf or (len(nearest) >= count and sure > furthest[0]):
                break
            if nearest and chunks >= count * 2 * TIED:
                break
            chunks *= 4
        return [note for note, distance in nearest.items() if distance <= furthest[0]][: count * TIED]

    def _nearest(self, row: SmallRows, chunks: int) -> tuple[dict[int, float], float]:
        """The notes of the nearest chunks with their distances, nearest first, and the distance up to which none is
        missing."""
        notes, apart, sure = [np.zeros(0, np.uint64)], [np.zeros(0, np.float32)], np.inf
        gone = np.array(self.state.gone, np.uint64)
        parts = ((self.state.base, self.base, gone), (self.state.recent, self.recent, gone[:0]))
        for file, index, left_out in parts:
            if file is None or index is None:
                continue
            asked = min(len(index), chunks)
            found = index.search(row, asked, exact=True, threads=1)
            if asked < len(index):
                sure = min(sure, float(found.distances[-1]) if len(found) else 0.0)
            of = notes_of(found.keys)
            is_there = np.isin(of, left_out, invert=True)
            notes.append(of[is_there])
            apart.append(found.distances[is_there])
        all_notes, all_apart = np.concatenate(notes), np.concatenate(apart)
        order = np.argsort(all_apart, kind="stable")
        nearest: dict[int, float] = {}
        for note, distance in zip(all_notes[order].tolist(), all_apart[order].tolist(), strict=True):
            nearest.setdefault(note, distance)
        return nearest, sure


def load_vector_files(files: IndexFiles, state: str, dimensions: int, held: object = None) -> VectorIndex:
    """The vectors of a state, as `VectorWriter.save` returned it; raises `Damaged` when the files are not of it.

    What an earlier state `held` of the same files has is not read again; vectors of a database are none.
    """
    now, mapped = parse_state(state, dimensions), MappedFiles(files.folder / "vectors", (".usearch",))
    held = held if isinstance(held, VectorIndex) else VectorIndex(VectorState(dimensions), None, None, mapped)
    held.mapped.check()  # before the lengths are recorded anew: what was mapped then may be searched on
    base, recent = (
        index if file == was else file.open(files, dimensions, mapped=True) if file is not None else None
        for file, was, index in ((now.base, held.state.base, held.base), (now.recent, held.state.recent, held.recent))
    )
    if base is not None or recent is not None:
        mapped.look()
    return VectorIndex(now, base, recent, mapped)
