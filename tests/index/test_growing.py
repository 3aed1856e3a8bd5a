"""An array that grows has what was added, in order, and what was there before it grew stays as it was."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agent.index.growing import GrowingArray


@given(st.lists(st.integers(0, 40), max_size=30))
def test_what_was_added_is_there_and_earlier_states_stay(sizes: Sequence[int]) -> None:
    array, added, earlier = GrowingArray(np.zeros((0, 3), np.int8)), np.zeros((0, 3), np.int8), []
    for number, size in enumerate(sizes):
        more = np.full((size, 3), number, np.int8)
        array, added = array.grown(more), np.concatenate([added, more])
        earlier.append((array, added))
    for then, wanted in earlier:
        assert np.array_equal(then.entries, wanted)


def test_a_long_array_is_copied_for_a_fifth_of_it_at_most_once() -> None:
    array = GrowingArray(np.zeros(0, np.uint32)).grown(np.arange(1000, dtype=np.uint32))
    rooms = set()
    for number in range(200):
        array = array.grown(np.array([number], np.uint32))
        rooms.add(id(array.room))
    assert len(rooms) == 1
    assert len(array.with_room(5000).room) >= 5000
