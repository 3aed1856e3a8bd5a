"""In a small index nearness alone says what is found, never the order in which notes came in."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agent.index.packed import Floats
from agent.index.vector import VectorIndex

KINDS = np.random.default_rng(5).standard_normal((12, 32)).astype(np.float32)


def found(kinds: list[int], order: list[int], count: int) -> list[int]:
    """The kinds of the notes found for a question, each note numbered by its place in `order`."""
    index = VectorIndex(32)
    index.add(range(len(order)), [KINDS[kinds[at]][None] for at in order])
    return sorted(order[number] for number in index.search(question(), count))


def question() -> Floats:
    near: Floats = KINDS[0] + 0.5 * KINDS[1]
    return near


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
    rows = np.random.default_rng(6).standard_normal((3000, 32)).astype(np.float32)
    index = VectorIndex(32)
    index.add(range(3000), [*rows[:, None, :]])
    index.save(tmp_path / "vectors")
    read = VectorIndex(32)
    read.load(tmp_path / "vectors", view=True)
    likeness = rows @ question() / np.linalg.norm(rows, axis=1)
    best = set(np.argsort(-likeness)[:30].tolist())
    assert len(best & set(read.search(question(), 30))) >= 28  # eight bits a dimension
    assert read.search(question(), 30) == index.search(question(), 30)
