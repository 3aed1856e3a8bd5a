"""Signs say on which side of what all passages share a passage is; what grew and what is new have the same signs."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.index.arrays import Floats
from agent.index.files import Damaged
from agent.index.nearest import small_rows
from agent.index.signs import Middle, middle_of, nearest_by_signs, pack_signs
from agent.index.vector_files import ColumnExtent, VectorState, columns_of
from tests.index.shelf import DIMENSIONS, ROWS, Shelf

NOTHING = ColumnExtent()
WANTED = 1_200
LEVEL = 8
"""The middle is a multiple of it."""


def shared(share: float, count: int = 6_000, dimensions: int = 128) -> Floats:
    """Vectors drawn by chance that all have a part of this length in one direction."""
    chance = np.random.default_rng(3)
    both = chance.standard_normal((count + 1, dimensions))
    both /= np.linalg.norm(both, axis=1, keepdims=True)
    rows = share * both[0] + np.sqrt(1 - share * share) * both[1:]
    unit: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def found(rows: Floats, middle: Middle, wanted: int) -> float:
    """The share of the 10 nearest of 40 vectors that are among the wanted nearest by signs."""
    small = small_rows(rows)
    signs, exact = [*pack_signs(small > middle).T], small.astype(np.float32) / np.linalg.norm(small, axis=1)[:, None]
    near = [np.argsort(-(exact @ rows[at]))[:10] for at in range(40)]
    return float(
        np.mean([np.isin(near[at], nearest_by_signs(signs, middle, rows[at], wanted)).mean() for at in range(40)])
    )


def test_where_passages_share_a_direction_the_nearest_are_found_by_signs_about_their_middle() -> None:
    rows = shared(0.8)
    sums = small_rows(rows).sum(axis=0, dtype=np.int64)
    about_middle = found(rows, middle_of(sums, len(rows), 0), WANTED)
    assert about_middle > 0.96
    assert found(rows, np.zeros(128, np.int8), WANTED) < 0.9
    apart = shared(0.0)
    assert not middle_of(small_rows(apart).sum(axis=0, dtype=np.int64), len(apart), 0).any(), "they share nothing"


@given(st.lists(st.integers(-127, 127), min_size=1, max_size=9), st.integers(1, 1 << 20))
def test_the_middle_is_the_mean_to_the_nearest_level(values: list[int], times: int) -> None:
    sums, count = np.array([sum(values) * times]), len(values) * times
    (middle,) = middle_of(sums, count, count - 1).tolist()
    assert middle % LEVEL == 0 and (abs(middle - sum(values) / len(values)) <= LEVEL / 2 or abs(middle) == 120)
    assert middle_of(sums, count, count).tolist() == [0], "of so few all are compared in full"


def signs_of(shelf: Shelf, state: VectorState) -> dict[int, bytes]:
    """The signs of each note that is there."""
    columns = columns_of(shelf.data, DIMENSIONS)
    heads, gone = columns.heads.read_all(NOTHING, state.heads), columns.gone.read_all(NOTHING, state.gone)
    return {int(each["note"]): each["signs"].tobytes() for at, each in enumerate(heads) if at not in {*gone.tolist()}}


def leaning(notes: list[int]) -> list[Floats]:
    """The rows of some notes, of which each second one leans to one side: the middle depends on which there are."""
    rows = ROWS[notes] + np.where(np.array(notes) % 2, 0.3, 0.0)[:, None].astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return [*rows[:, None]]


STEPS = st.lists(st.tuples(st.sampled_from(["add", "remove", "save"]), st.sets(st.integers(0, 99))), max_size=12)


@given(STEPS, st.sampled_from([0, 20, 60]))
def test_what_came_and_went_leaves_the_signs_of_what_was_built_at_once(
    steps: list[tuple[str, set[int]]], exact: int
) -> None:
    with TemporaryDirectory() as folder, TemporaryDirectory() as other:
        grown, fresh, there = Shelf(Path(folder), (exact, 5)), Shelf(Path(other), (exact, 5)), set[int]()
        for name, notes in steps:
            if name == "add":
                new = sorted(notes - there)
                grown.writer.add(new, leaning(new))
                there |= notes
            elif name == "remove":
                grown.writer.remove(notes)
                there -= notes
            else:
                grown.writer.load(grown.writer.save())
        fresh.writer.add(sorted(there), leaning(sorted(there)))
        first, second = grown.open(), fresh.open()
        assert (first.state.middle, first.state.sums) == (second.state.middle, second.state.sums)
        about = {note: pack_signs(small_rows(leaning([note])[0]) > first.middle).tobytes() for note in there}
        assert signs_of(grown, first.state) == signs_of(fresh, second.state) == about
        asked = leaning([1])[0][0]
        assert sorted(first.search(asked, 3)) == sorted(second.search(asked, 3))


def test_what_is_damaged_is_not_subtracted_as_if_it_were_whole(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.put(range(50))
    data = bytearray((shelf.data / "rows").read_bytes())
    data[7 * DIMENSIONS] ^= 4
    (shelf.data / "rows").write_bytes(data)
    shelf.writer.remove([6])
    with pytest.raises(Damaged, match="rows is damaged"):
        shelf.writer.remove([7])
