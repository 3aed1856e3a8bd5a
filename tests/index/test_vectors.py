"""What is nearest is found, whatever came and went; a change writes little, and damage is noticed."""

import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.index import vector_writer
from agent.index.files import Damaged, IndexFiles
from agent.index.vector_writer import VectorWriter
from agent.index.vectors import VectorFile, keys_of, load_vector_files, notes_of, small_rows
from tests.index.shelf import DIMENSIONS, KINDS, ROWS, Shelf, nearest, question

LEAST = 40
"""The number of recent chunks up to which nothing is merged here."""


@pytest.fixture(autouse=True)
def merges_come_early() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_writer, "_LEAST", LEAST)
        yield


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def kinds_found(kinds: list[int], order: list[int], count: int) -> list[int]:
    """The kinds of the notes found for a question, each note numbered by its place in `order`."""
    with TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder))
        shelf.writer.add(range(len(order)), [KINDS[kinds[at]][None] for at in order])
        asked = KINDS[0] + 0.5 * KINDS[1]
        return sorted(order[number] for number in shelf.open().search(asked / np.linalg.norm(asked), count))


@given(
    st.data(),
    st.lists(st.integers(0, 11), min_size=1, max_size=60),
    st.integers(1, 6),
)
def test_notes_alike_are_found_together_whatever_their_numbers(
    data: st.DataObject, kinds: list[int], count: int
) -> None:
    places = list(range(len(kinds)))
    first = kinds_found(kinds, places, count)
    assert first == kinds_found(kinds, data.draw(st.permutations(places)), count)
    assert len(first) >= min(count, len(kinds))


def test_copies_of_a_template_do_not_all_become_candidates(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.writer.add(range(500), [KINDS[:1]] * 500)
    assert len(shelf.open().search(KINDS[0], 10)) == 80


def test_every_chunk_is_compared(shelf: Shelf) -> None:
    shelf.put(range(3000))
    found = shelf.open().search(question(), 30)
    assert set(found) == nearest(range(3000), 30)
    assert found[0] == 0


def test_a_text_without_tokens_has_no_direction_and_harms_nobody(shelf: Shelf) -> None:
    nothing = np.zeros((1, DIMENSIONS), np.float32)
    shelf.writer.add([1, 2, 3], [nothing, ROWS[:1], np.zeros((0, DIMENSIONS), np.float32)])
    assert shelf.open(again=True).search(ROWS[0], 1) == [2]
    assert set(shelf.open(again=True).search(nothing[0], 5)) <= {1, 2}


def test_an_empty_index_finds_nothing(shelf: Shelf) -> None:
    assert shelf.open().search(question(), 5) == []
    shelf.put([1])
    shelf.writer.remove([1, 2])
    assert shelf.open().search(question(), 5) == []


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "open", "again", "reload", "die"]), st.integers(0, 60)), max_size=14
)


@given(STEPS)
def test_whatever_came_and_went_what_is_there_is_found(steps: list[tuple[str, int]]) -> None:
    with TemporaryDirectory() as folder:
        shelf, there, state = Shelf(Path(folder)), set[int](), ""
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
                assert set(shelf.open(again=name == "again").search(question(), 5)) == nearest(there, 5)
                state, sure = shelf.writer.state.to_json(), set(there)
            elif state:
                if name == "reload":
                    state, sure = shelf.writer.save(), set(there)
                shelf.writer = VectorWriter(IndexFiles(Path(folder)), DIMENSIONS)
                shelf.writer.load(state, verify=True)  # what a killed update wrote is not there
                there = set(sure)
        assert set(shelf.open().search(question(), 5)) == nearest(there, 5)
        assert set(shelf.open(again=True).search(question(), 5)) == nearest(there, 5)


def test_a_change_writes_its_own_chunks_and_reads_no_others(shelf: Shelf) -> None:
    shelf.put(range(2000))
    shelf.open()
    base, before = shelf.file("base"), shelf.file("base").read_bytes()
    shelf.writer.remove([7])
    shelf.put([7])
    base.write_bytes(bytes(len(before)))  # as long as before, so that only who reads it knows
    state = shelf.writer.save()
    assert shelf.file("base") == base and shelf.file("recent").stat().st_size < 3 * DIMENSIONS + 200
    base.write_bytes(before)
    assert 7 in load_vector_files(IndexFiles(shelf.folder), state, DIMENSIONS).search(ROWS[7], 3)


@pytest.mark.parametrize("again", [True, False])
def test_what_is_removed_is_not_found_though_its_bytes_are_there(tmp_path: Path, again: bool) -> None:
    shelf = Shelf(tmp_path)
    shelf.put(range(1000))
    shelf.open()
    base, near = shelf.file("base"), nearest(range(1000), LEAST - 4)
    for gone in near:
        shelf.writer.remove([gone, gone])
    index = shelf.open(again=again)
    assert shelf.file("base") == base
    assert set(index.search(question(), 4)) == nearest({*range(1000)} - near, 4), "all that was nearer is gone"
    shelf.put([0])
    assert 0 in shelf.open(again=again).search(question(), 6)


def test_once_much_is_removed_its_bytes_are_gone_and_an_open_reader_reads_on(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.put(range(1000))
    early, first = shelf.open(), shelf.file("base")
    shelf.writer.remove(range(LEAST + 1))
    late = shelf.open()
    assert shelf.file("base") != first
    found = shelf.file("base").read_bytes()
    assert small_rows(ROWS[0]).tobytes() in first.read_bytes()
    assert small_rows(ROWS[0]).tobytes() not in found
    assert set(late.search(question(), 9)) == nearest(range(LEAST + 1, 1000), 9)
    first.unlink()
    assert early.search(question(), 1) == [0], "who has not heard of it reads what there was"


@given(
    st.lists(st.tuples(st.integers(0, (1 << 32) - 1), st.integers(0, 2000)), max_size=8, unique_by=lambda each: each[0])
)
def test_a_key_tells_its_note_and_no_two_chunks_share_one(notes: list[tuple[int, int]]) -> None:
    keys = [keys_of(note, chunks) for note, chunks in notes]
    assert all(set(notes_of(some).tolist()) <= {note} for some, (note, _) in zip(keys, notes, strict=True))
    assert len({int(key) for some in keys for key in some}) == sum(chunks for _, chunks in notes)


def lose(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


@pytest.mark.parametrize(("harm", "told"), [(lose, "cannot be read"), (cut, "cut short"), (flip, "is damaged")])
@pytest.mark.parametrize("part", ["base", "recent"])
def test_what_is_not_what_was_written_is_damaged(
    tmp_path: Path, harm: Callable[[Path], None], told: str, part: str
) -> None:
    shelf = Shelf(tmp_path)
    shelf.put(range(100))
    shelf.writer.save()
    shelf.writer.remove([3, 4])
    shelf.put([4])
    state = shelf.writer.save()
    harm(shelf.file(part))
    with pytest.raises(Damaged, match=told):
        load_vector_files(IndexFiles(tmp_path), state, DIMENSIONS)
    with pytest.raises(Damaged, match=told):
        VectorWriter(IndexFiles(tmp_path), DIMENSIONS).load(state, verify=True)
    if harm is not flip:
        with pytest.raises(Damaged, match=told):
            VectorWriter(IndexFiles(tmp_path), DIMENSIONS).load(state)


def test_a_file_that_is_cut_while_it_is_open_is_damaged(shelf: Shelf) -> None:
    shelf.put(range(100))
    index = shelf.open()
    cut(shelf.file("base"))
    with pytest.raises(Damaged, match="cut short"):
        index.search(question(), 3)


@pytest.mark.parametrize("part", ["base", "recent"])
def test_damage_is_not_copied_as_good(shelf: Shelf, part: str) -> None:
    shelf.put(range(100))
    shelf.writer.save()
    shelf.put([200])
    state = shelf.writer.save()
    flip(shelf.file(part))
    again = VectorWriter(IndexFiles(shelf.folder), DIMENSIONS)
    again.load(state)
    with pytest.raises(Damaged, match="is damaged"):
        again.remove(range(LEAST + 1))
        again.save()


def test_no_state_and_one_of_other_dimensions_are_damaged(shelf: Shelf) -> None:
    shelf.put(range(3))
    state = shelf.writer.save()
    with pytest.raises(Damaged, match="80 dimensions instead of 16"):
        load_vector_files(IndexFiles(shelf.folder), state, 16)
    for text in ("", "[]", "nonsense", '["a", 80, [[1, 2]]]', "[80, [null], []]"):
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


@pytest.mark.parametrize("notes", [1, 1000])
def test_a_file_that_the_disk_has_no_room_for_is_an_error_and_left_nowhere(tmp_path: Path, notes: int) -> None:
    shelf = Shelf(tmp_path)
    shelf.put(range(2000, 2010))
    shelf.open()
    state = shelf.writer.state
    shelf.put(range(notes))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match="No space left"):
            shelf.writer.save()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.stem for path in tmp_path.glob("vectors/*")] == list(state.names)


def test_a_file_that_usearch_does_not_take_is_damaged(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.put([1])
    shelf.writer.save()
    shelf.file("recent").write_bytes(b"")
    written = VectorFile(shelf.file("recent").stem, 1, 0, 0)
    for is_mapped in (True, False):
        with pytest.raises(Damaged, match="is damaged"):
            written.open(IndexFiles(tmp_path), DIMENSIONS, mapped=is_mapped)
