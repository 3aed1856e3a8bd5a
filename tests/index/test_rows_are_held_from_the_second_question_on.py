"""A process that asks once reads a few rows, one that asks again holds all: both find the same, and neither takes
damaged rows for good ones."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.index.chunk_rows import forget_unasked_rows
from agent.index.files import Damaged, IndexFiles
from agent.index.vector import load_vectors
from tests.index.shelf import ALL, DIMENSIONS, Shelf, nearest, question

LIMITS = (20, 30)
"""Above 20 chunks, 30 are compared in full."""


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    found = Shelf(tmp_path / "index", LIMITS)
    found.put(range(1000))
    return found


def flip(path: Path, place: int) -> None:
    """Change one bit of the row at a place."""
    data = bytearray(path.read_bytes())
    data[place * DIMENSIONS] ^= 4
    path.write_bytes(data)


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "shrink", "ask", "rest"]), st.integers(1, 400)), max_size=10
)


@given(STEPS)
def test_one_that_is_open_for_long_finds_what_a_new_process_finds(steps: Sequence[tuple[str, int]]) -> None:
    with TemporaryDirectory() as folder:
        shelf, there = Shelf(Path(folder) / "index", LIMITS), set[int]()
        for at, (name, number) in enumerate([("add", 100), *steps, ("ask", 5)]):
            if name == "add":
                new = sorted({*range(number, number * 2)} - there)
                shelf.put(new)
                there |= set(new)
            elif name == "rest":
                forget_unasked_rows()
            elif name == "ask":
                found = [shelf.open().search(question(), number) for _ in range(3)]
                once = shelf.opened_elsewhere(Path(folder) / str(at)).search(question(), number)
                assert found == [once] * 3
                assert set(once) <= there
            else:  # a few, or so many that the others move or are few enough to be compared all
                gone = sorted(there)[: number if name == "shrink" else len(there) // 20]
                shelf.writer.remove(gone)
                there -= set(gone)


def test_the_first_question_reads_the_rows_that_it_compares_and_the_second_all(shelf: Shelf) -> None:
    first = shelf.open()
    for place in sorted(set(range(1000)) - set(first.search(question(), 1000))):
        flip(shelf.data / "rows", place)
    other = shelf.opened_elsewhere(shelf.folder.with_name("once"))
    assert set(other.search(question(), 3)) <= nearest(range(1000), 30), "of the others it has read nothing"
    with pytest.raises(Damaged, match="rows is damaged"):
        other.search(question(), 3)


def test_what_is_held_is_not_read_again_and_what_came_since_is(shelf: Shelf) -> None:
    for _ in range(2):
        found = shelf.open().search(question(), 5)
    before = (shelf.data / "rows").read_bytes()
    shelf.writer.remove([found[0]])
    shelf.put([found[0], 1500])
    whole = (shelf.data / "rows").read_bytes()
    (shelf.data / "rows").write_bytes(bytes(len(before)) + whole[len(before) :])
    assert shelf.open().search(question(), 5) == found
    shelf.put([1600])
    flip(shelf.data / "rows", 1002)
    with pytest.raises(Damaged, match="rows is damaged"):
        shelf.open().search(question(), 5)


@pytest.mark.parametrize("limits", [LIMITS, ALL])
def test_what_is_not_asked_for_between_two_rests_is_given_back(tmp_path: Path, limits: tuple[int, int]) -> None:
    shelf = Shelf(tmp_path / "index", limits)
    shelf.put(range(1000))
    index = shelf.open()
    found = [index.search(question(), 5) for _ in range(2)][-1]
    rows = (shelf.data / "rows").read_bytes()
    (shelf.data / "rows").unlink()
    forget_unasked_rows()
    assert index.search(question(), 5) == found, "it was asked for since"
    for _ in range(2):
        forget_unasked_rows()
    with pytest.raises(Damaged, match="rows cannot be read"):
        index.search(question(), 5)
    (shelf.data / "rows").write_bytes(rows)
    assert index.search(question(), 5) == found


def test_all_searches_of_one_process_hold_an_index_once(shelf: Shelf) -> None:
    for _ in range(2):
        found = shelf.open().search(question(), 5)
    (shelf.data / "rows").unlink()
    assert shelf.open(again=True).search(question(), 5) == found
    other = shelf.opened_elsewhere(shelf.folder.with_name("other"))
    with pytest.raises(Damaged, match="rows cannot be read"):
        other.search(question(), 5)


def test_an_index_that_was_put_in_the_place_of_another_is_read_anew(shelf: Shelf) -> None:
    store = IndexFiles(shelf.folder).store
    store.write_bytes(b"")
    for _ in range(2):
        shelf.open().search(question(), 5)
    store.with_name("new").write_bytes(b"")
    store.with_name("new").replace(store)
    flip(shelf.data / "rows", 0)
    later = shelf.open(again=True)
    with pytest.raises(Damaged, match="rows is damaged"):
        later.search(question(), 5)


def test_threads_that_ask_at_once_each_find_what_there_was_when_they_opened_it(shelf: Shelf) -> None:
    states = []
    for number in range(20):
        shelf.put([1000 + number])
        states.append((number, shelf.writer.save()))
    alone = {number: ask(shelf.folder, state) for number, state in states}
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(lambda each: (each[0], ask(shelf.folder, each[1])), states[::-1] * 4)
        assert all(alone[number] == answer for number, answer in found)


def ask(folder: Path, state: str) -> list[int]:
    index = load_vectors(IndexFiles(folder), state, DIMENSIONS, LIMITS)
    return [index.search(question(), 10) for _ in range(2)][-1]
