"""Computes the signals of each candidate: words and meaning, of notes, lines and their neighbourhood.

`note`, `unit` and `hood` are BM25 over the note with its fields, over a line, and over a line with two on each side;
`title` is BM25 over the fields only: title, aliases, headings, tags, folders, links. `unit_cosine` and `hood_cosine`
compare the summed vectors. `unit_match` and `hood_match` take for each token of the query its nearest token (late
interaction, as in ColBERT, squared). `date` is the closeness of the note's day. `coverage` is the share of the query's
terms, by their rarity, that a line's neighbourhood or the fields contain, and `missed` the number of those that they do
not, counted in terms that no note has; both have no weight in the order. Weighing the signals is left to
`fusion`.

Terms that the titles or headings of all notes of a folder share: "Session 1", "Session 2", or "## Tasks" each day.

They tell no note of the folder from another, so that they score nothing in it. A folder's own name is no such term: it
tells its notes from those of others.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.index.arrays import HOOD, Batch, Floats, Ints, Words, distinct, term_hash, times_in, tokens_in
from agent.index.embedder import Embedder
from agent.index.keyword import Weights

_LEAST, _ENOUGH = 4, 30
"""The notes of the smallest folder that is looked at, and how many with a term are enough in a large one, of which a
search scores only a part."""
_SHARE = 0.9


def shared_terms(
    asked: NDArray[np.uint32], has: NDArray[np.bool_], paths: Sequence[str], size: Callable[[str], int]
) -> NDArray[np.bool_]:
    """For each term that is asked for and each note (at these paths) True if its folder's notes share the term. `has`
    says whether the note has it in its title or headings; `size` counts the notes of a folder."""
    shared = np.zeros_like(has)
    folders: dict[str, list[int]] = {}
    for at, path in enumerate(paths):
        folders.setdefault(path.rpartition("/")[0], []).append(at)
    for folder, notes in folders.items():
        if folder and len(notes) >= _LEAST:
            least = min(max(_SHARE * size(folder), _LEAST), _ENOUGH)
            own = np.isin(asked, np.array([term_hash(term) for term in terms(folder)], np.uint32))
            shared[np.ix_((has[:, notes].sum(axis=1) >= least) & ~own, notes)] = True
    return shared


Row = NDArray[np.float64]
_ONE_THREAD = 1 << 18
"""Multiplications of the largest product of matrices for which OpenBLAS uses one thread."""
_ROWS = 512
"""Rows of tokens that are compared together: half a megabyte."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Figures of the whole vault: the numbers of notes and units, and their average lengths in terms."""

    notes: int
    units: int
    note_length: float
    unit_length: float
    hood_length: float
    frequency: Mapping[int, tuple[int, int]]
    """For each query term, the numbers of notes and of units that contain it."""
    paths: Sequence[str] = ()
    """Those of the candidates, in their order."""
    folder_size: Callable[[str], int] = len
    """Function from a folder to the number of notes in it."""


@dataclass(frozen=True, slots=True)
class EncodedQuery:
    """A query as numbers: its terms, and its tokens with the weighted vector of each (none without an embedder)."""

    terms: Sequence[int]
    tokens: Ints
    vectors: Floats

    @property
    def vector(self) -> Floats:
        """The vector of the whole query, of length 1, or zeros."""
        total: Floats = self.vectors.sum(axis=0)
        norm = float(np.linalg.norm(total))
        return total / np.float32(norm) if norm else total


def encode_query(text: str, terms: Sequence[int], embedder: Embedder | None) -> EncodedQuery:
    """The query as numbers."""
    if embedder is None:
        return EncodedQuery(terms, np.zeros(0, np.int32), np.zeros((0, 0), np.float32))
    (tokens,) = embedder.tokens([text])
    return EncodedQuery(terms, tokens, embedder.vectors(tokens))


def word_signals(encoded: EncodedQuery, batch: Batch, statistics: Statistics, weights: Weights) -> dict[str, Row]:
    """`note` and `title` for each note, `unit` and `hood` for each unit."""
    units, arrays = batch.units, batch.arrays
    terms, times = np.unique(np.array(encoded.terms, dtype=np.uint32), return_counts=True)
    which, here = _places(terms, arrays.terms)
    at = np.searchsorted(arrays.ends, here, side="right")
    count = _table(which, at, (len(terms), units))
    which_beside, beside = _places(terms, arrays.extra)
    extra = _table(which_beside, batch.extra_note[beside], (len(terms), batch.notes), arrays.extra_weights[beside])
    shared = shared_terms(terms, extra > 0, statistics.paths, statistics.folder_size)
    if shared.any():
        extra[shared] = 0.0
        count[shared[:, batch.unit_note] & (arrays.first == 0)] = 0.0
    whole = _over_notes(count, batch) + extra
    lengths = np.diff(arrays.ends, prepend=0).astype(np.float64)
    note_lengths = np.bincount(batch.unit_note, lengths, batch.notes).astype(np.float64)
    frequency = [statistics.frequency.get(term, (0, 0)) for term in terms.tolist()]
    note_idf = (times * np.array([_idf(statistics.notes, in_notes) for in_notes, _ in frequency]))[:, None]
    unit_idf = (times * np.array([_idf(statistics.units, in_units) for _, in_units in frequency]))[:, None]
    around, hood_lengths = _over_hoods(count, batch), _over_hoods(lengths, batch)
    saturated = {
        "note": note_idf * _saturated(whole, note_lengths, statistics.note_length, weights),
        "title": note_idf * extra / (extra + weights.k1),
        "unit": unit_idf * _saturated(count, lengths, statistics.unit_length, weights),
        "hood": note_idf * _saturated(around, hood_lengths, statistics.hood_length, weights),
    }
    found = (around > 0) | (extra > 0)[:, batch.unit_note]
    covered, whole_idf = (note_idf * found).sum(axis=0), float(note_idf.sum())
    measures = {
        "coverage": covered / max(whole_idf, 1e-9),
        "missed": (whole_idf - covered) / _idf(statistics.notes, 0),
    }
    return {name: of_terms.sum(axis=0) for name, of_terms in saturated.items()} | measures


def meaning_signals(encoded: EncodedQuery, batch: Batch, embedder: Embedder) -> dict[str, Row]:
    """`unit_cosine`, `hood_cosine`, `unit_match` and `hood_match` for each unit."""
    arrays, units = batch.arrays, batch.units
    names = ("unit_cosine", "hood_cosine", "unit_match", "hood_match")
    if not len(arrays.tokens) or not len(encoded.vectors):
        return {name: np.zeros(units) for name in names}
    tokens, places = distinct(tokens_in(arrays.tokens))
    place = places.astype(np.int64)
    # a script that the model knows by its bytes says the same token again and again
    _, first, which = np.unique(encoded.tokens, return_index=True, return_inverse=True)
    along, near = _compared(encoded.vector, encoded.vectors[first], tokens, embedder)
    full, starts = _full_units(arrays.token_ends)
    dots = np.zeros(units)
    dots[full] = np.add.reduceat(along.take(place) * times_in(arrays.tokens), starts)
    best = np.zeros((len(near), units), np.float32)
    best[:, full] = _best_of_units(near, place, starts)
    around = best.copy()
    for step in range(1, HOOD + 1):
        together = batch.unit_note[step:] == batch.unit_note[:-step]
        np.maximum(around[:, step:], best[:, :-step] * together, out=around[:, step:])
        np.maximum(around[:, :-step], best[:, step:] * together, out=around[:, :-step])
    weight = _lengths(encoded.vectors)
    share = (weight / max(float(weight.sum()), 1e-9))[:, None]
    return {
        "unit_cosine": dots / np.maximum(arrays.norms, 1e-9),
        "hood_cosine": _over_hoods(dots, batch) / np.maximum(arrays.hood_norms, 1e-9),
        "unit_match": (best[which] * share).sum(axis=0).astype(np.float64),
        "hood_match": (around[which] * share).sum(axis=0).astype(np.float64),
    }


def _compared(whole: Floats, asked: Floats, tokens: Ints, embedder: Embedder) -> tuple[Row, Floats]:
    """For each token its product with the `whole` query, and how near each asked vector (the rows of the result) is to
    it: the square of the cosine.

    In blocks whose rows stay in the processor's cache. Each product of matrices is so small that BLAS does not split it
    over several threads, which on a busy machine wait for each other many times longer than they compute.
    """
    wanted = np.concatenate([asked / _lengths(asked)[:, None], whole[None]]).T
    products, lengths = np.empty((len(tokens), wanted.shape[1]), np.float32), np.empty(len(tokens), np.float32)
    together = max(_ONE_THREAD // wanted.size, 1)
    for start in range(0, len(tokens), _ROWS):
        rows = embedder.vectors(tokens[start : start + _ROWS])
        lengths[start : start + _ROWS] = _lengths(rows)
        block = products[start : start + _ROWS]
        for at in range(0, len(rows), together):
            np.matmul(rows[at : at + together], wanted, out=block[at : at + together])
    near = np.ascontiguousarray(products[:, :-1].T)
    near /= lengths
    np.maximum(near, 0.0, out=near)
    return products[:, -1].astype(np.float64), np.square(near, out=near)


def _best_of_units(near: Floats, place: NDArray[np.int64], starts: Ints) -> Floats:
    """For each row of `near` its largest value among the tokens of each unit, which begin at `starts` in `place`.

    Row by row: the values of all tokens for all rows are tens of megabytes, which the system has to find first.
    """
    best, taken = np.empty((len(near), len(starts)), np.float32), np.empty(len(place), np.float32)
    for values, found in zip(near, best, strict=True):
        # All are in range; to have that checked, they would be taken elsewhere first.
        values.take(place, out=taken, mode="clip")
        np.maximum.reduceat(taken, starts, out=found)
    return best


def _places(terms: Words, among: Words) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The occurrences of `terms` (sorted, distinct) in `among`: for each, the index of the term and the position."""
    if not len(terms):
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    maybe = np.zeros(1 << 16, dtype=bool)
    maybe[terms & 0xFFFF] = True  # half of the number first: a table look-up for each word is faster than a search
    here = np.flatnonzero(maybe[among & 0xFFFF])
    which = np.minimum(np.searchsorted(terms, among[here]), len(terms) - 1)
    same = terms[which] == among[here]
    return which[same], here[same]


def _table(
    row: NDArray[np.intp], column: NDArray[np.integer], shape: tuple[int, int], weights: Floats | None = None
) -> Row:
    """The number (or the sum of the weights) of each pair of row and column."""
    found = np.bincount(row * shape[1] + column, weights, shape[0] * shape[1])
    return found.astype(np.float64).reshape(shape)


def _lengths(rows: Floats) -> Floats:
    lengths: Floats = np.maximum(np.sqrt(np.vecdot(rows, rows)), np.float32(1e-9))
    return lengths


def _idf(total: int, having: int) -> float:
    """The inverse document frequency of Lucene's BM25: never negative."""
    return float(np.log1p((total - having + 0.5) / (having + 0.5)))


def _saturated(count: Row, length: Row, average: float, weights: Weights) -> Row:
    k1, b = weights.k1, weights.b
    saturated: Row = count * (k1 + 1) / (count + k1 * (1 - b + b * length / max(average, 1e-9)))
    return saturated


def _over_notes(values: Row, batch: Batch) -> Row:
    """The sum over each note's units, along the last axis; 0 for a note without units."""
    total = np.zeros((len(values), batch.units + 1))
    np.cumsum(values, axis=-1, out=total[:, 1:])
    starts = np.concatenate(([0], batch.note_ends[:-1]))
    sums: Row = total[:, batch.note_ends] - total[:, starts]
    return sums


def _over_hoods(values: Row, batch: Batch) -> Row:
    """The sum over each unit's neighbourhood, along the last axis."""
    total = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=total[..., 1:])
    sums: Row = total[..., batch.high] - total[..., batch.low]
    return sums


def _full_units(ends: Ints) -> tuple[Ints, Ints]:
    """The units that have tokens, and the start of each."""
    starts = np.concatenate(([0], ends[:-1])).astype(np.int32)
    full = np.flatnonzero(ends > starts).astype(np.int32)
    return full, starts[full]
