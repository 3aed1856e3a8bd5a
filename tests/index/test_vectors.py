"""What is nearest is found, whatever came and went, from files that a change only lengthens; damage is noticed."""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.index.files import Damaged, IndexFiles
from agent.index.nearest import nearest_notes, small_rows
from agent.index.signs import nearest_by_signs, pack_signs
from agent.index.vector import load_vectors
from agent.index.vector_files import ColumnExtent, columns_of
from agent.index.vector_writer import VectorWriter
from tests.index.shelf import ALL, DIMENSIONS, KINDS, ROWS, Shelf, nearest, question

ABOUT_ZERO = np.zeros(DIMENSIONS, np.int8)
FEW = (0, 60)
"""Limits with which every index is searched by signs first."""


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def kinds_found(kinds: list[int], order: list[int], count: int, limits: tuple[int, int]) -> list[int]:
    """The kinds of the notes found for a question, each note numbered by its place in `order`."""
    with TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder), limits)
        shelf.writer.add(range(len(order)), [KINDS[kinds[at]][None] for at in order])
        asked = KINDS[0] + 0.5 * KINDS[1]
        return sorted(order[number] for number in shelf.open().search(asked / np.linalg.norm(asked), count))


@given(
    st.data(),
    st.lists(st.integers(0, 11), min_size=1, max_size=30),
    st.integers(1, 6),
    st.sampled_from([ALL, (0, 4)]),
)
def test_notes_alike_are_found_together_whatever_their_numbers(
    data: st.DataObject, kinds: list[int], count: int, limits: tuple[int, int]
) -> None:
    places = list(range(len(kinds)))
    first = kinds_found(kinds, places, count, limits)
    assert first == kinds_found(kinds, data.draw(st.permutations(places)), count, limits)
    assert len(first) >= min(count, len(kinds), limits[1])


@pytest.mark.parametrize("limits", [ALL, (0, 20)])
def test_copies_of_a_template_do_not_all_become_candidates(tmp_path: Path, limits: tuple[int, int]) -> None:
    shelf = Shelf(tmp_path, limits)
    shelf.writer.add(range(500), [KINDS[:1]] * 500)
    assert len(shelf.open().search(KINDS[0], 10)) == 80


@given(st.lists(st.integers(0, 8_999), max_size=40))
def test_entries_here_and_there_are_what_stands_at_their_places(places: list[int]) -> None:
    with TemporaryDirectory() as folder:
        column = columns_of(Path(folder), DIMENSIONS).rows
        rows = np.arange(9_000 * DIMENSIONS).reshape(9_000, DIMENSIONS).astype(np.int8)  # more than one buffer
        column.append(ColumnExtent(), rows)
        assert (column.read_at(np.array(places, np.intp)) == rows[places]).all()
        for size in ((max(places) + 1) * DIMENSIONS - 1, max(places) * DIMENSIONS) if places else ():
            os.truncate(column.path, size)
            with pytest.raises(Damaged, match="cut short"):
                column.read_at(np.array(places, np.intp))


def test_every_chunk_is_compared_up_to_the_limit(shelf: Shelf) -> None:
    shelf.put(range(3000))
    found = shelf.open(limits=(3000, 1)).search(question(), 30)
    assert set(found) == nearest(range(3000), 30)
    assert found[0] == 0


def test_above_the_limit_nearly_all_that_is_nearest_is_found(shelf: Shelf) -> None:
    shelf.put(range(3000))
    wanted = nearest(range(3000), 30)
    assert len(wanted & set(shelf.open(limits=(2999, 600)).search(question(), 30))) >= 28
    assert len(wanted & set(shelf.open(limits=(2999, 30)).search(question(), 30))) < 28, "all were compared"


def test_the_shortlist_has_all_that_tie_with_its_last_one() -> None:
    signs = [*pack_signs(np.repeat(KINDS, 5, axis=0) > 0).T]
    for wanted in range(1, 60):
        found = nearest_by_signs(signs, ABOUT_ZERO, KINDS[3], wanted)
        assert len(found) >= wanted and len(found) % 5 == 0
        assert set(range(15, 20)) <= set(found.tolist())


def test_a_question_and_its_opposite_differ_in_every_sign_and_are_not_taken_for_the_same() -> None:
    rows = np.ones((2, 1024), np.float32) * np.array([[1], [-1]], np.float32) / 32
    signs, middle = [*pack_signs(rows > 0).T], np.zeros(1024, np.int8)
    assert nearest_by_signs(signs, middle, rows[0], 1).tolist() == [0]
    assert nearest_by_signs(signs, middle, rows[1], 1).tolist() == [1]


def test_a_text_without_tokens_has_no_direction_and_harms_nobody(shelf: Shelf) -> None:
    nothing = np.zeros((1, DIMENSIONS), np.float32)
    shelf.writer.add([1, 2, 3], [nothing, ROWS[:1], np.zeros((0, DIMENSIONS), np.float32)])
    for limits in (ALL, (0, 1)):
        assert shelf.open(limits=limits, again=True).search(ROWS[0], 1) == [2]
        assert set(shelf.open(limits=limits, again=True).search(nothing[0], 5)) <= {1, 2}


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "open", "again", "reload", "die"]), st.integers(0, 60)), max_size=14
)


@given(STEPS, st.sampled_from([(0, 200), (20, 200), ALL]))
def test_whatever_came_and_went_what_is_there_is_found(steps: list[tuple[str, int]], limits: tuple[int, int]) -> None:
    with TemporaryDirectory() as folder:
        shelf, there, state = Shelf(Path(folder), limits), set[int](), ""
        sure = set(there)
        for name, number in steps:
            if name == "add":
                new = sorted({*range(number, number * 2)} - there)
                shelf.put(new)
                there |= set(new)
            elif name == "remove":
                shelf.writer.remove(range(number // 2, number))
                there -= set(range(number // 2, number))
            elif name in ("open", "again"):
                index = shelf.open(again=name == "again")
                assert len(index) == len(there) == len(shelf.writer)
                assert set(index.search(question(), 5)) == nearest(there, 5)
                state, sure = shelf.writer.state.to_json(), set(there)
            elif state:
                if name == "reload":
                    state, sure = shelf.writer.save(), set(there)
                shelf.writer = VectorWriter(IndexFiles(Path(folder)), DIMENSIONS, limits[0])
                shelf.writer.load(state, verify=True)  # what a killed update wrote is not there
                there = set(sure)
        assert set(shelf.open().search(question(), 5)) == nearest(there, 5)
        assert set(shelf.open(again=True).search(question(), 5)) == nearest(there, 5)


def test_a_change_writes_its_own_chunks_and_reads_no_others(shelf: Shelf) -> None:
    shelf.put(range(2000))
    for limits in ((0, 100), ALL):
        shelf.open(again=True, limits=limits)
        name, before = shelf.data, {path.name: path.read_bytes() for path in shelf.data.iterdir()}
        shelf.writer.remove([7])
        shelf.put([7])
        after = {path.name: path.read_bytes() for path in name.iterdir()}
        assert shelf.data == name
        assert all(after[column].startswith(data) for column, data in before.items())
        grown = sum(map(len, after.values())) - sum(map(len, before.values()))
        assert grown < 2 * (DIMENSIONS + 4 + 24)
        (name / "heads").write_bytes(bytes(len(before["heads"])) + after["heads"][len(before["heads"]) :])
        assert 7 in shelf.open(limits=limits).search(ROWS[7], 3), "what it has read it does not read again"
        (name / "heads").write_bytes(after["heads"])


@pytest.mark.parametrize("limits", [ALL, (0, 600)])
@pytest.mark.parametrize("again", [True, False])
def test_a_few_that_are_removed_are_not_found_though_their_bytes_are_there(
    tmp_path: Path, limits: tuple[int, int], again: bool
) -> None:
    shelf = Shelf(tmp_path, limits)
    shelf.put(range(1000))
    nearby = sorted(nearest(range(1000), 6))
    assert set(shelf.open().search(question(), 6)) == set(nearby)
    for _ in range(2):
        name, gone = shelf.data, nearby.pop()
        shelf.writer.remove([gone, gone])
        index = shelf.open(again=again)
        if again:
            state = shelf.writer.save()
            shelf.writer = VectorWriter(IndexFiles(tmp_path), DIMENSIONS, limits[0])
            shelf.writer.load(state)
        assert shelf.data == name and len(index) == len(shelf.writer)
        assert gone not in index.search(question(), 6) and set(nearby) <= set(index.search(question(), 6))
    shelf.put([gone])
    assert gone in shelf.open(again=again).search(question(), 6)
    assert len(shelf.open()) == 999


def test_once_a_tenth_is_removed_the_others_move_and_the_bytes_of_the_removed_are_gone(shelf: Shelf) -> None:
    shelf.put(range(1000))
    first, early = shelf.data, shelf.open()
    shelf.writer.remove(range(100))
    assert shelf.open() and shelf.data == first
    shelf.writer.remove([100])
    late = shelf.open()
    assert shelf.data != first and len(late) == len(shelf.writer) == 899
    assert (shelf.data / "rows").stat().st_size == 899 * DIMENSIONS
    assert set(late.search(question(), 9)) == nearest(range(101, 1000), 9)
    assert early.search(question(), 1) == [0], "who has not heard of it reads what there was"


def harm_nothing(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


@pytest.mark.parametrize("harm", [harm_nothing, cut, flip])
@pytest.mark.parametrize("column", ["heads", "rows", "gone"])
@pytest.mark.parametrize("limits", [ALL, FEW])
def test_what_is_not_what_was_written_is_damaged(
    shelf: Shelf, harm: Callable[[Path], None], column: str, limits: tuple[int, int]
) -> None:
    shelf.put(range(50))
    shelf.writer.remove([3, 4])
    state = shelf.writer.save()
    harm(shelf.data / column)
    with pytest.raises(Damaged, match=column):
        load_vectors(IndexFiles(shelf.folder), state, DIMENSIONS, limits).search(question(), 50)
    with pytest.raises(Damaged, match=column):
        VectorWriter(IndexFiles(shelf.folder), DIMENSIONS).load(state, verify=True)


@pytest.mark.parametrize("column", ["heads", "rows", "gone"])
def test_nothing_is_written_behind_what_was_cut_off(shelf: Shelf, column: str) -> None:
    shelf.put(range(50))
    shelf.writer.remove([3])
    shelf.writer.save()
    cut(shelf.data / column)
    with pytest.raises(Damaged, match=f"{column} was cut short"):
        shelf.writer.remove([5])
        shelf.put([5])


def test_damage_is_not_copied_as_good(shelf: Shelf) -> None:
    shelf.put(range(50))
    flip(shelf.data / "rows")
    shelf.writer.remove(range(10))
    with pytest.raises(Damaged, match="rows is damaged"):
        shelf.writer.save()


def test_no_state_and_one_of_other_dimensions_are_damaged(shelf: Shelf) -> None:
    shelf.put(range(3))
    state = shelf.writer.save()
    with pytest.raises(Damaged, match="80 dimensions instead of 16"):
        load_vectors(IndexFiles(shelf.folder), state, 16, ALL)
    for text in ("", "[]", "nonsense", '["a", 80, [[1, 2]]]'):
        with pytest.raises(Damaged, match="missing"):
            shelf.writer.load(text)


@given(st.lists(st.floats(-1, 1, width=32), min_size=DIMENSIONS, max_size=DIMENSIONS))
def test_eight_bits_keep_the_direction(values: list[float]) -> None:
    row = np.array([values], np.float32)
    length = float(np.linalg.norm(row))
    if length < 1e-3:
        return
    small = small_rows(row / np.float32(length)).astype(np.float64)
    assert float((small @ row[0]).item()) / np.linalg.norm(small) / length > 0.99


@given(st.integers(1, 300), st.integers(1, 40), st.integers(0, 1 << 30))
def test_the_nearest_of_all_are_those_of_exact_arithmetic(size: int, count: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows = chance.integers(-3, 4, (size, DIMENSIONS)).astype(np.int8)
    rows[chance.random(size) < 0.1] = 0
    vector = question()
    found = nearest_notes(rows, np.arange(size, dtype=np.uint32), vector, count)
    wide, asked = rows.astype(np.int64), small_rows(vector).astype(np.int64)
    alike = (wide @ asked) / np.maximum(np.sqrt((wide * wide).sum(axis=1) * float(asked @ asked)), 1e-9)
    assert len(found) >= min(count, size)
    assert set(np.flatnonzero(alike > np.sort(alike)[-min(count, size)] + 1e-6).tolist()) <= set(found)
    assert alike[found].min() >= np.sort(alike)[-min(count, size)] - 1e-6
