"""Each path waits for its own quiet moment, but not for ever."""

from hypothesis import given
from hypothesis import strategies as st

from agent.watch.watcher import Debounce

STEPS = st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 1.5)), max_size=60)


def test_a_path_is_due_after_a_quiet_time() -> None:
    waiting: Debounce[int] = Debounce(quiet=1, longest=10)
    waiting.touch("a", 0, 1)
    waiting.touch("a", 0.9, 2)
    assert waiting.due(1.5) == []
    assert waiting.next_due() == 1.9
    ((path, entry),) = waiting.due(1.9)
    assert (path, entry.first, entry.mark) == ("a", 0, 2)
    assert waiting.next_due() is None


def test_a_path_that_is_never_quiet_is_due_all_the_same() -> None:
    waiting: Debounce[None] = Debounce(quiet=1, longest=3)
    due = []
    for tenth in range(100):
        waiting.touch("a", tenth / 10, None)
        due += waiting.due(tenth / 10)
    assert [entry.first for _, entry in due] == [0, 3.1, 6.2]


@given(STEPS)
def test_every_touch_is_followed_by_one_look_in_time(steps: list[tuple[str, float]]) -> None:
    waiting: Debounce[float] = Debounce(quiet=0.5, longest=2)
    now = 0.0
    touched: dict[str, float] = {}
    for path, pause in steps:
        waiting.touch(path, now, now)
        touched[path] = now
        end = now + pause
        while (due := waiting.next_due()) is not None and due <= end:
            for ready, entry in waiting.due(due):
                assert touched.pop(ready) == entry.mark
                assert due == min(entry.last + 0.5, entry.first + 2) or due <= entry.first + 2
        now = end
    last = waiting.due(now + 2)
    assert {path for path, _ in last} == set(touched)
    assert len(waiting) == 0
