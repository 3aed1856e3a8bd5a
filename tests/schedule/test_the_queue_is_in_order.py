"""The laws of the queue, for any tasks: urgency first, nothing early, nothing before what it needs."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from agent.schedule.task import STATUSES, Task
from agent.schedule.task_notes import in_order, ready

NOW = datetime(2026, 11, 23, 10, 0, tzinfo=UTC)
IDS = [f"t{number}" for number in range(8)]
MOMENTS = st.none() | st.integers(-50, 50).map(lambda hours: NOW + timedelta(hours=hours))


@st.composite
def tasks(draw: st.DrawFn) -> list[Task]:
    names = draw(st.lists(st.sampled_from(IDS), unique=True))
    return [
        Task(
            name,
            f"tasks/{name}.md",
            "upkeep",
            name,
            status=draw(st.sampled_from(STATUSES)),
            priority=draw(st.integers(1, 10)),
            due=draw(MOMENTS),
            dependencies=tuple(draw(st.lists(st.sampled_from(IDS), max_size=2))),
            created_at=draw(MOMENTS),
        )
        for name in names
    ]


@given(tasks(), tasks())
def test_what_is_ready_is_due_and_needs_nothing(waiting: list[Task], over: list[Task]) -> None:
    found = ready(waiting, over, NOW)
    completed = {each.id for each in over if each.status == "completed"}
    for task in waiting:
        is_due = task.status in ("pending", "scheduled") and (task.due is None or task.due <= NOW)
        assert (task in found) == (is_due and set(task.dependencies) <= completed)


@given(tasks(), tasks())
def test_the_most_urgent_comes_first_then_what_is_due_first(waiting: list[Task], over: list[Task]) -> None:
    found = ready(waiting, over, NOW)
    for earlier, later in zip(found, found[1:], strict=False):
        assert earlier.priority >= later.priority
        if earlier.priority == later.priority and earlier.due and later.due:
            assert earlier.due <= later.due


@given(tasks())
def test_the_order_does_not_depend_on_how_the_notes_are_listed(waiting: list[Task]) -> None:
    assert in_order(waiting) == in_order(reversed(waiting))
