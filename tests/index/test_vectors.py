"""Up to a limit nearness alone says what is found, never the order in which notes came; above it, usearch's graph."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.index.arrays import Floats
from agent.index.damage import Damaged
from agent.index.vector import VectorIndex

KINDS = np.random.default_rng(5).standard_normal((12, 32)).astype(np.float32)
ROWS = np.random.default_rng(6).standard_normal((3000, 32)).astype(np.float32)
ROWS /= np.linalg.norm(ROWS, axis=1, keepdims=True)


def found(kinds: list[int], order: list[int], count: int) -> list[int]:
    """The kinds of the notes found for a question, each note numbered by its place in `order`."""
    index = VectorIndex(32)
    index.add(range(len(order)), [KINDS[kinds[at]][None] for at in order])
    return sorted(order[number] for number in index.search(question(), count))


def question() -> Floats:
    near: Floats = KINDS[0] + 0.5 * KINDS[1]
    return near / np.float32(np.linalg.norm(near))


def holding(exact: int, notes: Sequence[int]) -> VectorIndex:
    index = VectorIndex(32, exact)
    put(index, notes)
    return index


def put(index: VectorIndex, notes: Sequence[int]) -> None:
    """Each with its row as its only chunk."""
    index.add(notes, [ROWS[note][None] for note in notes])


def share_found(index: VectorIndex, notes: Sequence[int], count: int) -> float:
    """How much of what an own comparison with every note's eight bits finds nearest is found; whether nothing else is.

    Those that are the furthest of them by a hair may be missed, or others found for them.
    """
    small, asked = np.trunc(ROWS[list(notes)] * 127), np.trunc(question() * 127)
    nearness = small @ asked / np.linalg.norm(small, axis=1) / np.linalg.norm(asked)
    last = np.sort(nearness)[::-1][min(count, len(nearness)) - 1]
    surely = {note for note, near in zip(notes, nearness, strict=True) if near > last + 1e-4}
    maybe = {note for note, near in zip(notes, nearness, strict=True) if near > last - 1e-4}
    got = index.search(question(), count)
    assert set(got) <= set(notes)
    assert not index.has_graph or len(index) <= index.exact or len(got) <= count
    right = len(surely & set(got)) / len(surely) if surely else 1.0
    return right if set(got) <= maybe or index.has_graph else 0.0


@given(st.data(), st.lists(st.integers(0, 11), min_size=1, max_size=30), st.integers(1, 6))
def test_notes_alike_are_found_together_whatever_their_numbers(
    data: st.DataObject, kinds: list[int], count: int
) -> None:
    places = list(range(len(kinds)))
    first = found(kinds, places, count)
    assert first == found(kinds, data.draw(st.permutations(places)), count)
    assert len(first) >= min(count, len(kinds))


def test_copies_of_a_template_do_not_all_become_candidates() -> None:
    index = VectorIndex(32)
    index.add(range(500), [KINDS[:1]] * 500)
    assert len(index.search(question(), 10)) == 80


def test_every_note_is_compared_up_to_the_limit(tmp_path: Path) -> None:
    index = holding(3000, range(3000))
    checksum = index.save(tmp_path / "vectors")
    read = VectorIndex(32, 3000)
    read.load(tmp_path / "vectors", checksum, view=True)
    best = set(np.argsort(-(ROWS @ question()))[:30].tolist())
    assert not index.has_graph
    assert len(best & set(read.search(question(), 30))) >= 28  # eight bits a dimension
    assert read.search(question(), 30) == index.search(question(), 30)
    assert share_found(index, range(3000), 30) == 1.0


@pytest.mark.parametrize("at_once", [1, 7, 500, 3000])
def test_above_the_limit_usearch_s_graph_finds_them_however_the_index_came_there(at_once: int) -> None:
    index = VectorIndex(32, 1000)
    for start in range(0, 3000, at_once):
        put(index, range(start, min(start + at_once, 3000)))
        assert index.has_graph == (len(index) > 1000)
    assert len(index) == 3000
    assert share_found(index, range(3000), 30) >= 0.9


def test_a_graph_is_not_made_again_and_again_at_the_limit() -> None:
    index, graphs = holding(100, range(101)), 0
    for _ in range(10):
        index.remove([100])
        put(index, [101])
        graphs += index.has_graph
        assert share_found(index, [*range(100), 101], 5) >= 0.9
        index.remove([101])
        assert share_found(index, range(100), 5) == 1.0
        put(index, [100])
        graphs += index.has_graph
    assert graphs == 20
    index.remove(range(70))
    assert index.has_graph and share_found(index, range(70, 101), 5) == 1.0
    put(index, [0])
    assert not index.has_graph and share_found(index, [0, *range(70, 101)], 5) == 1.0


STEPS = st.lists(st.tuples(st.sampled_from(["add", "remove", "save", "view"]), st.integers(0, 60)), max_size=12)


@given(STEPS, st.sampled_from([0, 1, 20, 40, 1000]))
def test_whatever_came_and_went_what_is_there_is_found(steps: list[tuple[str, int]], exact: int) -> None:
    index, there = VectorIndex(32, exact), set[int]()
    for name, number in steps:
        if name == "add":
            new = sorted({*range(number, number * 2)} - there)
            put(index, new)
            there |= set(new)
            assert not new or not index.has_graph or len(there) > exact * 3 // 4
            assert not new or index.has_graph or len(there) <= exact
        elif name == "remove":
            index.remove(range(number // 2, number))
            there -= set(range(number // 2, number))
        else:
            index = again(index, view=name == "view")
            if name == "view":
                assert share_found(index, sorted(there), 5) >= (1.0 if len(there) <= exact else 0.6) if there else True
                index = again(index, view=False)
        assert len(index) == len(there)
    if there:
        assert share_found(index, sorted(there), 5) >= (1.0 if len(there) <= exact else 0.6)


def again(index: VectorIndex, *, view: bool, exact: int | None = None) -> VectorIndex:
    """The index written and read."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vectors"
        checksum = index.save(path)
        read = VectorIndex(32, index.exact if exact is None else exact)
        read.load(path, checksum, view=view)
    return read


def test_a_file_with_a_graph_that_is_not_needed_is_searched_and_the_graph_is_dropped() -> None:
    graph = holding(0, range(200))
    for view in (False, True):
        index = again(graph, view=view, exact=1000)
        assert index.has_graph and share_found(index, range(200), 10) == 1.0
    index = again(graph, view=False, exact=1000)
    put(index, [200])
    assert not index.has_graph and share_found(index, range(201), 10) == 1.0


def test_a_file_without_the_graph_that_is_needed_is_searched_and_the_graph_is_made() -> None:
    index = again(holding(1000, range(200)), view=True, exact=100)
    assert not index.has_graph and share_found(index, range(200), 10) == 1.0
    index = again(index, view=False)
    put(index, [200])
    assert index.has_graph and share_found(index, range(201), 10) >= 0.9


def test_a_graph_made_late_has_the_bits_of_one_made_at_once() -> None:
    late, early = holding(100, range(100)), holding(0, range(101))
    put(late, [100])
    assert late.has_graph and early.has_graph
    compared = [again(each, view=True, exact=1000) for each in (late, early)]
    assert compared[0].search(question(), 101) == compared[1].search(question(), 101), "the vectors are the same"
    assert share_found(late, range(101), 10) >= 0.9 <= share_found(early, range(101), 10)


def test_what_is_not_the_file_that_was_saved_is_damaged(tmp_path: Path) -> None:
    index, path = holding(1000, range(20)), tmp_path / "vectors-1"
    checksum = index.save(path)
    other = VectorIndex(16)
    with pytest.raises(Damaged, match="has 32 dimensions instead of 16"):
        other.load(path, checksum, view=True)
    path.write_bytes(path.read_bytes()[:-1])
    for view in (False, True):
        with pytest.raises(Damaged, match="vectors-1 is damaged"):
            VectorIndex(32).load(path, checksum, view=view)
    path.unlink()
    with pytest.raises(Damaged, match="vectors-1 is missing"):
        VectorIndex(32).load(path, checksum, view=True)
